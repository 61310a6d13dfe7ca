/** What a webhook was sent: its events with their tries, or every request, newest first. */

import { useSignal } from '@preact/signals'
import type { Attempt, Delivery } from 'hookswitch/client'
import { useRef } from 'preact/hooks'
import { accountPage, accountRequest, optional } from '../api/api.js'
import { EventName } from '../components/event-name.js'
import { FilterInput } from '../components/filter-input.js'
import { answerText, OutcomeLine, OutcomeState } from '../components/outcome.js'
import { PagedTable } from '../components/paged-table.js'
import { None } from '../components/panel.js'
import { Parties } from '../components/parties.js'
import { Pick as Choice, Picked } from '../components/pick.js'
import { ReplayFailedButton, useReplayOne } from '../components/replay.js'
import { ReplayMarks } from '../components/replay-marks.js'
import { Seg } from '../components/seg.js'
import { State } from '../components/state.js'
import { Clock, dayText, dayTimeText, spanText, zoneText } from '../components/time.js'
import type { Column } from '../components/virtual-table.js'
import { describe } from '../state/action.js'
import { notify } from '../state/announce.js'
import { kindOptions } from '../state/kinds.js'
import { type PagedList, usePagedList } from '../state/paged-list.js'
import { zone } from '../state/preferences.js'
import { changeQuery } from '../state/router.js'
import { canChange } from '../state/scope.js'
import { useStreamItems } from '../state/stream-items.js'
import { number, t } from '../state/translate.js'
import {
  type ActivityFilter,
  activityFilter,
  attemptFilters,
  deliveryFilters,
  EVENT_RESULTS,
  isOver,
  REQUEST_RESULTS,
  resultIn,
} from '../text/activity.js'
import { toGregorian } from '../text/gregorian-time.js'
import { formatRoute } from '../text/routes.js'
import { inputTime, isSameDay, parseInputTime } from '../text/times.js'

const REFRESH_MS = 5_000
const LIVE_REFRESH_MS = 1_000
const PAGE_SIZE = 100
/** Attempts that are read beside a page of events, for their last answers. */
const MAX_ANSWERS = 300
/** Last answers that are kept, the oldest of which go first. */
const MAX_KEPT = 10_000
const ROW_HEIGHT = 40
const CARD_HEIGHT = 92

export interface ActivityTabProps {
  readonly accountId: string
  readonly webhookId: string
  readonly query: Readonly<Record<string, string>>
  /** Whether the webhook is switched on: nothing is replayed to one that is not. */
  readonly isEnabled: boolean
}

export function ActivityTab({ accountId, webhookId, query, isEnabled }: ActivityTabProps) {
  const filter = activityFilter(query)
  const props = {
    accountId,
    webhookId,
    filter,
    canReplay: isEnabled && canChange.value,
    isFiltered: Object.keys(query).some((name) => name !== 'view'),
  }
  return (
    <>
      <Filters {...props} />
      {filter.view === 'events' ? <Events {...props} /> : <Requests {...props} />}
    </>
  )
}

interface ListProps {
  readonly accountId: string
  readonly webhookId: string
  readonly filter: ActivityFilter
  readonly canReplay: boolean
  readonly isFiltered: boolean
}

const HOUR_MS = 3_600_000
const SPANS = [
  ['activity.last1h', HOUR_MS],
  ['activity.last24h', 24 * HOUR_MS],
  ['activity.last7d', 168 * HOUR_MS],
] as const

