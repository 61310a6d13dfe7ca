/** Would an event be sent, and if not, why? */
import { useSignal } from '@preact/signals'
import type { Hook, Match } from 'hookswitch/client'
import { accountRequest, page } from '../api/api.js'
import { webhookRows } from '../api/webhook-rows.js'
import { Line } from '../components/hostile-text.js'
import { Loaded } from '../components/load-state.js'
import { Page } from '../components/page.js'
import { Select } from '../components/select.js'
import { ShowMore, useShown } from '../components/show-more.js'
import { State } from '../components/state.js'
import { RelativeTime } from '../components/time.js'
import { useResource } from '../state/resource.js'
import { changeQuery } from '../state/router.js'
import { t } from '../state/translate.js'
import { formatRoute } from '../text/routes.js'

const REASONS = [
  'hook',
  'only',
  'disabled',
  'account',
  'account_disabled',
  'document',
  'internal_leg',
  'filter',
] as const
type Reason = (typeof REASONS)[number]

export interface MatchScreenProps {
  readonly accountId: string
  readonly query: Readonly<Record<string, string>>
}

export function MatchScreen({ accountId, query }: MatchScreenProps) {
  const { hook = 'channel_create' } = query
  const isInternal = useSignal(false)
  const hooks = useResource(() => page<Hook>('/webhooks', { pageSize: 1_000 }), [])
  const matches = useResource(
    async (signal) => {
      const [rows, paused] = await Promise.all([
        accountRequest<readonly Match[]>(
          'PUT',
          '/events/match',
          { accountId, data: { hook, is_internal_leg: isInternal.peek() } },
          signal,
        ),
        webhookRows(accountId, { state: 'paused', text: '' }, undefined, signal),
      ])
      const pauses = new Map(paused.items.map(({ id, paused_until }) => [id, paused_until]))
      return { rows, pauses }
    },
    [accountId, hook, isInternal.value],
  )
  const shown = useShown()
  const known = hooks.data.value?.items.map(({ id }) => id)
  const kinds = new Set([hook, ...(known ?? [])])
  return (
    <Page title={t('match.title')} name="match">
      <p>{t('match.text')}</p>
      <div class="filters">
        <Select
          label={t('column.hook')}
          value={hook}
          options={[...kinds].sort().map((id) => [id, id])}
          onChange={(value) => changeQuery({ hook: value })}
        />
        <label class="choice">
          <input
            type="checkbox"
            checked={isInternal.value}
            onChange={(event) => {
              isInternal.value = event.currentTarget.checked
            }}
          />
          {t('match.internal')}
        </label>
      </div>
      <Loaded resource={matches}>
        {({ rows, pauses }) =>
          known && !known.includes(hook) ? (
            <p>{t('match.unknown', { hook })}</p>
          ) : rows.length === 0 ? (
            <p>{t('match.none')}</p>
          ) : (
            <>
              <table class="list">
                <thead>
                  <tr>
                    <th scope="col">{t('column.name')}</th>
                    <th scope="col">{t('match.wanted')}</th>
                    <th scope="col">{t('match.why')}</th>
                  </tr>
                </thead>
                <tbody>
                  {rows.slice(0, shown.value).map(({ id, name, wanted, why }) => (
                    <tr key={id}>
                      <td>
                        <a href={formatRoute({ screen: 'webhook', accountId, id, tab: 'settings' })}>
                          <Line text={name} />
                        </a>
                      </td>
                      <td>
                        <span aria-hidden="true">{wanted ? '✓' : '⊘'}</span>{' '}
                        {t(wanted ? 'match.yes' : 'match.no')}
                      </td>
                      <td>
                        {!wanted && reasonText(why)}
                        {wanted && pauses.has(id) && <Pause until={pauses.get(id)} />}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
              <ShowMore shown={shown} of={rows.length} />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

/** It would be sent when the pause is over. */
function Pause({ until }: { readonly until: string | undefined }) {
  return (
    <>
      <State state="paused" /> {until !== undefined && t('webhook.probe')}{' '}
      {until !== undefined && <RelativeTime at={until} />}
    </>
  )
}

function reasonText(why: string | undefined): string {
  return REASONS.includes(why as Reason) ? t(`match.${why as Reason}`) : (why ?? '')
}
