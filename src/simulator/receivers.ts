/** The simulated receivers and their behaviours. */

import type { Observation } from '../ports.js'
import type { SeededRandom } from '../testkit/random.js'

/** How a receiver behaves until it changes. */
export type Behaviour =
  | 'healthy'
  | 'slow'
  | 'flapping'
  | 'dead'
  | 'malicious'
  | 'throttling'
  | 'failing'
  | 'gone'

/** The receiver's side of one request. */
interface Reply {
  /** False: the connection fails, no request arrives. */
  readonly reachesReceiver: boolean
  /** From the arrival, or the connection attempt, to the result at the sender, ms. */
  readonly afterMs: number
  readonly observation: Observation
}

export interface Receiver {
  readonly name: string
  behaviour(): Behaviour
  wasAlwaysHealthy(): boolean
  become(behaviour: Behaviour): void
  reply(atMs: number): Reply
}

const respond = (status: number, headers: readonly string[] = [], body = 'ok'): Observation => ({
  kind: 'response',
  status,
  headers,
  body,
  bodyEnd: 'complete',
})
const noResponse = (failure: 'timeout' | 'connection' | 'protocol', detail: string): Observation => ({
  kind: 'no_response',
  failure,
  detail,
})

/** The observation of a request that was not sent, because nobody listened. */
export const REFUSED: Observation = {
  kind: 'no_response',
  failure: 'connection',
  detail: 'refused',
  cause: 'refused',
  isSent: false,
}

/** Later than any deadline. */
const NEVER_MS = 10_000_000

/** Replies of a malicious receiver. */
const TRICKS: readonly (() => Observation)[] = [
  () => respond(302, ['location', 'http://169.254.169.254/latest/meta-data/']),
  () => respond(307, ['Location', 'http://10.0.0.1/']),
  () => respond(599),
  () => respond(404, [], '<script>alert(1)</script>'.repeat(300)),
  () => ({ ...respond(200), bodyEnd: 'truncated', body: 'x'.repeat(8192) }) as Observation,
  () => ({ ...respond(200), bodyEnd: 'broken' }) as Observation,
  () => ({ ...respond(500), bodyEnd: 'timeout' }) as Observation,
  () => respond(503, ['retry-after', '99999999999999999999']),
  () => respond(429, ['Retry-After', '-1']),
  () => respond(503, ['retry-after', 'Wed, 21 Oct 2099 07:28:00 GMT']),
  () => noResponse('protocol', 'garbage where a status line should be'),
  () => noResponse('connection', 'reset'),
  () => noResponse('timeout', 'headers came in drips'),
]

/** @param random stream of this receiver only */
function createReceiver(name: string, first: Behaviour, random: SeededRandom): Receiver {
  let behaviour = first
  let wasAlwaysHealthy = first === 'healthy'
  /** State of a flapping receiver, and when it changes next. */
  let isUp = true
  let changesMs = 0

  function flap(atMs: number): boolean {
    while (changesMs <= atMs) {
      isUp = !isUp
      changesMs += 1000 + random.exponential(isUp ? 60_000 : 30_000)
    }
    return isUp
  }

  const fast = (observation: Observation): Reply => ({
    reachesReceiver: true,
    afterMs: 1 + random.exponential(30),
    observation,
  })
  const refused = (): Reply => ({
    reachesReceiver: false,
    afterMs: 1 + random.exponential(5),
    observation: REFUSED,
  })

  const REPLIES: Record<Behaviour, (atMs: number) => Reply> = {
    healthy: () => fast(respond(random.chance(0.9) ? 200 : 204)),
    // Some of these exceed every deadline.
    slow: () => ({
      reachesReceiver: true,
      afterMs: 500 + random.exponential(6000),
      observation: respond(200),
    }),
    flapping: (atMs) => (flap(atMs) ? fast(respond(200)) : refused()),
    dead: () =>
      random.chance(0.5)
        ? refused()
        : { reachesReceiver: true, afterMs: NEVER_MS, observation: noResponse('timeout', '') },
    failing: () => fast(respond(random.pick([500, 500, 501, 400, 404, 502, 504]))),
    malicious: () => ({
      reachesReceiver: true,
      afterMs: 1 + random.exponential(500),
      observation: random.pick(TRICKS)(),
    }),
    throttling: () =>
      random.chance(0.5)
        ? fast(respond(200))
        : fast(
            respond(random.pick([429, 503]), [
              'Retry-After',
              String(random.pick([0, 1, 5, 30, 120, 100_000])),
            ]),
          ),
    gone: () => fast(respond(410)),
  }

  return {
    name,
    behaviour: () => behaviour,
    wasAlwaysHealthy: () => wasAlwaysHealthy,
    become(next) {
      if (next !== 'healthy') wasAlwaysHealthy = false
      behaviour = next
    },
    reply: (atMs) => REPLIES[behaviour](atMs),
  }
}

/** Draws the receivers of a run, most of them healthy at first. */
export function drawReceivers(random: SeededRandom): readonly Receiver[] {
  const count = random.integer(2, 7)
  return Array.from({ length: count }, (_, index) => {
    const name = `r${index + 1}.example`
    const unhealthy = random.pick(['slow', 'flapping', 'dead', 'throttling'] as const)
    return createReceiver(name, random.chance(0.7) ? 'healthy' : unhealthy, random.stream(name))
  })
}