function Filters({ accountId, webhookId, filter, canReplay }: ListProps) {
  const isChoosing = useSignal(false)
  const { view, result, status, cause, kind } = filter
  const results = view === 'events' ? Object.keys(EVENT_RESULTS) : REQUEST_RESULTS
  return (
    <div class="bar">
      <Seg
        label={t('activity.show')}
        value={view}
        options={[
          { value: 'events', text: t('activity.events') },
          { value: 'requests', text: t('activity.requests') },
        ]}
        onChange={(next) => changeQuery({ view: next, result: resultIn(next, result) })}
      />
      <FilterInput
        label={t('activity.callId')}
        value={filter.call}
        onChange={(call) => changeQuery({ call })}
      />
      <Choice
        label={t('activity.result')}
        value={result}
        options={[
          { value: '', text: t('activity.any') },
          ...results.map((name) => ({ value: name, text: t(RESULT_TEXTS[name]!) })),
        ]}
        onChange={(next) => changeQuery({ result: next })}
      />
      <Choice
        label={t('activity.event')}
        value={kind}
        options={[{ value: '', text: t('activity.any') }, ...kindOptions(kind)]}
        onChange={(next) => changeQuery({ kind: next })}
      />
      {(status !== '' || cause !== '') && (
        <Picked label={t('activity.answer')} onRemove={() => changeQuery({ status: '', cause: '' })}>
          {t('activity.answer')} <b>{answerText(status === '' ? cause : status)}</b>
        </Picked>
      )}
      {isChoosing.value ? (
        (['from', 'to'] as const).map((end) => (
          <FilterInput
            key={end}
            type="datetime-local"
            label={t(`activity.${end}`)}
            value={inputValue(end === 'from' ? filter.fromMs : filter.toMs)}
            onChange={(value) => changeQuery({ [end]: isoTime(value) })}
          />
        ))
      ) : (
        <>
          {filter.fromMs !== undefined && (
            <Picked label={t('activity.from')} onRemove={() => changeQuery({ from: '' })}>
              {t('activity.from')} <b>{dayTimeText(filter.fromMs)}</b>
            </Picked>
          )}
          {filter.toMs !== undefined && (
            <Picked label={t('activity.to')} onRemove={() => changeQuery({ to: '' })}>
              {t('activity.to')} <b>{dayTimeText(filter.toMs)}</b>
            </Picked>
          )}
          {filter.fromMs === undefined && filter.toMs === undefined && (
            <Choice
              label={t('activity.time')}
              value=""
              options={[
                { value: '', text: t('activity.any') },
                ...SPANS.map(([key, ms]) => ({ value: String(ms), text: t(key) })),
                { value: 'choose', text: t('activity.choose') },
              ]}
              onChange={(chosen) => {
                if (chosen === 'choose') isChoosing.value = true
                else if (chosen !== '')
                  changeQuery({ from: new Date(Date.now() - Number(chosen)).toISOString() })
              }}
            />
          )}
        </>
      )}
      {canReplay && (
        <span class="push">
          <ReplayFailedButton {...{ accountId, webhookId }} />
        </span>
      )}
    </div>
  )
}

const inputValue = (ms: number | undefined) => (ms === undefined ? '' : inputTime(ms, zone.value))

/** The value of an input in UTC; '': it has none. */
function isoTime(value: string): string {
  const ms = parseInputTime(value, zone.peek())
  return ms === undefined ? '' : new Date(ms).toISOString()
}

const RESULT_TEXTS = {
  delivered: 'state.delivered',
  success: 'state.delivered',
  waiting: 'state.waiting',
  failure: 'activity.notDelivered',
  cancelled: 'state.cancelled',
} as Readonly<
  Record<string, 'state.delivered' | 'state.waiting' | 'activity.notDelivered' | 'state.cancelled'>
>

const rangeOf = ({ fromMs, toMs }: ActivityFilter) => ({
  ...(fromMs !== undefined && { createdFrom: toGregorian(fromMs) }),
  ...(toMs !== undefined && { createdTo: toGregorian(toMs) }),
})

const isEmptyRange = ({ fromMs, toMs }: ActivityFilter) =>
  fromMs !== undefined && toMs !== undefined && toMs < fromMs

function Nothing({ filter, isFiltered }: Pick<ListProps, 'filter' | 'isFiltered'>) {
  if (isEmptyRange(filter)) return <None title={t('activity.emptyRange')} />
  return isFiltered ? (
    <None title={t('activity.noneMatch')} />
  ) : (
    <None title={t('activity.none')}>{t('activity.noneText')}</None>
  )
}

interface FootProps {
  readonly list: PagedList<unknown>
  readonly text: 'activity.loadedEvents' | 'activity.loadedRequests'
}

function Foot({ list, text }: FootProps) {
  return (
    <>
      <span>
        {t(text, { count: list.items.value.length })}
        {!list.isComplete.value && ` ${t('activity.scroll')}`}
      </span>
      <span class="push wide-only">
        <kbd>j</kbd> <kbd>k</kbd> {t('activity.move')} · <kbd>Enter</kbd> {t('activity.open')} · <kbd>r</kbd>{' '}
        {t('activity.replay')}
      </span>
    </>
  )
}

