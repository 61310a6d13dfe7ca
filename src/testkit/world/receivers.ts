import type { Observation } from '../../ports.js'
import type { SeededRandom } from '../random.js'

/** How a receiver behaves, for a while. */
export type Manner =
  | 'healthy'
  | 'slow'
  | 'flapping'
  | 'dead'
  | 'malicious'
  | 'throttling'
  | 'failing'
  | 'gone'

/** A receiver's side of one request. */
export interface Reply {
  /** False: nobody takes the connection; nothing arrives. */
  readonly arrives: boolean
  /** From the arrival, or the try to connect, to what the sender sees. */
  readonly tookMs: number
  readonly seen: Observation
}

/** One receiver: a state machine that answers requests. */
export interface Receiver {
  readonly name: string
  manner(): Manner
  /** It was healthy all the time. */
  isSpotless(): boolean
  become(manner: Manner): void
  reply(atMs: number): Reply
}

const answer = (status: number, headers: readonly string[] = [], body = 'ok'): Observation => ({
  kind: 'response',
  status,
  headers,
  body,
  bodyEnd: 'complete',
})
const silence = (failure: 'timeout' | 'connection' | 'protocol', detail: string): Observation => ({
  kind: 'no_response',
  failure,
  detail,
})

const NEVER_MS = 10_000_000

/** What a malicious receiver does: everything that an HTTP client may be made to see. */
const TRICKS: readonly (() => Observation)[] = [
  () => answer(302, ['location', 'http://169.254.169.254/latest/meta-data/']),
  () => answer(307, ['Location', 'http://10.0.0.1/']),
  () => answer(599),
  () => answer(404, [], '<script>alert(1)</script>'.repeat(300)),
  () => ({ ...answer(200), bodyEnd: 'truncated', body: 'x'.repeat(8192) }) as Observation,
  () => ({ ...answer(200), bodyEnd: 'broken' }) as Observation,
  () => ({ ...answer(500), bodyEnd: 'timeout' }) as Observation,
  () => answer(503, ['retry-after', '99999999999999999999']),
  () => answer(429, ['Retry-After', '-1']),
  () => answer(503, ['retry-after', 'Wed, 21 Oct 2099 07:28:00 GMT']),
  () => silence('protocol', 'garbage where a status line should be'),
  () => silence('connection', 'reset'),
  () => silence('timeout', 'headers came in drips'),
]

/** @param random of this receiver alone */
export function receiver(name: string, first: Manner, random: SeededRandom): Receiver {
  let manner = first
  let isSpotless = first === 'healthy'
  /** A flapping one changes between up and down by itself. */
  let isUp = true
  let turnsMs = 0

  function flap(atMs: number): boolean {
    while (turnsMs <= atMs) {
      isUp = !isUp
      turnsMs += 1000 + random.exponential(isUp ? 60_000 : 30_000)
    }
    return isUp
  }

  const prompt = (seen: Observation): Reply => ({ arrives: true, tookMs: 1 + random.exponential(30), seen })
  const refused = (): Reply => ({
    arrives: false,
    tookMs: 1 + random.exponential(5),
    seen: silence('connection', 'refused'),
  })

  const REPLIES: Record<Manner, (atMs: number) => Reply> = {
    healthy: () => prompt(answer(random.chance(0.9) ? 200 : 204)),
    // Some of it later than any deadline.
    slow: () => ({ arrives: true, tookMs: 500 + random.exponential(6000), seen: answer(200) }),
    flapping: (atMs) => (flap(atMs) ? prompt(answer(200)) : refused()),
    dead: () =>
      random.chance(0.5) ? refused() : { arrives: true, tookMs: NEVER_MS, seen: silence('timeout', '') },
    failing: () => prompt(answer(random.pick([500, 500, 501, 400, 404, 502, 504]))),
    malicious: () => ({ arrives: true, tookMs: 1 + random.exponential(500), seen: random.pick(TRICKS)() }),
    throttling: () =>
      random.chance(0.5)
        ? prompt(answer(200))
        : prompt(
            answer(random.pick([429, 503]), [
              'Retry-After',
              String(random.pick([0, 1, 5, 30, 120, 100_000])),
            ]),
          ),
    gone: () => prompt(answer(410)),
  }

  return {
    name,
    manner: () => manner,
    isSpotless: () => isSpotless,
    become(next) {
      if (next !== 'healthy') isSpotless = false
      manner = next
    },
    reply: (atMs) => REPLIES[manner](atMs),
  }
}

/** The receivers of a run, most of them healthy at first. */
export function drawReceivers(random: SeededRandom): readonly Receiver[] {
  const count = random.integer(2, 7)
  return Array.from({ length: count }, (_, index) => {
    const name = `r${index + 1}.example`
    const strange = random.pick(['slow', 'flapping', 'dead', 'throttling'] as const)
    return receiver(name, random.chance(0.7) ? 'healthy' : strange, random.stream(name))
  })
}
