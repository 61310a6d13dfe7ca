/** The delivery policy (docs/concepts/retries.md) where the network of the node is away: check 12. */
import { describe, expect, it } from 'vitest'
import { countGivenUp, type EndpointInput, figures, IS_FULL_SIZE, runPolicy } from './harness.js'
import { answers, away, calls, HUNG, largest, REFUSED, type Reaction } from './receivers.js'

const HOUR = 3600
const DAY = 24 * HOUR
const BEGIN = 200
/** An answer takes a tenth of a second. */
const LATENCY = 0.2

const UNREACHABLE: Reaction = {
  seconds: 3,
  failure: { failure: 'connection', cause: 'unreachable', isSent: false },
}
const NAME_SERVER: Reaction = { seconds: 5, failure: { failure: 'dns', cause: 'name_server', isSent: false } }
const FAULTS = { hung: HUNG, refused: REFUSED, unreachable: UNREACHABLE, names: NAME_SERVER }

const origins = (end: number, how: Reaction, rate: number, count: number): readonly EndpointInput[] =>
  Array.from({ length: count }, (_, seed) => ({
    receiver: away(BEGIN, end, how),
    arrivals: calls(rate, 0, end + 120, 100 + seed),
    settings: { retries: 1 },
  }))

describe('check 12: the network of the node is away', { timeout: 900_000 }, () => {
  it.each(Object.entries(FAULTS))('all origins away for 3 h (%s): nothing is charged', async (name, how) => {
    // The backlogs of 20 origins share the limit of the node.
    const isLarge = IS_FULL_SIZE || name === 'hung'
    const end = BEGIN + 3 * HOUR
    const givenUp: number[] = []
    const run = await runPolicy({
      until: end + DAY,
      hasWitness: false,
      endpoints: origins(end, how, 0.05, isLarge ? 20 : 6),
      actions: [
        {
          at: end - 1,
          async run({ hs, endpoints }) {
            for (const endpoint of endpoints) givenUp.push(await countGivenUp(hs, endpoint))
          },
        },
      ],
    })
    const last = largest(run.endpoints.map((endpoint) => largest(endpoint.backlog(end))))
    const lost = run.endpoints.reduce((total, endpoint) => total + endpoint.lost, 0)
    const disabled = run.endpoints.filter(({ disabledAt }) => disabledAt !== undefined)
    figures(`12 ${name}`, { last, lost, requests: run.endpoints[0]!.failures().length })
    expect(lost).toBe(0)
    expect(givenUp).toEqual(run.endpoints.map(() => 0))
    expect(disabled).toEqual([])
    expect(last).toBeLessThanOrEqual(75 + LATENCY)
  })

  it('all origins away for 30 h: nothing is disabled, however early it would be', async () => {
    const end = BEGIN + 30 * HOUR
    const run = await runPolicy({
      until: end + 2 * HOUR,
      isFull: true,
      hasWitness: false,
      endpoints: origins(end, HUNG, IS_FULL_SIZE ? 0.05 : 0.002, IS_FULL_SIZE ? 20 : 6),
      options: { autoDisable: { kind: 'silent', afterMs: 2 * HOUR * 1000, exhausted: 20 } },
    })
    const expired = run.endpoints.map((endpoint) => endpoint.count('expired'))
    figures('12 30 h', { expired: expired.reduce((total, count) => total + count) })
    expect(run.endpoints.filter(({ disabledAt }) => disabledAt !== undefined)).toEqual([])
    // More than the 20 that would disable each.
    expect(Math.min(...expired)).toBeGreaterThan(20)
  })

  it('one answer of any origin, even an error, shows that the network is there', async () => {
    const end = BEGIN + HOUR
    const [first, ...others] = origins(end, HUNG, 0.05, IS_FULL_SIZE ? 20 : 10)
    const outages: unknown[] = []
    const run = await runPolicy({
      until: end,
      isFull: true,
      hasWitness: false,
      endpoints: [{ ...first!, receiver: () => answers(500) }, ...others],
      actions: Array.from({ length: 60 }, (_, minute) => ({
        at: BEGIN + minute * 60,
        run: ({ hs }) => outages.push(...hs.nodeHealth().outages),
      })),
    })
    expect(outages).toEqual([])
    expect(run.endpoints[0]!.count('exhausted')).toBeGreaterThan(0)
  })
})
