/** Writes the outcome of attempts: the next state of a delivery, its record, and the health of its endpoint. */
import {
  applyEndpointChange,
  decideSettlement,
  disabledByRepeat,
  type EndedResult,
  isTerminal,
  type Settlement,
} from 'hookswitch/store'
import type { EngineContext } from './context.js'
import type { CachedEndpoint } from './endpoints.js'
import type { EncodedSettlement } from './group-encoding.js'
import { stateCode } from './state-codes.js'

/** The columns of a waiting delivery that its attempts keep. */
interface SettledRow {
  readonly event: number | null
  readonly lane: number
  readonly epoch: number
  readonly acceptedMs: number
  readonly variant: number
  readonly format: number
  readonly id: string
  readonly replayOf: string | null
}

const RETURNING =
  'returning event, lane, epoch, accepted_ms as "acceptedMs", variant, format, id, replay_of as "replayOf"'
const EXPECTED = 'where position = ? and webhook = ? and attempts = ?'

export function createSettle(
  context: EngineContext,
): (settlement: EncodedSettlement, now: number, isRepeat: boolean) => EndedResult {
  const { prepareQuery, prepareChange, state, endpoints, rows, requests, attemptCounts } = context
  const end = prepareQuery<SettledRow>(`delete from hookswitch_waiting ${EXPECTED} ${RETURNING}`)
  const update =
    prepareQuery<SettledRow>(`update hookswitch_waiting set attempts = ?, tries = ?, interruptions = ?, due_ms = ?, reason = ?, failed_ms = ?
    ${EXPECTED} ${RETURNING}`)
  const insertAttempt = prepareChange(`insert into hookswitch_attempt
      (key, position, webhook, event, at_ms, variant, format, id, request, doc)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const insertEnd = prepareChange(`insert into hookswitch_attempt
      (key, position, webhook, event, at_ms, variant, format, id, request, doc, state, attempts, tries, interruptions,
      epoch, lane, accepted_ms, ended_ms, reason, replay_of, failed_ms)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const hasRecord = prepareQuery<object>(`select 1 from hookswitch_attempt
    where position = ? and webhook = ? and json_extract(doc, '$[1]') = json_extract(?, '$[1]')`)

  /** The number of attempts that the delivery must have; `undefined`: the settlement is not to be written. */
  function expectedAttempts(
    settlement: EncodedSettlement,
    webhook: number,
    isRepeat: boolean,
  ): number | 'stored' | undefined {
    if (!isRepeat) return settlement.expectedAttempts
    const { position, record, expectedAttempts: attempts } = settlement
    const delivery = rows.byKey(webhook, position)?.delivery
    const isRecorded = record !== undefined && hasRecord.get(position, webhook, record.doc) !== undefined
    const decision = decideSettlement(
      delivery,
      { ...settlement, expect: { attempts } } as unknown as Settlement,
      isRepeat,
      isRecorded,
    )
    return decision === 'write' ? delivery?.attempts : decision === 'stored' ? 'stored' : undefined
  }

  function updateEndpoint(endpoint: CachedEndpoint, change: Settlement['endpoint']): EndedResult {
    const before = endpoint.webhook
    const after = applyEndpointChange(before, change)
    if (after === before) return { kind: 'settled' }
    if (after.epoch === before.epoch) {
      endpoints.replaceHealth(endpoint, after)
      return { kind: 'settled' }
    }
    endpoints.replace(endpoint, after)
    return { kind: 'settled', disabled: after }
  }

  return (settlement, now, isRepeat) => {
    const { webhookId, position, next, record } = settlement
    const endpoint = endpoints.byId(webhookId)
    if (!endpoint) return { kind: 'fenced' }
    const { key } = endpoint
    const expected = expectedAttempts(settlement, key, isRepeat)
    if (expected === undefined) return { kind: 'fenced' }
    if (expected === 'stored') {
      const disabled = disabledByRepeat(endpoint.webhook, settlement as unknown as Settlement)
      return disabled ? { kind: 'settled', disabled } : { kind: 'settled' }
    }

    const { attempts, tries, interruptions, dueMs = null, reason = null, failedMs = null } = next
    const hasEnded = isTerminal(next.state)
    const row = hasEnded
      ? end.get(position, key, expected)
      : update.get(attempts, tries, interruptions, dueMs, reason, failedMs, position, key, expected)
    if (!row) return { kind: 'fenced' }
    const { event, variant, format, id } = row
    if (record || hasEnded) {
      const request = record ? requests.keyOf(key, record.request) : null
      const atMs = record?.atMs ?? now
      const attempt = [state.nextKey(), position, key, event, atMs, variant, format, id] as const
      const doc = record?.doc ?? null
      if (!hasEnded) insertAttempt(...attempt, request, doc)
      else {
        const { epoch, lane, acceptedMs, replayOf } = row
        const result = [stateCode(next.state), attempts, tries, interruptions] as const
        const counted = record ? attempts : attempts - 1
        if (next.state === 'delivered' && event === null) attemptCounts.added(key, position, counted)
        insertEnd(
          ...attempt,
          request,
          doc,
          ...result,
          epoch,
          lane,
          acceptedMs,
          now,
          reason,
          replayOf,
          failedMs,
        )
      }
    }
    return updateEndpoint(endpoint, settlement.endpoint)
  }
}
