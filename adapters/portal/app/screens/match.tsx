/** Nothing arrived? Which webhooks an event would be sent to now, why the others do not get it, and where to mend that. */
import { useSignal } from '@preact/signals'
import type { Hook, Match } from 'hookswitch/client'
import { useRef } from 'preact/hooks'
import { accountRequest, page } from '../api/api.js'
import { webhookRows } from '../api/webhook-rows.js'
import { Button } from '../components/button.js'
import { Field } from '../components/field.js'
import { Line } from '../components/hostile-text.js'
import { Icon } from '../components/icon.js'
import { Loaded } from '../components/load-state.js'
import { Page } from '../components/page.js'
import { None, Note } from '../components/panel.js'
import { ShowMore, useShown } from '../components/show-more.js'
import { State } from '../components/state.js'
import { kindName, kindOptions } from '../state/kinds.js'
import { useResource } from '../state/resource.js'
import { changeQuery, navigate } from '../state/router.js'
import { canChange } from '../state/scope.js'
import { t } from '../state/translate.js'
import { formatRoute } from '../text/routes.js'
import { shownState } from '../text/webhook-views.js'

/** Why a webhook does not get an event, and the tab on which that is changed; '': not on this page. */
const REASONS = {
  hook: 'settings',
  only: 'settings',
  document: 'settings',
  internal_leg: 'settings',
  filter: 'settings',
  account: 'settings',
  disabled: 'overview',
  account_disabled: '',
} as const
type Reason = keyof typeof REASONS

/** States of webhooks that get an event, but not now. */
const TROUBLES = ['paused', 'failing'] as const

interface Matches {
  /** `undefined`: there is no such event. */
  readonly rows: readonly Match[] | undefined
  /** States of webhooks by their ids, where they are not in order. */
  readonly states: ReadonlyMap<string, string>
}

export interface MatchScreenProps {
  readonly accountId: string
  readonly query: Readonly<Record<string, string>>
}

