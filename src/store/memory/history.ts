import type { AttemptRecord } from '../../delivery/attempt-record.js'
import { isTerminal } from '../../delivery/lifecycle.js'
import { mergedWalk } from './merge.js'
import { append, insert, oldest, type PositionLog, removeAt, valueAt } from './position-log.js'
import { forgetReplay, noteReplay } from './replay-marks.js'
import { type Endpoint, nextOrdinal, type Row, type State, type StoredEvent } from './state.js'

/**
 * The history of ended deliveries and their attempts. Memory is bounded: the oldest rows are removed as soon as the delivered ones
 * of one webhook, or all rows together, exceed their limit.
 *
 * Old entries are cold memory, so access is minimised: there are logs per webhook and none over all webhooks, and a
 * row points to its event and its call.
 */

/** Measured: objects with their fields and their entries in maps and logs, on average. */
const EVENT_BYTES = 400
const DELIVERY_BYTES = 900
const RECORD_BYTES = 1_000

function eventBytes({ bodies }: StoredEvent): number {
  let bytes = EVENT_BYTES
  for (const body of bodies) bytes += body.length
  return bytes
}

const recordBytes = ({ responseBody }: AttemptRecord): number => RECORD_BYTES + (responseBody?.length ?? 0)

/** Stores an accepted delivery, which waits. */
export function noteDelivery(state: State, row: Row): void {
  const { endpoint, position, source, call, event } = row
  insert(endpoint.deliveries, position, row)
  state.rows.set(source.id, row)
  if (source.originalPosition !== undefined) noteReplay(endpoint, source.originalPosition, row)
  if (call) call.rows += 1
  if (event.rows === 0) state.historyBytes += eventBytes(event)
  event.rows += 1
  state.historyBytes += DELIVERY_BYTES
}

/** Stores a record of a delivery that waits, or is about to end. */
export function addAttempt(state: State, row: Row, record: AttemptRecord, now: number): void {
  const { endpoint, call } = row
  if (row.record) {
    row.olderRecords ??= []
    row.olderRecords.push({ position: row.recordPosition, record: row.record })
  }
  row.record = record
  row.recordPosition = nextOrdinal(state)
  append(endpoint.attempts, row.recordPosition, row)
  state.attemptCount += 1
  state.historyBytes += recordBytes(record)
  if (call && now > call.lastMs) call.lastMs = now
}

/** Keeps a delivery that has just ended. */
export function addEnd(state: State, row: Row): void {
  const { endpoint, position } = row
  const log = endsOf(row)
  insert(log, position, row)
  if (log === endpoint.delivered) endpoint.deliveredAttempts += row.recordCount
  else state.endCount += 1
}

function removeEnd(state: State, row: Row): void {
  const { endpoint, position } = row
  const log = endsOf(row)
  removeAt(log, position)
  if (log === endpoint.delivered) endpoint.deliveredAttempts -= row.recordCount
  else state.endCount -= 1
}

/** The log that an ended delivery is in. */
function endsOf({ state, source, recordCount, endpoint }: Row): PositionLog<Row> {
  if (state !== 'delivered' || source.replayOf !== undefined) return endpoint.otherEnds
  return recordCount > 0 ? endpoint.delivered : endpoint.deliveredWithoutRecords
}

/** Removes the oldest above the limits, after a delivery of this webhook was settled. */
export function limitHistory(state: State, endpoint: Endpoint): void {
  const { attemptsPerWebhook, attemptsInAll } = state.limits
  const { delivered, deliveredWithoutRecords } = endpoint
  while (endpoint.deliveredAttempts > attemptsPerWebhook) removeRow(state, front(delivered))
  while (deliveredWithoutRecords.size > attemptsPerWebhook) removeRow(state, front(deliveredWithoutRecords))
  if (state.attemptCount > attemptsInAll) dropAttempts(state, surplus(state.attemptCount, attemptsInAll))
  if (state.endCount > attemptsInAll) dropEnds(state, surplus(state.endCount, attemptsInAll))
}

/** How many to remove: 1 % of the limit more than necessary, because finding the oldest of all scans every webhook. */
function surplus(count: number, limit: number): number {
  return count - limit + Math.floor(limit / 100)
}

/** Removes this number of attempts over all webhooks, with the whole delivery where it has ended: first what was delivered. */
function dropAttempts(state: State, count: number): void {
  const target = state.attemptCount - count
  const delivered = oldestInAll(state, ({ delivered: log }) => [log], count)
  for (const [, row] of delivered) {
    if (state.attemptCount <= target) return
    removeRow(state, row)
  }
  const others = oldestInAll(state, ({ attempts }) => [attempts], state.attemptCount - target)
  for (const [position, row] of others) {
    if (state.attemptCount <= target) return
    if (!row.isStored) continue
    if (isTerminal(row.state)) removeRow(state, row)
    else dropAttempt(state, row, position)
  }
}

/** Removes this number of ended deliveries over all webhooks: first what was delivered. */
function dropEnds(state: State, count: number): void {
  const delivered = oldestInAll(state, ({ deliveredWithoutRecords }) => [deliveredWithoutRecords], count)
  const others = oldestInAll(state, ({ otherEnds }) => [otherEnds], count - delivered.length)
  for (const [, row] of [...delivered, ...others]) removeRow(state, row)
}

/** The `count` oldest entries of these logs of all webhooks. */
export function oldestInAll(
  state: State,
  logsOf: (endpoint: Endpoint) => readonly PositionLog<Row>[],
  count: number,
): (readonly [position: number, row: Row])[] {
  const found: (readonly [number, Row])[] = []
  if (count <= 0) return found
  const logs: PositionLog<Row>[] = []
  for (const endpoint of state.endpoints.values()) {
    for (const log of logsOf(endpoint)) if (log.size > 0) logs.push(log)
  }
  for (const entry of mergedWalk(logs, true)) if (found.push(entry) >= count) break
  return found
}

/** The oldest value of a log that is not empty. */
export const front = <T>(log: PositionLog<T>): T => valueAt(log, oldest(log)!)!

/** Removes one record; its delivery stays. */
export function dropAttempt(state: State, row: Row, position: number): void {
  const hasEnded = isTerminal(row.state)
  if (hasEnded) removeEnd(state, row)
  forgetRecord(state, row, position)
  if (position === row.recordPosition) row.record = undefined
  else {
    const older = row.olderRecords!.filter((record) => record.position !== position)
    row.olderRecords = older.length > 0 ? older : undefined
  }
  if (hasEnded) addEnd(state, row)
}

function forgetRecord(state: State, row: Row, position: number): void {
  state.historyBytes -= recordBytes(row.recordAt(position))
  state.attemptCount -= 1
  removeAt(row.endpoint.attempts, position)
}

/** Removes a delivery that is in no lane, with its records, and its event with the last one. */
export function removeRow(state: State, row: Row): void {
  const { endpoint, position, source, call, event } = row
  if (isTerminal(row.state)) removeEnd(state, row)
  for (const older of row.olderRecords ?? []) forgetRecord(state, row, older.position)
  if (row.record) forgetRecord(state, row, row.recordPosition)
  row.record = row.olderRecords = undefined
  row.isStored = false
  removeAt(endpoint.deliveries, position)
  state.rows.delete(source.id)
  if (source.originalPosition !== undefined) forgetReplay(endpoint, source.originalPosition, row)
  if (call) call.rows -= 1
  state.historyBytes -= DELIVERY_BYTES
  event.rows -= 1
  if (event.rows > 0) return
  state.historyBytes -= eventBytes(event)
  state.events.delete(event.id)
}
