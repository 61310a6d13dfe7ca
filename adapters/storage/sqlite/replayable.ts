/** Counts what a replay would repeat: ended deliveries that are no replays and no tests. */
import { type DeliveryReads, firstPosition, type ReplayableQuery } from 'hookswitch/store'
import type { EngineContext } from './context.js'
import { TEST_FORMATS } from './formats.js'
import { createWaitingMask, hasState, hookList, inTable, MAX_TIME_MS, maskOf, type Table } from './queries.js'
import { IS_NOT_RECOVERED } from './replay-marks.js'
import { CANCELLED } from './state-codes.js'
import type { Synchronous } from './synchronous.js'

/** A delivery that waits and is of an older epoch is cancelled for this reason (`effectiveState`). */
const REASON = { attempt: 'd.reason', waiting: "'cancelled'" } as const

/** Reads the row of the delivery and that of its event. Parameters: reason, twice; kinds of events, as `hookList` writes them, twice. */
const isSelected = (table: Table) => `and (? is null or ${REASON[table]} = ?) and (? is null or instr(?, (
    select ' ' || hook || ' ' from hookswitch_event where position = d.position
  )) > 0)`

/**
 * Parameters: webhook, first position, earliest and latest acceptance, mask of states, epoch if they wait; epoch if `skipsRecovered`;
 * those of `isSelected` if `selects`.
 *
 * @internal
 */
export const REPLAYABLE_SQL = (
  table: Table,
  skipsRecovered: boolean,
  selects: boolean,
) => `select count(*) as count
  ${inTable(table)} where d.webhook = ? and d.position >= ? and d.accepted_ms >= ? and d.accepted_ms <= ?
    and d.event is null and d.format < ${TEST_FORMATS} and ${hasState(table, '?')}
    ${skipsRecovered ? `and ${IS_NOT_RECOVERED}` : ''} ${selects ? isSelected(table) : ''}`

export function createReplayableCount(context: EngineContext): Synchronous<DeliveryReads>['countReplayable'] {
  const { prepareQuery, endpoints } = context
  const prepare = (table: Table) => {
    const of = (skipsRecovered: boolean) =>
      [false, true].map((selects) =>
        prepareQuery<{ readonly count: number }>(REPLAYABLE_SQL(table, skipsRecovered, selects)),
      )
    const [all, unrecovered] = [of(false), of(true)]
    return ({ includeRecovered, hooks, reason }: ReplayableQuery) =>
      (includeRecovered ? all : unrecovered)[hooks || reason !== undefined ? 1 : 0]!
  }
  const waitingMask = createWaitingMask(context)
  const [inEnded, inWaiting] = [prepare('attempt'), prepare('waiting')]

  return (query) => {
    const { webhookIds, states, fromMs = -MAX_TIME_MS, toMs = MAX_TIME_MS, includeRecovered } = query
    const { reason = null, hooks } = query
    const kinds = hooks ? hookList(hooks) : null
    const first = firstPosition(query.fromMs)
    const mask = maskOf(states)
    const selection = kinds === null && reason === null ? [] : [reason, reason, kinds, kinds]
    const [ended, waiting] = [inEnded(query), inWaiting(query)]
    const counts = new Map<string, number>()
    for (const webhookId of new Set(webhookIds)) {
      const endpoint = endpoints.byId(webhookId)
      if (!endpoint) continue
      const { epoch } = endpoint.webhook
      const rest = [...(includeRecovered ? [] : [epoch]), ...selection]
      const range = [endpoint.key, first, fromMs, toMs]
      let { count } = ended.get(...range, mask, ...rest)!
      // Of those that wait only those that are cancelled by their epoch have ended.
      const cancelled = waitingMask(mask & (1 << CANCELLED), endpoint)
      if (cancelled > 0) count += waiting.get(...range, cancelled, epoch, ...rest)!.count
      if (count > 0) counts.set(webhookId, count)
    }
    return counts
  }
}
