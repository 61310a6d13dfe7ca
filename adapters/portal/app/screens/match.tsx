/** Would an event be sent, and if not, why? */
import { useSignal } from '@preact/signals'
import type { Hook } from 'hookswitch/client'
import { accountRequest, optional, page } from '../api/api.js'
import type { MatchRow } from '../api/documents.js'
import { Line } from '../components/hostile-text.js'
import { Loaded } from '../components/load-state.js'
import { Page } from '../components/page.js'
import { StateBadge } from '../components/state-badge.js'
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
    async (signal) => ({
      rows: await optional(
        accountRequest<readonly MatchRow[]>(
          'PUT',
          '/events/match',
          { accountId, data: { hook, is_internal_leg: isInternal.peek() } },
          signal,
        ),
      ),
    }),
    [accountId, hook, isInternal.value],
  )
  const kinds = new Set([hook, ...(hooks.data.value?.items ?? []).map(({ id }) => id)])
  return (
    <Page title={t('match.title')} name="match">
      <p>{t('match.text')}</p>
      <div class="filters">
        <label>
          <span>{t('column.hook')}</span>
          <select value={hook} onChange={(event) => changeQuery({ hook: event.currentTarget.value })}>
            {[...kinds].sort().map((id) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </select>
        </label>
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
        {({ rows }) =>
          rows === undefined ? (
            <p>{t('error.notSupported')}</p>
          ) : rows.length === 0 ? (
            <p>{t('match.none')}</p>
          ) : (
            <table class="list">
              <thead>
                <tr>
                  <th scope="col">{t('column.name')}</th>
                  <th scope="col">{t('match.wanted')}</th>
                  <th scope="col">{t('match.why')}</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(({ id, name, wanted, why }) => (
                  <tr key={id}>
                    <td>
                      <a href={formatRoute({ screen: 'webhook', accountId, id, tab: 'settings' })}>
                        <Line text={name} />
                      </a>
                    </td>
                    <td>{wanted ? <StateBadge state="success" /> : <StateBadge state="cancelled" />}</td>
                    <td>{wanted ? '' : reasonText(why)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Loaded>
    </Page>
  )
}

function reasonText(why: string | undefined): string {
  return REASONS.includes(why as Reason) ? t(`match.${why as Reason}`) : (why ?? '')
}