export function MatchScreen({ accountId, query }: MatchScreenProps) {
  const { kind = 'channel_create' } = query
  const isInternal = query.internal === 'true'
  const kinds = useRef<readonly Hook[] | undefined>(undefined)
  const matches = useResource<Matches>(
    async (signal) => {
      kinds.current ??= (await page<Hook>('/webhooks', { pageSize: 1_000 }, signal)).items
      return load(accountId, kinds.current, kind, isInternal, signal)
    },
    [accountId, kind, isInternal],
  )
  return (
    <Page title={t('match.title')} name="match" lead={t('match.lead')}>
      <div class="cols">
        <section class="panel pad stack">
          <h2>{t('match.byEvent')}</h2>
          <Field label={t('match.event')}>
            <select value={kind} onChange={(event) => changeQuery({ kind: event.currentTarget.value })}>
              {kindOptions(kind).map(({ value, text }) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </Field>
          <label class="row small">
            <input
              type="checkbox"
              checked={isInternal}
              onChange={(event) => changeQuery({ internal: event.currentTarget.checked ? 'true' : '' })}
            />
            {t('match.internal')}
          </label>
        </section>
        <ByCall accountId={accountId} />
      </div>
      <div class="gap" />
      <Loaded resource={matches}>
        {({ rows, states }) =>
          rows === undefined ? (
            <None title={t('match.unknown', { kind })} />
          ) : (
            <Answer {...{ accountId, kind, rows, states }} name={kindName(kind)} />
          )
        }
      </Loaded>
    </Page>
  )
}

async function load(
  accountId: string,
  kinds: readonly Hook[],
  kind: string,
  isInternal: boolean,
  signal: AbortSignal,
): Promise<Matches> {
  if (!kinds.some(({ id }) => id === kind)) return { rows: undefined, states: new Map() }
  const [rows, ...troubles] = await Promise.all([
    accountRequest<readonly Match[]>(
      'PUT',
      '/events/match',
      { accountId, data: { hook: kind, is_internal_leg: isInternal } },
      signal,
    ),
    ...TROUBLES.map((state) => webhookRows(accountId, { state, text: '' }, undefined, signal)),
  ])
  const states = new Map(
    troubles.flatMap(({ items }) => items.map((row) => [row.id, shownState(row)] as const)),
  )
  return { rows, states }
}

/** The ladder of a call says for each event what each webhook was sent. */
function ByCall({ accountId }: { readonly accountId: string }) {
  const callId = useSignal('')
  return (
    <form
      class="panel pad stack"
      onSubmit={(event) => {
        event.preventDefault()
        const id = callId.peek().trim()
        if (id !== '') navigate({ screen: 'call', accountId, id })
      }}
    >
      <h2>{t('match.byCall')}</h2>
      <Field label={t('match.callId')} hint={t('match.callHint')}>
        <input
          value={callId.value}
          autocapitalize="none"
          spellcheck={false}
          onInput={(event) => {
            callId.value = event.currentTarget.value
          }}
        />
      </Field>
      <div>
        <Button type="submit" icon="join">
          {t('match.showCall')}
        </Button>
      </div>
    </form>
  )
}

interface AnswerProps extends Matches {
  readonly rows: readonly Match[]
  readonly accountId: string
  readonly kind: string
  readonly name: string
}

function Answer({ accountId, kind, name, rows, states }: AnswerProps) {
  const shown = useShown()
  if (rows.length === 0) {
    return (
      <None title={t('match.none')}>
        {canChange.value && <a href={formatRoute({ screen: 'new', accountId })}>{t('match.create')}</a>}
      </None>
    )
  }
  const wanted = rows.filter((row) => row.wanted)
  const inTrouble = wanted.filter(({ id }) => states.has(id))
  // What does not get the event, and what does not get it now, is what the user looks for.
  const rank = ({ id, wanted: isWanted }: Match) => (isWanted ? (states.has(id) ? 1 : 2) : 0)
  const sorted = [...rows].sort((a, b) => rank(a) - rank(b))
  return (
    <>
      <Note icon={wanted.length === 0 ? 'fail' : 'send'} {...(wanted.length === 0 && { tone: 'bad' })}>
        <b>
          <Line text={t('match.wanted', { count: wanted.length, of: rows.length, name })} />
        </b>{' '}
        {inTrouble.length > 0 && t('match.inTrouble', { count: inTrouble.length })}
      </Note>
      <div class="gap" />
      <div class="panel">
        <table class="grid">
          <thead>
            <tr>
              <th scope="col">{t('match.webhook')}</th>
              <th scope="col">{t('match.sent')}</th>
              <th scope="col">{t('match.why')}</th>
              <th scope="col">
                <span class="hidden">{t('match.mend')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, shown.value).map((row) => (
              <tr key={row.id}>
                <td class="lead">
                  <a class="open" href={formatRoute({ screen: 'webhook', accountId, id: row.id })}>
                    <Line text={row.name} />
                  </a>
                </td>
                <td class="how">
                  <span class={row.wanted ? 'state is-ok' : 'state is-off'}>
                    <Icon name={row.wanted ? 'ok' : 'off'} />
                    {t(row.wanted ? 'match.yes' : 'match.no')}
                  </span>
                </td>
                <td class="full">
                  <Why row={row} state={states.get(row.id)} />
                </td>
                <td class="act num nowrap">
                  <Mend {...{ accountId, kind, row }} state={states.get(row.id)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {sorted.length > shown.value && (
          <div class="foot">
            <ShowMore shown={shown} of={sorted.length} />
          </div>
        )}
      </div>
    </>
  )
}

interface RowProps {
  readonly row: Match
  /** State of the webhook, where it is not in order. */
  readonly state: string | undefined
}

const isReason = (why: string | undefined): why is Reason => why !== undefined && Object.hasOwn(REASONS, why)

function Why({ row: { wanted, why }, state }: RowProps) {
  // Reasons may be added.
  if (!wanted) return <>{isReason(why) ? t(`match.${why}`) : why}</>
  if (state === undefined) return null
  return (
    <>
      <State state={state} />{' '}
      <span class="soft">{t(state === 'paused' ? 'match.paused' : 'match.failing')}</span>
    </>
  )
}

interface MendProps extends RowProps {
  readonly accountId: string
  readonly kind: string
}

/** Where the user goes next. */
function Mend({ accountId, kind, row: { id, wanted, why }, state }: MendProps) {
  const link = (text: string, tab: string, query = {}) => (
    <a href={formatRoute({ screen: 'webhook', accountId, id, tab, query })}>{text}</a>
  )
  if (wanted) {
    return state === undefined
      ? link(t('match.seeActivity'), 'activity', { kind })
      : link(t('match.seeWhy'), 'overview')
  }
  const tab = isReason(why) ? REASONS[why] : ''
  if (tab === '' || !canChange.value) return null
  return link(t(tab === 'overview' ? 'match.switchOn' : 'match.change'), tab)
}
