/** The ladder of a call: its events on its legs, and what each webhook was sent of them. */

import { useSignal } from '@preact/signals'
import type { Attempt, Call } from 'hookswitch/client'
import { accountItems, accountRequest, optional } from '../api/api.js'
import { Button } from '../components/button.js'
import { CopyButton } from '../components/copy.js'
import { eventIcon } from '../components/event-name.js'
import { Line } from '../components/hostile-text.js'
import { Icon } from '../components/icon.js'
import { Loaded } from '../components/load-state.js'
import { answerText } from '../components/outcome.js'
import { Page } from '../components/page.js'
import { None, Note } from '../components/panel.js'
import { useReplayOne } from '../components/replay.js'
import { Seg } from '../components/seg.js'
import { ShowMore, useShown } from '../components/show-more.js'
import { dayTimeText, lastingText, spanText } from '../components/time.js'
import { kindName } from '../state/kinds.js'
import { zone } from '../state/preferences.js'
import { useResource } from '../state/resource.js'
import { canChange } from '../state/scope.js'
import { t, word } from '../state/translate.js'
import {
  buildLadder,
  hitText,
  type Ladder,
  type LadderDelivery,
  type LadderEvent,
  type LadderRow,
  type LadderWords,
  ladderText,
  legParty,
  missingOf,
  withWebhooks,
} from '../text/ladder.js'
import { lookOf, type Role } from '../text/looks.js'
import { partiesText } from '../text/parties.js'
import { formatRoute } from '../text/routes.js'
import { clockTime } from '../text/times.js'

const REFRESH_MS = 5_000
const MAX_ITEMS = 1_000
/** Webhooks that are shown at first, each in a column. */
const MAX_WEBHOOKS = 50

interface CallData {
  readonly call: Call
  readonly ladder: Ladder
  /** Names of webhooks by their ids; those that were deleted have none. */
  readonly names: ReadonlyMap<string, string>
}

export interface CallScreenProps {
  readonly accountId: string
  readonly callId: string
}

export function CallScreen({ accountId, callId }: CallScreenProps) {
  const times = useSignal<'offset' | 'clock'>('offset')
  const shown = useShown(MAX_WEBHOOKS)
  const resource = useResource<CallData>(
    (signal) => load(accountId, callId, signal),
    [accountId, callId],
    REFRESH_MS,
  )
  const data = resource.data.value
  const replay = useReplayOne(accountId)
  const words = wordsOf((id) => data?.names.get(id) ?? t('call.deletedWebhook'))
  const [leg] = data?.call.legs ?? []
  const parties = partiesText(leg)
  return (
    <Page
      title={parties ?? t('call.title')}
      name={`call/${callId}`}
      lead={
        <>
          <span class="mono small">
            <Line text={callId} />
          </span>
          {data && <Span ladder={data.ladder} />}
        </>
      }
      actions={
        data &&
        data.ladder.rows.length > 0 && (
          <>
            <Seg
              label={t('call.times')}
              value={times.value}
              options={[
                { value: 'offset', text: t('call.sinceStart') },
                { value: 'clock', text: t('call.clock') },
              ]}
              onChange={(value) => {
                times.value = value
              }}
            />
            <CopyButton label={t('call.copy')} text={() => ladderText(callId, data.ladder, words)} />
          </>
        )
      }
    >
      <Loaded resource={resource} isGonePossible>
        {({ call, ladder, names }) => {
          const isGone = call.records === 'none' || ladder.webhookIds.length === 0
          if (isGone)
            return (
              <None icon="old" title={t('call.gone')}>
                {t('call.goneText')}
              </None>
            )
          return (
            <>
              {call.records === 'part' && <Note icon="old">{t('call.part')}</Note>}
              {ladder.isTruncated && <Note icon="list">{t('call.truncated')}</Note>}
              <MissingNote
                {...{ ladder, words, names }}
                onReplay={(delivery) =>
                  replay.ask({ webhookId: delivery.webhookId, deliveryId: delivery.id })
                }
              />
              <div class="gap" />
              <Diagram
                {...{ accountId, words }}
                ladder={withWebhooks(ladder, shown.value)}
                isClock={times.value === 'clock'}
              />
              <ShowMore shown={shown} of={ladder.webhookIds.length} step={MAX_WEBHOOKS} />
            </>
          )
        }}
      </Loaded>
      {replay.dialog}
    </Page>
  )
}