function Events({ accountId, webhookId, filter, canReplay, isFiltered }: ListProps) {
  const replay = useReplayOne(accountId)
  /** The last attempts of deliveries, as far as they were read. */
  const answers = useRef(new Map<string, Attempt>()).current
  /** Deliveries with the number of their attempts for whose last one was searched. */
  const searched = useRef(new Set<string>()).current
  const keep = (attempts: readonly Attempt[]) => {
    for (const attempt of attempts) {
      const known = answers.get(attempt.delivery_id)
      if (!known || known.sent_at <= attempt.sent_at) answers.set(attempt.delivery_id, attempt)
    }
    for (const id of answers.keys()) {
      if (answers.size <= MAX_KEPT) break
      answers.delete(id)
    }
  }
  const list = usePagedList<Delivery>(
    async (startKey, signal) => {
      if (isEmptyRange(filter)) return { items: [] }
      const page = await accountPage<Delivery>(
        '/webhooks/{webhook_id}/deliveries',
        {
          accountId,
          webhookId,
          pageSize: PAGE_SIZE,
          filters: deliveryFilters(filter),
          ...rangeOf(filter),
          ...(startKey !== undefined && { startKey }),
        },
        signal,
      )
      const isLacking = ({ id, attempts }: Delivery) =>
        attempts > 0 && answers.get(id)?.attempt !== attempts && !searched.has(`${id}/${attempts}`)
      const lacking = page.items.filter(isLacking)
      if (lacking.length > 0) {
        keep(
          await lastAttempts(
            { accountId, webhookId, deliveries: lacking, isNewest: startKey === undefined },
            signal,
          ),
        )
        for (const { id, attempts } of lacking) searched.add(`${id}/${attempts}`)
      }
      return page
    },
    [accountId, webhookId, JSON.stringify(filter)],
    ({ id }) => id,
    REFRESH_MS,
  )
  useStreamItems({ accountId, filters: { webhookId }, batchMs: LIVE_REFRESH_MS }, (items) => {
    keep(items.flatMap(({ attempt }) => (attempt ? [attempt] : [])))
    list.refresh()
  })
  const columns: readonly Column<Delivery>[] = [
    {
      label: t('activity.timeIn', { zone: zoneText() }),
      width: '9rem',
      class: 'nowrap last',
      cell: ({ accepted_at }) => <Clock at={accepted_at} ms isTimeOnly />,
    },
    {
      label: t('activity.event'),
      width: '9rem',
      class: 'lead',
      cell: ({ hook_event }) => <EventName hook={hook_event} />,
    },
    { label: t('activity.call'), width: '20rem', class: 'full', cell: (row) => <PartiesCell row={row} /> },
    {
      label: t('activity.result'),
      width: '9rem',
      class: 'how',
      cell: ({ state }) => <State state={state} />,
    },
    {
      label: t('activity.tries'),
      width: '5rem',
      class: 'num tries',
      cell: ({ attempts }) => (
        <>
          {number(attempts)}
          <span class="phone"> {t('activity.triesUnit', { count: attempts })}</span>
        </>
      ),
    },
    {
      label: t('activity.lastAnswer'),
      width: '11rem',
      cell: (row) => <LastAnswer row={row} attempt={answers.get(row.id)} />,
    },
    {
      label: t('activity.mark'),
      width: '10rem',
      class: 'mk nowrap',
      isHeadHidden: true,
      cell: (row) => <ReplayMarks accountId={accountId} delivery={row} />,
    },
  ]
  return (
    <>
      <PagedTable
        list={list}
        label={t('activity.events')}
        columns={columns}
        idOf={({ id }) => id}
        hrefOf={({ id }) => formatRoute({ screen: 'delivery', accountId, id })}
        rowHeight={ROW_HEIGHT}
        cardHeight={CARD_HEIGHT}
        headOf={(row, previous) => dayHead(row.accepted_at, previous?.accepted_at)}
        {...(canReplay && {
          onReplay({ id, state }: Delivery) {
            if (isOver(state)) replay.ask({ webhookId, deliveryId: id })
            else notify(t('activity.stillSent'))
          },
        })}
        empty={<Nothing {...{ filter, isFiltered }} />}
        foot={<Foot list={list} text="activity.loadedEvents" />}
      />
      {replay.dialog}
    </>
  )
}

/** The head of a day above the first of its rows. */
function dayHead(at: string, previous: string | undefined): string | undefined {
  // Most rows are of the minute of the row before, and a long list asks for every row.
  if (previous?.slice(0, MINUTE) === at.slice(0, MINUTE)) return undefined
  const isSame = previous !== undefined && isSameDay(Date.parse(at), Date.parse(previous), zone.value)
  return isSame ? undefined : dayText(at)
}

/** Characters of an ISO 8601 time up to its minute. */
const MINUTE = 16

function PartiesCell({ row }: { readonly row: Attempt | Delivery }) {
  return <Parties call={row.call} callId={row.call_id} />
}

interface AnswersRequest {
  readonly accountId: string
  readonly webhookId: string
  readonly deliveries: readonly Delivery[]
  /** Nothing is newer than these deliveries. */
  readonly isNewest: boolean
}

