/** The oracle's rules for replay jobs: nothing that was recovered is repeated (I8), and nothing is left out (I1). */
import type { StoredDelivery } from '../delivery/delivery-queries.js'
import { replayByJob } from '../delivery/replay.js'
import { addTo } from '../values/group.js'
import type { FinalState } from './final-state.js'
import type { ViolationLog } from './violation.js'

/** Ids that a job tries for one replay. */
const MAX_SALTS = 5

/** Originals with their replays, in the order of their acceptance. */
function replaysByOriginal(deliveries: Iterable<StoredDelivery>): Map<string, StoredDelivery[]> {
  const found = new Map<string, StoredDelivery[]>()
  for (const delivery of deliveries)
    if (delivery.replayOf !== undefined) addTo(found, delivery.replayOf, delivery)
  for (const replays of found.values()) replays.sort((a, b) => a.position - b.position)
  return found
}

/** Whether a job made this replay: its id follows from the original and the replay before. */
function isOfJob(
  replay: StoredDelivery,
  original: StoredDelivery,
  before: StoredDelivery | undefined,
): boolean {
  const { replays: _, ...old } = original
  const last = before && { replays: { lastId: before.id, lastAcceptedMs: 0, hasRecovered: false } }
  for (let salt = 0; salt < MAX_SALTS; salt++)
    if (replayByJob({ ...old, ...last }, replay, '', salt).id === replay.id) return true
  return false
}

/** Whether an earlier replay waited or was delivered when a later one was accepted. Older epochs are cancelled. */
function hadRecovered(earlier: StoredDelivery, later: StoredDelivery): boolean {
  if (earlier.epoch < later.epoch || earlier.state === 'cancelled') return false
  return earlier.state === 'delivered' || (earlier.endedMs ?? Number.POSITIVE_INFINITY) > later.acceptedMs
}

/** @param cover called with what has occurred */
export function checkReplays(
  { deliveries, live, replays: jobs }: FinalState,
  violations: ViolationLog,
  cover: (name: string) => void,
): void {
  const byOriginal = replaysByOriginal(deliveries.values())
  for (const [id, replays] of byOriginal) {
    const original = deliveries.get(id)
    if (!original) continue
    for (const [index, replay] of replays.entries()) {
      if (!isOfJob(replay, original, replays[index - 1])) continue
      cover('replay of a job')
      const recovered = replays.slice(0, index).find((earlier) => hadRecovered(earlier, replay))
      if (!recovered) continue
      const message = `${id} was replayed by a job as ${replay.id}, although ${recovered.id} had recovered it`
      violations.add('I8', 0, message, id, replay.id, recovered.id)
    }
  }
  for (const { id: job, request, state, leftOut, createdMs } of jobs) {
    if (state !== 'completed' || leftOut.length > 0) continue
    cover('replay job completed')
    for (const {
      id,
      webhookId,
      accountId,
      state,
      replayOf,
      lane,
      endedMs = Infinity,
    } of deliveries.values()) {
      if (replayOf !== undefined || state === 'delivered' || lane.startsWith('test/')) continue
      if (endedMs > createdMs || !live.has(webhookId) || byOriginal.has(id)) continue
      if (accountId !== request.accountId && request.accountId !== 'root') continue
      if (request.accountId === 'root' && accountId === 'rival') continue
      if (request.reason !== undefined) continue
      violations.add('I1', 0, `the replay ${job} has left out ${id}, which had ended as ${state}`, id)
    }
  }
}
