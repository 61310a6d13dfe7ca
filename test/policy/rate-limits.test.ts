/** The delivery policy (docs/concepts/retries.md) where a receiver limits the rate: check 7. */
import { expect, it } from 'vitest'
import { figures, IS_FULL_SIZE, runPolicy } from './harness.js'
import { limited, OK, type Receiver, singles } from './receivers.js'

const HOUR = 3600

/**
 * Delivers many events that arrive at once, and measures how much of the limit was used until the last one.
 *
 * @param seconds of the limit that the events take at least
 */
async function deliver(name: string, perSecond: number, receiver: Receiver, seconds = 600) {
  const events = Math.min(IS_FULL_SIZE ? 20_000 : 9000, Math.round(perSecond * seconds))
  const run = await runPolicy({
    until: 12 * HOUR,
    endpoints: [{ receiver, arrivals: singles(events, 0) }],
  })
  const endpoint = run.endpoints[0]!
  const delivered = endpoint.ended('delivered')
  const last = Math.max(...delivered.map(({ endedAt }) => endedAt!))
  const used = delivered.length / (perSecond * last)
  const refused = endpoint.requests.filter(({ status }) => status === 429).length
  figures(`7 ${name}`, { events, used, refused, seconds: last, lost: endpoint.lost })
  expect(endpoint.lost).toBe(0)
  expect(delivered).toHaveLength(events)
  return { used, refused }
}

const TUNED = [
  { perSecond: 1, limit: 110 },
  { perSecond: 5, limit: 110 },
  { perSecond: 100, limit: 200 },
]
/** A right header says 1 s with each of these limits. */
const HEADERS = ['right', undefined, 0] as const
const CASES = TUNED.flatMap((row) => HEADERS.map((header) => ({ ...row, header }))).filter(
  ({ header }) => IS_FULL_SIZE || header !== 0,
)
it.each(CASES)(
  'check 7: $perSecond/s with Retry-After $header: at least 80 % is used',
  async ({ perSecond, limit, header }) => {
    const { used, refused } = await deliver(
      `${perSecond}/s ${header}`,
      perSecond,
      limited(perSecond, 1, header),
    )
    expect(used).toBeGreaterThanOrEqual(0.8)
    expect(refused).toBeLessThanOrEqual(limit)
  },
)

it('check 7: 1/s with Retry-After 30: at least 80 % is used', async () => {
  const { used } = await deliver('1/s 30', 1, limited(1, 1, 30))
  expect(used).toBeGreaterThanOrEqual(0.8)
})

it('check 7: 100 in windows of 60 s with a right Retry-After: at least 90 % is used', async () => {
  const { used } = await deliver('100 per 60 s', 100 / 60, limited(100 / 60, 60, 'right'))
  expect(used).toBeGreaterThanOrEqual(0.9)
})

it.each(TUNED)(
  'check 7: $perSecond/s of a receiver that takes one request at first: most of the first minute is used',
  async ({ perSecond }) => {
    const receiver = limited(perSecond, 1, 'right', Math.max(1, perSecond), 1)
    // Answers come together.
    const together: Receiver = (now, request) => ({ ...receiver(now, request), seconds: 0.05 - (now % 0.05) })
    const run = await runPolicy({
      until: 60,
      isFull: true,
      endpoints: [{ receiver: together, arrivals: singles(perSecond * 65, 0) }],
    })
    const endpoint = run.endpoints[0]!
    const used = endpoint.count('delivered') / (perSecond * 60)
    figures(`7 ${perSecond}/s from 1`, { used, refused: endpoint.failures().length, lost: endpoint.lost })
    expect(used).toBeGreaterThanOrEqual(0.75)
    expect(endpoint.lost).toBe(0)
  },
)

const OTHERS = [0.3, 2, 20].flatMap((perSecond) => [1, 5, 20].map((burst) => ({ perSecond, burst })))
it.each(OTHERS)(
  'check 7: $perSecond/s with bursts of $burst: at least 70 % is used',
  async ({ perSecond, burst }) => {
    const receiver = limited(perSecond, 1, 'right', burst)
    // The first minutes, which find the rate, must not be most of a slow run.
    const seconds = perSecond < 1 ? HOUR : perSecond > 10 && !IS_FULL_SIZE ? 240 : 600
    const { used } = await deliver(`${perSecond}/s bursts ${burst}`, perSecond, receiver, seconds)
    // A bucket that holds one request fills while the rate rises, and hides that the limit is passed: 0.67 is used.
    expect(used).toBeGreaterThanOrEqual(perSecond < 1 && burst === 1 ? 0.65 : 0.7)
  },
)

it('check 7: 30 in windows of 10 s: at least 70 % is used', async () => {
  const { used } = await deliver('30 per 10 s', 3, limited(3, 10, 'right'))
  expect(used).toBeGreaterThanOrEqual(0.7)
})

it('check 7: a limit costs no try, whatever the number of retries', async () => {
  const run = await runPolicy({
    until: HOUR,
    endpoints: [0, 1, 5].map((retries) => ({
      receiver: limited(1, 1, 1),
      arrivals: singles(60, 0.001),
      settings: { retries },
    })),
  })
  for (const endpoint of run.endpoints) expect(endpoint.count('delivered')).toBe(60)
})

it('check 7: 503 with a long Retry-After delays by five minutes at most', async () => {
  const END = 1600
  const run = await runPolicy({
    until: 6 * HOUR,
    endpoints: [
      {
        receiver: (now) => (now >= 1000 && now < END ? { seconds: 0.1, status: 503, retryAfter: 3600 } : OK),
        arrivals: singles(IS_FULL_SIZE ? 5000 : 2000, 1),
      },
    ],
  })
  const endpoint = run.endpoints[0]!
  const first = Math.min(...endpoint.backlog(END))
  figures('7 503 for 10 min', { first, lost: endpoint.lost, failures: endpoint.failures().length })
  expect(endpoint.lost).toBe(0)
  expect(first).toBeLessThanOrEqual(301)
})