/** The attempts of deliveries that are easily found: the newest ones of the time in which they were sent. */
async function lastAttempts(
  { accountId, webhookId, deliveries, isNewest }: AnswersRequest,
  signal: AbortSignal,
): Promise<readonly Attempt[]> {
  const times = (pick: (row: Delivery) => string) => deliveries.map((row) => Date.parse(pick(row)))
  const endMs = Math.max(...times(({ ended_at, accepted_at }) => ended_at ?? accepted_at))
  const page = await optional(
    accountPage<Attempt>(
      '/webhooks/{webhook_id}/attempts',
      {
        accountId,
        webhookId,
        slim: true,
        pageSize: MAX_ANSWERS,
        createdFrom: toGregorian(Math.min(...times(({ accepted_at }) => accepted_at))),
        ...(!isNewest && { createdTo: toGregorian(endMs) }),
      },
      signal,
    ),
  )
  return page?.items ?? []
}

function LastAnswer(props: { readonly row: Delivery; readonly attempt: Attempt | undefined }) {
  const { row, attempt } = props
  if (attempt) return <OutcomeLine attempt={attempt} />
  if (row.state === 'delivered') return null
  if (row.attempts > 0 && row.reason !== undefined) {
    return <span class="is-bad">{answerText(row.reason)}</span>
  }
  return <span class="ms">– {row.state === 'waiting' && waitText(row)}</span>
}

function waitText({ explanation: { code } }: Delivery): string | undefined {
  if (code === 'call_order') return t('activity.afterEarlier')
  return code === 'paused' || code === 'probe' ? t('activity.inPause') : undefined
}

function Requests({ accountId, webhookId, filter, canReplay, isFiltered }: ListProps) {
  const replay = useReplayOne(accountId)
  /** A request does not say whether its event is sent again by itself. */
  const askReplay = async ({ delivery_id: deliveryId }: Attempt) => {
    const address = { accountId, deliveryId }
    try {
      const { state } = await accountRequest<Delivery>('GET', '/deliveries/{delivery_id}', address)
      if (isOver(state)) replay.ask({ webhookId, deliveryId })
      else notify(t('activity.stillSent'))
    } catch (thrown) {
      notify(describe(thrown), true)
    }
  }
  const list = usePagedList<Attempt>(
    async (startKey, signal) =>
      isEmptyRange(filter)
        ? { items: [] }
        : accountPage<Attempt>(
            '/webhooks/{webhook_id}/attempts',
            {
              accountId,
              webhookId,
              slim: true,
              pageSize: PAGE_SIZE,
              filters: attemptFilters(filter),
              ...rangeOf(filter),
              ...(startKey !== undefined && { startKey }),
            },
            signal,
          ),
    [accountId, webhookId, JSON.stringify(filter)],
    ({ id }) => id,
    REFRESH_MS,
  )
  useStreamItems({ accountId, filters: { webhookId }, batchMs: LIVE_REFRESH_MS }, list.refresh)
  const columns: readonly Column<Attempt>[] = [
    {
      label: t('activity.timeIn', { zone: zoneText() }),
      width: '9rem',
      class: 'nowrap last',
      cell: ({ sent_at }) => <Clock at={sent_at} ms isTimeOnly />,
    },
    {
      label: t('activity.answer'),
      width: '14rem',
      class: 'how',
      cell: (row) => <OutcomeState attempt={row} />,
    },
    {
      label: t('activity.event'),
      width: '9rem',
      class: 'lead',
      cell: ({ hook_event }) => <EventName hook={hook_event} />,
    },
    { label: t('activity.call'), width: '20rem', class: 'full', cell: (row) => <PartiesCell row={row} /> },
    {
      label: t('activity.try'),
      cardLabel: t('activity.try'),
      width: '5rem',
      class: 'num',
      cell: ({ attempt }) => (attempt === undefined ? '–' : number(attempt)),
    },
    {
      label: t('activity.duration'),
      width: '6rem',
      class: 'num ms',
      cell: ({ duration_ms }) => (duration_ms === undefined ? '–' : spanText(duration_ms)),
    },
  ]
  return (
    <>
      <PagedTable
        list={list}
        label={t('activity.requests')}
        columns={columns}
        idOf={({ id }) => id}
        hrefOf={({ id, delivery_id }) =>
          formatRoute({ screen: 'delivery', accountId, id: delivery_id, query: { try: id } })
        }
        rowHeight={ROW_HEIGHT}
        cardHeight={CARD_HEIGHT}
        headOf={(row, previous) => dayHead(row.sent_at, previous?.sent_at)}
        {...(canReplay && { onReplay: (row: Attempt) => void askReplay(row) })}
        empty={<Nothing {...{ filter, isFiltered }} />}
        foot={<Foot list={list} text="activity.loadedRequests" />}
      />
      {replay.dialog}
    </>
  )
}