async function load(accountId: string, callId: string, signal: AbortSignal): Promise<CallData> {
  const [attempts, call] = await Promise.all([
    // A call that no webhook was sent anything of has none.
    optional(
      accountItems<Attempt>(
        '/calls/{call_id}/attempts',
        { accountId, callId, slim: true },
        MAX_ITEMS,
        signal,
      ),
    ),
    accountRequest<Call>('GET', '/calls/{call_id}', { accountId, callId }, signal),
  ])
  const names = new Map<string, string>()
  for (const { hook_id, hook_name } of call.events.flatMap(({ deliveries }) => deliveries)) {
    if (hook_name !== undefined) names.set(hook_id, hook_name)
  }
  return { call, ladder: buildLadder(call, attempts ?? [], Date.now()), names }
}

const wordsOf = (webhook: (id: string) => string): LadderWords => ({
  webhook,
  event: kindName,
  state: (state) => word('state', state),
  outcome: answerText,
  times: (outcome, count) =>
    count === 2 ? t('call.answeredTwice', { outcome }) : t('call.answeredTimes', { outcome, count }),
  after: (failures, success, ms) => t('call.thenAfter', { failures, success, span: lastingText(ms) }),
  waitsFor: (event) => t('call.waitsFor', { event }),
  waitsUntil: (ms) => t('call.waitsUntil', { time: dayTimeText(ms) }),
  span: spanText,
  clock: (ms) => clockTime(ms, zone.value),
  replay: (text) => t('call.replayed', { text }),
  unsent: ({ sequence, last }) =>
    sequence === last
      ? t('call.unsentOne', { number: sequence })
      : t('call.unsent', { number: sequence, last }),
})

/** From when to when the events of the call happened. */
function Span({ ladder: { rows } }: { readonly ladder: Ladder }) {
  const events = rows.filter((row): row is LadderEvent => row.kind === 'event')
  const [first, last] = [events[0], events.at(-1)]
  if (!first || !last) return null
  return (
    <>
      {' · '}
      {t('call.span', {
        from: dayTimeText(first.timeMs),
        to: clockTime(last.timeMs, zone.value).slice(0, 8),
        span: spanText(last.timeMs - first.timeMs),
      })}
    </>
  )
}

/** Events that are offered for a replay in the note. */
const MAX_OFFERED = 3

interface MissingNoteProps {
  /** Names of the webhooks that still exist. */
  readonly names: ReadonlyMap<string, string>
  readonly ladder: Ladder
  readonly words: LadderWords
  readonly onReplay: (delivery: LadderDelivery) => void
}

function MissingNote({ ladder, words, names, onReplay }: MissingNoteProps) {
  const { wanted, waiting, lost } = missingOf(ladder)
  const missing = [...waiting, ...lost.map(({ delivery }) => delivery)]
  if (missing.length === 0) return null
  const webhooks = [...new Set(missing.map(({ webhookId }) => webhookId))]
  const of = { count: missing.length, of: wanted }
  const offered = lost.filter(({ delivery }) => names.has(delivery.webhookId)).slice(0, MAX_OFFERED)
  return (
    <Note {...(lost.length === 0 ? { icon: 'wait' } : { icon: 'fail', tone: 'bad' })}>
      <b>
        {webhooks.length === 1 ? (
          <Line text={t('call.missingAt', { ...of, webhook: words.webhook(webhooks[0]!) })} />
        ) : (
          t('call.missing', of)
        )}
      </b>{' '}
      {waiting.length > 0 &&
        t(lost.length === 0 ? 'call.waitingAll' : 'call.waiting', { count: waiting.length })}{' '}
      {canChange.value &&
        offered.map(({ event, delivery }) => (
          <Button size="tiny" icon="replay" key={delivery.id} onClick={() => onReplay(delivery)}>
            {t('call.replay', { event: words.event(event.hook) })}
          </Button>
        ))}
    </Note>
  )
}

interface DiagramProps {
  readonly accountId: string
  readonly ladder: Ladder
  readonly words: LadderWords
  readonly isClock: boolean
}

