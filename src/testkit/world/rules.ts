import type { Settlement } from '../../delivery/delivery-store.js'
import type { Book, KnownDelivery } from './book.js'
import { disruptionsBetween } from './disruptions.js'
import type { Findings } from './finding.js'
import type { Ledger } from './ledger.js'
import type { RunQueue } from './run-queue.js'

export interface RuleDoors {
  readonly queue: RunQueue
  readonly ledger: Ledger
  readonly book: Book
  readonly findings: Findings
}

/** The default policy in the oracle's own words: 2 s × 3^n, at most 10 min, ±20 %. */
const BASE_MS = 2000
const FACTOR = 3
const CAP_MS = 600_000
const JITTER = 0.2
/** A fault of ours waits for half a second at least. */
const OWN_FAULT_MS = 500

function windowOf(tries: number): readonly [leastMs: number, mostMs: number] {
  const plainMs = Math.min(CAP_MS, BASE_MS * FACTOR ** (Math.max(1, tries) - 1))
  return [plainMs * (1 - JITTER) - 1, Math.min(CAP_MS, plainMs * (1 + JITTER)) + 1]
}

/**
 * The next attempt comes within the window of its policy, or when the receiver asked for, within bounds. A settlement
 * is decided between its claim and the moment at which the store is told of it, which may be later when it was out.
 */
export function judgeDelay(
  doors: RuleDoors,
  known: KnownDelivery,
  { next, record }: Settlement,
  toldMs: number,
): void {
  const { findings, queue } = doors
  if (next.state !== 'waiting') return
  const { id, webhook } = known
  const add = (what: string) => findings.add('I11', queue.now(), `${id} ${what}`, id, webhook)
  const { dueMs = Number.NaN } = next
  if (!Number.isFinite(dueMs)) add(`is due at ${next.dueMs}`)
  if (dueMs - toldMs > CAP_MS) add(`waits ${dueMs - toldMs} ms, which is above every cap`)
  if (record?.attempt === undefined || record.reason === 'interrupted') return
  if (isLate(doors, known.claimedMs)) return
  const afterClaimMs = dueMs - known.claimedAtMs
  if (record.clientError === 'own_fault') {
    if (afterClaimMs < OWN_FAULT_MS) add(`is tried again ${afterClaimMs} ms after a fault of ours`)
    return
  }
  const [leastMs] = windowOf(next.tries)
  const [, mostMs] = windowOf(Math.max(next.tries, next.attempts))
  const isThrottled = record.status === 429 || (record.status ?? 0) >= 502
  const delayMs = dueMs - toldMs
  if (afterClaimMs < leastMs)
    add(`is tried again after ${afterClaimMs} ms, not before ${leastMs} ms have passed`)
  if (!isThrottled && delayMs > mostMs) add(`is tried again after ${delayMs} ms, not within ${mostMs}`)
}

/** Store time as a node knows it lags behind by what an answer of the store took: then the same moment comes twice. */
function isLate({ ledger, queue }: RuleDoors, sinceMs: number): boolean {
  for (const { kind } of disruptionsBetween(ledger.disruptions, sinceMs, queue.now())) {
    if (kind === 'store slow' || kind === 'store cut off' || kind === 'pause') return true
  }
  return false
}

const SILENT_MS = 86_400_000
const MOST_EXHAUSTED = 20

/** A webhook is disabled where its receiver said that it is gone, or has been of no use for a day. */
export function judgeDisabling(
  { book, ledger, findings, queue }: RuleDoors,
  webhook: string,
  reason: string,
): void {
  if (reason === 'gone') {
    if (!ledger.gone.has(webhook)) {
      findings.add(
        'I22',
        queue.now(),
        `${webhook} is disabled as gone, and its receiver did not say so`,
        webhook,
      )
    }
    return
  }
  const { failingSinceMs = queue.now(), exhausted = 0 } = book.health.get(webhook) ?? {}
  const silentMs = queue.now() - failingSinceMs
  // Clocks of nodes drift.
  if (silentMs >= SILENT_MS * 0.999 && exhausted >= MOST_EXHAUSTED) return
  const what = `${webhook} is disabled (${reason}) ${Math.round(silentMs)} ms after its last success, with ${exhausted} given up`
  findings.add('I22', queue.now(), what, webhook)
}

/** What `judgeDisabling` needs to know of a settled attempt. */
export function noteHealth({ book, queue }: RuleDoors, webhook: string, { next, record }: Settlement): void {
  if (record?.result === 'success') {
    book.health.delete(webhook)
    return
  }
  if (record?.attempt === undefined) return
  const before = book.health.get(webhook) ?? { failingSinceMs: queue.now(), exhausted: 0 }
  const exhausted = before.exhausted + (next.state === 'exhausted' ? 1 : 0)
  book.health.set(webhook, { ...before, exhausted })
}
