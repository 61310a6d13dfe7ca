/**
 * How many requests an endpoint may get: the rate that its receiver accepts, and the number at once after a pause. Pure
 * arithmetic over times; it lives in memory, and starts anew with each owner of the queue.
 *
 * Theory of operation
 *
 * - Without a limit of the webhook and without a 429, requests are not paced.
 * - The first 429 after an accepted request sets the rate to a part of what was accepted lately; another one before the rate
 *   was raised sets it to a smaller part. 429s without an accepted request between them change nothing: they say how long to
 *   wait, not how fast to go.
 * - The rate is held for 20 times the wait, at least 20 s. Then it rises by 5 % a second while requests are accepted, until it
 *   is so high that it limits nothing.
 * - The first rate may come from a moment, and tells little about the receiver: it is not held, and rises by 40 % per wait, or
 *   5 % a second if that is more, until the next 429 that changes it.
 * - After a pause, and after a 429, one request goes first. Each round that was answered whole doubles the number at once.
 */

/** The part of the accepted rate that a first 429 leaves. */
const CUT = 0.9
/** The part that one leaves which comes before the rate was raised. */
const CUT_AGAIN = 0.7
/** The rate never falls below this part of the average of the last minute. */
const FLOOR = 0.9
/** The rate never falls below this, requests a second. */
const MIN_RATE = 1 / 60
/** The rate that a receiver is taken to accept at least, requests a second. */
const MIN_SEEN_RATE = 0.2
/** How long a rate is held, in waits. */
const HOLD_WAITS = 20
/** How long it is held at least, ms. */
const MIN_HOLD_MS = 20_000
/** Growth of the rate per second. */
const RAISE = 1.05
/** Growth of the first rate per wait, if that is faster. */
const RAISE_FIRST = 1.4
/** From this rate on requests are not paced, requests a second. */
const UNLIMITED_RATE = 1_000
/** Shortest waits after 429s that follow each other, ms: each is twice the one before. */
const FIRST_WAIT_MS = 1_000
const MAX_WAIT_MS = 15_000
/** The rate of a stretch is that of the last seconds, ms. */
const STRETCH_MS = 5_000
const WINDOW_MS = 60_000
/** Time in which accepted requests are counted together, ms. */
const PART_MS = 500
/** Requests that were late by less than this are caught up, ms: timers and groups are not exact. */
const SLACK_MS = 20

/** Counts accepted requests of the last minute, in parts of a second. */
class AcceptedRequests {
  private readonly counts = new Uint32Array(WINDOW_MS / PART_MS)
  private newest = Number.NEGATIVE_INFINITY
  /** The first request after a gap of a minute, ms. */
  private firstMs = Number.NEGATIVE_INFINITY
  lastMs = Number.NEGATIVE_INFINITY

  add(now: number): void {
    if (now - this.lastMs >= WINDOW_MS) {
      this.counts.fill(0)
      this.firstMs = now
    }
    const part = Math.floor(now / PART_MS)
    const { length } = this.counts
    for (let passed = Math.max(this.newest + 1, part - length + 1); passed <= part; passed++)
      this.counts[passed % length] = 0
    this.newest = Math.max(this.newest, part)
    this.counts[part % length]!++
    this.lastMs = now
  }

  /** Those of the last so many milliseconds. */
  count(withinMs: number, now: number): number {
    const { length } = this.counts
    const last = Math.floor(now / PART_MS)
    let sum = 0
    for (
      let part = Math.max(last - withinMs / PART_MS + 1, this.newest - length + 1, 0);
      part <= this.newest;
      part++
    )
      if (part > last - length) sum += this.counts[part % length]!
    return sum
  }

  /** Requests a second in the last five seconds, or since the first if that is later. */
  rate(now: number): number {
    // The oldest part is whole, the newest is not.
    const countedMs = STRETCH_MS - PART_MS + (now % PART_MS)
    const spanMs = Math.min(countedMs, Math.max(1_000, now - this.firstMs))
    return (this.count(STRETCH_MS, now) * 1_000) / spanMs
  }
}

/** The pace of one endpoint. Times are store time, ms. */
export class Pace {
  private readonly accepted = new AcceptedRequests()
  /** Requests a second; Infinity: not paced. */
  private rate = Number.POSITIVE_INFINITY
  /** The rate when the last request was sent: it may have risen since. */
  private usedRate = Number.POSITIVE_INFINITY
  /** When the next request may be sent, as far as the rate says. */
  private nextMs = Number.NEGATIVE_INFINITY
  private holdUntilMs = Number.NEGATIVE_INFINITY
  /** Growth of this rate per second. */
  private growth = RAISE
  private raisedMs = Number.NEGATIVE_INFINITY
  /** When the wait after the last 429 ends: requests that were taken before that 429 may be sent until then. */
  private waitedMs = Number.NEGATIVE_INFINITY
  /** 429s in a row without an accepted request between them, after the first; those that were under way together are one. */
  private repeats = 0
  /** Requests at once; Infinity: no limit but that of all endpoints. */
  private atOnce = Number.POSITIVE_INFINITY
  private answeredInRound = 0

