/** The preset `kazoo` (docs/concepts/retries.md): check 14. */
import { expect, it } from 'vitest'
import { type EndpointInput, runPolicy } from './harness.js'
import { answers, REFUSED, type Reaction, singles } from './receivers.js'

const DAY = 86_400
const endpointOf = (how: Reaction, retries: number): EndpointInput => ({
  receiver: () => how,
  arrivals: [[1, 'c', 0]],
  settings: { retries },
})

it.each([
  ['500', answers(500)],
  ['503', answers(503)],
  ['503 with Retry-After', answers(503, 10)],
  ['429 with Retry-After', answers(429, 10)],
  ['301', answers(301)],
])('check 14: with the preset kazoo, %s ends a delivery with one request', async (_, how) => {
  const run = await runPolicy({
    until: DAY,
    endpoints: [1, 2, 5].map((retries) => endpointOf(how, retries)),
    options: { preset: 'kazoo' },
  })
  for (const { requests, events } of run.endpoints) {
    expect(requests).toHaveLength(1)
    expect(events[0]!.state).toBe('exhausted')
  }
})

it.each([1, 2, 5])(
  'check 14: with the preset kazoo, refused is tried %i times in all, 2 s apart',
  async (retries) => {
    const run = await runPolicy({
      until: DAY,
      endpoints: [endpointOf(REFUSED, retries)],
      options: { preset: 'kazoo' },
    })
    const { requests, events } = run.endpoints[0]!
    expect(requests).toHaveLength(retries)
    for (const [index, { at }] of requests.entries()) {
      if (index > 0) expect(at - requests[index - 1]!.at).toBeCloseTo(2, 1)
    }
    expect(events[0]!.state).toBe('exhausted')
  },
)

it('check 14: with the preset kazoo, a failing webhook is not paused, and disabled as in KAZOO', async () => {
  // Two tries a minute stay below six in a minute.
  const rare = singles(60, 60)
  const run = await runPolicy({
    until: DAY,
    endpoints: [
      { receiver: () => REFUSED, arrivals: rare, settings: { retries: 2 } },
      { receiver: () => answers(500), arrivals: singles(60, 5), settings: { retries: 2 } },
    ],
    options: { preset: 'kazoo' },
  })
  const [refused, rejected] = run.endpoints
  expect(refused!.pauses).toEqual([])
  expect(refused!.requests).toHaveLength(120)
  expect(refused!.disabledAt).toBeUndefined()
  expect(rejected!.pauses).toEqual([])
  expect(rejected!.disabledAt).toBeLessThan(60)
})
