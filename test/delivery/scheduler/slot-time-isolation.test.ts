/** What accounts whose receivers hold their slots for long cost those that need few slots: loads in simulated time. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { propertyRuns } from '../../support/property-runs.js'
import { atRate, isOf, list, p99, type Receiver, simulateReceivers } from './receivers-simulation.js'

const RUN_MS = 15_000
const GOAL_MS = 50
const WEBHOOKS = 10
const LIGHT = 20

const receiverOf = (account: string, index: number, afterMs: number): Receiver => ({
  id: `${account}-${index}`,
  accountId: account,
  origin: `https://${account}-${index}.example`,
  afterMs,
})

interface HeavyLoad {
  readonly accounts: number
  /** ms until a receiver answers, by the time since the start; Infinity: never. */
  afterMs(now: number): number
  /** Whether all receivers have answered fast before. */
  isKnown: boolean
}

/**
 * Accounts with ten webhooks and 600 deliveries a second in all, in bursts of a tenth of a second. Beside them, 20 accounts
 * with five webhooks and an event every 4 s, and a new account every second. Nothing of the heavy load ever ends in time: its
 * backlog grows.
 */
function runLoad({ accounts, afterMs, isKnown }: HeavyLoad) {
  const simulation = simulateReceivers()
  const { deliver, run } = simulation
  const heavy = list(accounts * WEBHOOKS, (n) => receiverOf(`heavy-${n % accounts}`, n, 5))
  const light = list(LIGHT, (n) => list(5, (index) => receiverOf(`light-${n}`, index, 5)))
  if (isKnown) {
    for (const receiver of [...heavy, ...light.flat()]) deliver(receiver)
    run(3_000)
  }
  let sent = 0
  const acts = [
    atRate(10, () => {
      for (const end = sent + 60; sent < end; sent++) deliver(heavy[sent % heavy.length]!)
    }),
    atRate(LIGHT / 4, (count) => {
      for (const receiver of light[count % LIGHT]!) deliver(receiver)
    }),
    atRate(1, (count) => deliver(receiverOf(`fresh-${count}`, 0, 5))),
  ]
  let startMs: number | undefined
  run(RUN_MS, (now) => {
    startMs ??= now
    for (const receiver of heavy) receiver.afterMs = afterMs(now - startMs)
    for (const act of acts) act(now - startMs)
  })
  return simulation
}

const always = (ms: number) => () => ms
/** Answers at once for half a second, so that its endpoints are fast, and then late. */
const inTurns = (ms: number) => (now: number) => (now % (ms + 500) < 500 ? 5 : ms)

describe('accounts that need few slots', () => {
  const loads: [string, HeavyLoad['afterMs']][] = [
    ['950 ms', always(950)],
    ['1,900 ms', always(1_900)],
    ['5 ms and 950 ms in turns', inTurns(950)],
    ['5 ms and 6 s in turns', inTurns(6_000)],
  ]
  it.each(
    loads.flatMap(([text, afterMs]) =>
      [6, 10].flatMap((accounts) => [true, false].map((isKnown) => ({ text, afterMs, accounts, isKnown }))),
    ),
  )(
    'wait at most 50 ms beside $accounts accounts whose receivers answer after $text (known before: $isKnown)',
    (load) => {
      const simulation = runLoad(load)
      expect(p99(simulation.waitsOf(isOf('light')))).toBeLessThanOrEqual(GOAL_MS)
      expect(simulation.waitsOf(isOf('fresh')).at(-1)).toBeLessThanOrEqual(GOAL_MS)
      // The others use what is left, to the last sixteenth.
      if (load.text === '950 ms') expect(simulation.inFlight().length).toBeGreaterThanOrEqual((500 * 15) / 16)
    },
  )
})

describe('an account that competes with nobody', () => {
  const caps = { perEndpoint: 64, perAccount: 64, perOrigin: 64, total: 64, probes: 64 }
  const busy = receiverOf('busy', 0, 950)
  const other = receiverOf('other', 0, 5)

  it('uses every slot, and again ten seconds after another account had something to send', () => {
    const simulation = simulateReceivers(caps)
    const { deliver, run, inFlight } = simulation
    deliver(busy)
    run(1_000)
    for (let count = 0; count < 3_000; count++) deliver(busy)
    run(3_000)
    expect(inFlight()).toHaveLength(64)
    deliver(other)
    run(2_000)
    expect(inFlight()).toHaveLength(60)
    run(9_000)
    expect(inFlight()).toHaveLength(64)
  })
})

const anyCompetition = fc.record({
  /** ms after which the receivers of each account answer. */
  accounts: fc.array(fc.constantFrom(5, 50, 300, 950), { minLength: 2, maxLength: 10 }),
  total: fc.integer({ min: 32, max: 120 }),
  perAccount: fc.integer({ min: 8, max: 120 }),
})

describe('accounts that always have work', () => {
  it('get at least half of an equal share of slot time each, whatever time their receivers take', () => {
    fc.assert(
      fc.property(anyCompetition, ({ accounts, total, perAccount }) => {
        const receivers = accounts.map((afterMs, n) => receiverOf(`busy-${n}`, 0, afterMs))
        const slotMs = new Map<string, number>()
        const caps = { perEndpoint: 120, perAccount, perOrigin: 120, total, probes: 120 }
        const simulation = simulateReceivers(caps, (started) => {
          expect(simulation.inFlight().length).toBeLessThanOrEqual(total)
          for (const { receiver } of started)
            slotMs.set(receiver.id, (slotMs.get(receiver.id) ?? 0) + receiver.afterMs)
        })
        const refill = () => {
          for (const receiver of receivers)
            for (let left = total - simulation.waitingOf(receiver); left > 0; left--)
              simulation.deliver(receiver)
        }
        simulation.run(5_000, refill)
        slotMs.clear()
        simulation.run(10_000, refill)
        // What each of n accounts holds when it leaves half as many free, or the reserve is all that is left.
        const share = Math.min(
          perAccount,
          (total * 2) / (2 * accounts.length + 1),
          (total * 15) / 16 / accounts.length,
        )
        for (const { id } of receivers)
          expect((slotMs.get(id) ?? 0) / 10_000).toBeGreaterThanOrEqual(Math.floor(share) / 2)
      }),
      { numRuns: propertyRuns(15) },
    )
  })
})