  /**
   * @param maxRate the webhook's own limit, requests a second
   * @param before requests a second that were accepted before: lately, and on average in the last minute
   */
  constructor(
    private maxRate = Number.POSITIVE_INFINITY,
    private readonly before = { lately: 0, minute: 0 },
  ) {}

  setMaxRate(maxRate = Number.POSITIVE_INFINITY): void {
    this.maxRate = maxRate
  }

  /** Whether it limits anything: otherwise it can be forgotten. */
  get isLimiting(): boolean {
    return Number.isFinite(this.effectiveRate) || Number.isFinite(this.atOnce)
  }

  /** Requests at once. */
  get limit(): number {
    return this.atOnce
  }

  /** When the next request may be sent. */
  get dueMs(): number {
    return Number.isFinite(this.effectiveRate) ? this.nextMs : Number.NEGATIVE_INFINITY
  }

  /** Requests that may be sent now, as far as the rate says. */
  allowed(now: number): number {
    const rate = this.effectiveRate
    if (!Number.isFinite(rate)) return Number.POSITIVE_INFINITY
    return now < this.nextMs ? 0 : 1 + Math.floor((Math.min(now - this.nextMs, SLACK_MS) * rate) / 1_000)
  }

  /** A request is sent. */
  sent(now: number): void {
    const rate = this.effectiveRate
    this.usedRate = rate
    if (Number.isFinite(rate)) this.nextMs = Math.max(this.nextMs, now - SLACK_MS) + 1_000 / rate
  }

  /** A request was accepted. */
  succeeded(now: number): void {
    this.raise(now)
    this.accepted.add(now)
    this.repeats = 0
  }

  /** A request was answered, unless the answer says "not now": after a pause more may be sent at once. */
  answered(): void {
    if (!Number.isFinite(this.atOnce) || ++this.answeredInRound < this.atOnce) return
    this.answeredInRound = 0
    this.atOnce *= 2
    if (this.atOnce >= 1_024) this.atOnce = Number.POSITIVE_INFINITY
  }

  /** A request was not taken: the round is not whole. */
  failed(): void {
    this.answeredInRound = 0
  }

  /** Ends the wait that a 429 has begun: the next request may be sent now. */
  endWait(now: number): void {
    this.waitedMs = Math.min(this.waitedMs, now)
    this.nextMs = Math.min(this.nextMs, now)
  }

  /** One request goes first. */
  restart(): void {
    this.atOnce = 1
    this.answeredInRound = 0
  }

  /**
   * Counts a 429, or a 503 with `Retry-After`.
   *
   * @param sentMs when the request was sent
   * @param askedMs `Retry-After`, ms; `undefined`: none
   * @returns how long nothing is sent, ms
   */
  throttled(sentMs: number, askedMs: number | undefined, now: number): number {
    const isFirst = this.waitedMs === Number.NEGATIVE_INFINITY
    const isNews = isFirst || this.accepted.lastMs >= this.waitedMs
    const isUnderWay = sentMs < this.waitedMs - SLACK_MS
    if (isNews) this.repeats = 0
    else if (!isUnderWay) this.repeats++
    const repeatMs = this.repeats > 0 ? Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** this.repeats) : 0
    const waitMs = Math.max(askedMs || FIRST_WAIT_MS, repeatMs)
    if (isNews && !isUnderWay) {
      const counted = (this.accepted.count(WINDOW_MS, now) * 1_000) / WINDOW_MS
      const average = isFirst ? Math.max(counted, this.before.minute) : counted
      const cut = Number.isFinite(this.rate)
        ? Math.min(this.rate, this.usedRate, this.maxRate) * (now < this.holdUntilMs ? CUT_AGAIN : CUT)
        : Math.max(MIN_SEEN_RATE, this.accepted.rate(now), isFirst ? this.before.lately : 0) * CUT
      this.rate = Math.max(MIN_RATE, FLOOR * average, cut)
      this.holdUntilMs = now + waitMs + (isFirst ? 0 : Math.max(MIN_HOLD_MS, HOLD_WAITS * waitMs))
      this.raisedMs = this.holdUntilMs
      this.growth = isFirst
        ? Math.max(RAISE, RAISE_FIRST ** (1_000 / Math.max(waitMs, FIRST_WAIT_MS)))
        : RAISE
    }
    this.waitedMs = Math.max(this.waitedMs, now + waitMs)
    this.nextMs = Math.max(this.nextMs, this.waitedMs)
    this.restart()
    return waitMs
  }

  private get effectiveRate(): number {
    return Math.min(this.rate, this.maxRate)
  }

  /** The time since the last accepted request counts if it was used: an idle endpoint proves nothing. */
  private raise(now: number): void {
    if (!Number.isFinite(this.rate) || now <= this.holdUntilMs) return
    const idleMs = now - this.accepted.lastMs
    if (idleMs > Math.max(1_000, 1_500 / this.rate)) this.raisedMs = now
    const seconds = (now - this.raisedMs) / 1_000
    this.raisedMs = now
    this.rate *= this.growth ** seconds
    if (this.rate >= UNLIMITED_RATE) this.rate = Number.POSITIVE_INFINITY
  }
}
