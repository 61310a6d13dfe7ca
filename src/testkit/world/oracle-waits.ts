import type { KnownDelivery } from './book.js'
import { disruptionsBetween } from './disruptions.js'
import type { Evidence } from './evidence.js'
import type { Sight } from './ledger.js'

/** A delivery to somebody who always answers, that was the first of its lane, and how long it waited to be sent. */
interface Wait {
  readonly known: KnownDelivery
  readonly account: string
  readonly sentMs: number
}

/** 99 of 100 such deliveries are sent within this time, whoever else is dead or slow. */
const BOUND_MS = 1000
/** Fewer say nothing of the hundredth. */
const FEWEST = 30
/** So long a disruption has consequences: leases end, nodes come back. */
const AFTERMATH_MS = 90_000
/** Fewer that waited for the end of an outage make no curve. */
const FEWEST_OF_CURVE = 200
/** The rest of a backlog waits for something else. */
const MOST_OF_BACKLOG = 0.98
const BUCKET_MS = 1000
const PEAK_TO_MEAN = 3

/**
 * Who always answers is sent what is his at once (I15), in each account (I23); and what waited for the end of an
 * outage leaves evenly.
 */
export function judgeWaits(doors: Evidence, byDelivery: ReadonlyMap<string, readonly Sight[]>): void {
  const waits = waitsOf(doors, byDelivery)
  judgeQuickness(doors, waits)
  judgeCurves(doors, waits)
}

function waitsOf(
  { answers, book, ledger, spotless }: Evidence,
  byDelivery: ReadonlyMap<string, readonly Sight[]>,
): readonly Wait[] {
  const failed = new Set<string>()
  for (const records of answers.attempts.values()) {
    for (const { result, webhookId } of records) if (result !== 'success') failed.add(webhookId)
  }
  const waits: Wait[] = []
  for (const [id, [sight]] of byDelivery) {
    const known = book.deliveries.get(id)
    const history = known && ledger.webhooks.get(known.webhook)
    if (!history || !spotless.has(history.receiver) || failed.has(known.webhook)) continue
    waits.push({ known, account: history.accountId, sentMs: sight!.atMs })
  }
  return waits.sort((a, b) => a.sentMs - b.sentMs)
}

function judgeQuickness({ findings, ledger, leaseMs, fired }: Evidence, waits: readonly Wait[]): void {
  const byAccount = new Map<string, Wait[]>()
  for (const wait of waits) {
    const { known, sentMs, account } = wait
    if (!known.isHead) continue
    const sinceMs = known.acceptedMs - Math.max(AFTERMATH_MS, 3 * leaseMs)
    if (!disruptionsBetween(ledger.disruptions, sinceMs, sentMs).next().done) continue
    const others = byAccount.get(account)
    if (others) others.push(wait)
    else byAccount.set(account, [wait])
  }
  const waited = ({ known, sentMs }: Wait) => sentMs - known.acceptedMs
  const judge = (invariant: string, whose: string, some: readonly Wait[]) => {
    if (some.length < FEWEST) return
    fired(`waits of ${whose === 'all' ? 'all' : 'an account'} judged`)
    const late = [...some].sort((a, b) => waited(a) - waited(b))[Math.floor(some.length * 0.99)]!
    if (waited(late) <= BOUND_MS) return
    const what = `one of a hundred of ${whose} waits ${Math.round(waited(late))} ms to be sent, and its receiver always answers`
    findings.add(invariant, late.sentMs, what, late.known.id, late.known.webhook)
  }
  judge('I15', 'all', [...byAccount.values()].flat())
  for (const [account, some] of byAccount) judge('I23', account, some)
}

/** Where the first of these, in ascending order, is that is not before `ms`. */
function firstFrom(moments: readonly number[], ms: number): number {
  let low = 0
  for (let high = moments.length; low < high; ) {
    const middle = (low + high) >>> 1
    if (moments[middle]! < ms) low = middle + 1
    else high = middle
  }
  return low
}

function judgeCurves({ findings, ledger, fired }: Evidence, waits: readonly Wait[]): void {
  const accepted = waits.map(({ known }) => known.acceptedMs).sort((a, b) => a - b)
  for (const { kind, atMs, untilMs } of ledger.disruptions) {
    // Mostly fewer came meanwhile: then nobody need look which of them waited.
    const came = firstFrom(accepted, untilMs) - firstFrom(accepted, atMs)
    if (came < FEWEST_OF_CURVE) continue
    const backlog = waits.filter(
      ({ known, sentMs }) => known.acceptedMs >= atMs && known.acceptedMs < untilMs && sentMs >= untilMs,
    )
    if (backlog.length < FEWEST_OF_CURVE) continue
    const gone = backlog.slice(0, Math.ceil(backlog.length * MOST_OF_BACKLOG))
    const fromMs = gone[0]!.sentMs
    const curve = new Array<number>(1 + Math.floor((gone.at(-1)!.sentMs - fromMs) / BUCKET_MS)).fill(0)
    for (const { sentMs } of gone) curve[Math.floor((sentMs - fromMs) / BUCKET_MS)]! += 1
    fired('curve judged')
    const mean = gone.length / curve.length
    const peak = Math.max(...curve)
    if (peak <= PEAK_TO_MEAN * mean) continue
    const what = `after ${kind} ${peak} of ${gone.length} were sent in one second, and ${mean.toFixed(1)} in the mean`
    findings.add('I23', fromMs, what)
  }
}