/** One list for eyes, keyboards and screen readers: the columns only place its items. */
function Diagram(props: DiagramProps) {
  const { accountId, ladder, words } = props
  const { legs, webhookIds, rows } = ladder
  const events = rows.filter(({ kind }) => kind === 'event').length
  return (
    <div class="panel ladder" role="region" aria-label={t('call.ladder')} tabIndex={0}>
      <div class="rungs">
        <div class="rung names">
          <div>
            {t('call.legs', { count: legs.length })},<br />
            {t('call.events', { count: events })}
          </div>
          {legs.map((leg, index) => (
            <div class="legs" key={leg.call_id} title={leg.call_id}>
              <span>
                <Icon name="user" />
                {index === 0 ? t('call.firstLeg') : t('call.leg', { number: index + 1 })}
              </span>
              <small>
                <Line text={legParty(leg) ?? leg.call_id} />
              </small>
            </div>
          ))}
          {webhookIds.map((id) => (
            <div key={id}>
              <a href={formatRoute({ screen: 'webhook', accountId, id })}>
                <Icon name="link" />
                <Line text={words.webhook(id)} />
              </a>
            </div>
          ))}
        </div>
        <ol>
          {rows.map((row) =>
            row.kind === 'event' ? (
              [
                row.laterMs !== undefined && <Later key={`${row.id}/later`} {...props} ms={row.laterMs} />,
                <Rung key={row.id} {...props} row={row} />,
              ]
            ) : (
              <Unsent key={`${row.callId}/${row.sequence}`} {...props} row={row} />
            ),
          )}
        </ol>
      </div>
      <div class="foot">
        <span class="key">
          <span class="miss" />
          {t('call.notSent')}
        </span>
        <a class="push" href={formatRoute({ screen: 'match', accountId })}>
          {t('call.why')}
        </a>
      </div>
    </div>
  )
}

/** A pause between two events. */
function Later({ ladder, ms }: DiagramProps & { readonly ms: number }) {
  return (
    <li class="rung later">
      <div>{t('call.later', { span: spanText(ms) })}</div>
      {ladder.legs.map((leg) => (
        <div class="leg" key={leg.call_id} />
      ))}
      {ladder.webhookIds.map((id) => (
        <div class="hook" key={id} />
      ))}
    </li>
  )
}

function Unsent({
  accountId,
  row,
  words,
}: DiagramProps & { readonly row: Extract<LadderRow, { kind: 'unsent' }> }) {
  return (
    <li class="unsent">
      <span class="miss" /> {words.unsent(row)}{' '}
      <a href={formatRoute({ screen: 'match', accountId })}>{t('call.whyNot')}</a>
    </li>
  )
}

function Rung({ accountId, ladder, words, isClock, row }: DiagramProps & { readonly row: LadderEvent }) {
  const { legs, webhookIds } = ladder
  const clock = clockTime(row.timeMs, zone.value)
  const offset = row.offsetMs === 0 ? t('call.start') : `+${spanText(row.offsetMs)}`
  const reached = new Set(row.deliveries.map(({ webhookId }) => webhookId))
  const lastColumn = webhookIds.findLastIndex((id) => reached.has(id))
  const isFirst = row.offsetMs === 0 || isClock
  return (
    <li class="rung">
      <div>
        <span>
          <b>{isFirst ? clock : offset}</b>
          <span class="sub faint">{isFirst ? offset : clock}</span>
        </span>
      </div>
      {legs.map((leg, index) => {
        if (index !== row.legIndex) {
          const isCrossed = index > row.legIndex && lastColumn >= 0
          return <div class={isCrossed ? 'leg thru empty' : 'leg empty'} key={leg.call_id} />
        }
        return (
          <div class={lastColumn < 0 ? 'leg from alone' : 'leg from'} key={leg.call_id}>
            <span class="ev" title={`${row.hook} #${row.sequence}`}>
              <Icon name={eventIcon(row.hook)} />
              {words.event(row.hook)}
            </span>
          </div>
        )
      })}
      {webhookIds.map((id, column) => {
        const hits = row.deliveries.filter(({ webhookId }) => webhookId === id)
        if (hits.length === 0) {
          return (
            <div class={column < lastColumn ? 'hook thru empty' : 'hook empty'} key={id}>
              <span class="miss" />
            </div>
          )
        }
        return (
          <div class={column === lastColumn ? 'hook to end' : 'hook to'} key={id}>
            <span class="phone" aria-hidden="true">
              <Line text={words.webhook(id)} />
            </span>
            <span class="hits">
              {hits.map((delivery) => (
                <Hit key={delivery.id} {...{ accountId, delivery, words }} />
              ))}
            </span>
          </div>
        )
      })}
    </li>
  )
}

interface HitProps {
  readonly accountId: string
  readonly delivery: LadderDelivery
  readonly words: LadderWords
}

/** Roles of what needs no colour here. */
const QUIET: ReadonlySet<Role> = new Set(['ok', 'off'])

function Hit({ accountId, delivery, words }: HitProps) {
  const [role, icon] = lookOf(delivery.state)
  return (
    <a
      class={QUIET.has(role) ? 'hit' : `hit is-${role}`}
      href={formatRoute({ screen: 'delivery', accountId, id: delivery.id })}
    >
      <Icon name={icon} tone={role} />
      <span class="hidden">
        <Line text={words.webhook(delivery.webhookId)} />:{' '}
      </span>
      <Line text={hitText(delivery, words)} />
    </a>
  )
}
