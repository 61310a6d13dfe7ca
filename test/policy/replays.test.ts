/** The delivery policy (docs/concepts/retries.md) for old events: replays, and patient retries (check 13). */
import { expect, it } from 'vitest'
import { figures, replayAll, runPolicy } from './harness.js'
import { answers, away, healthy, REFUSED } from './receivers.js'

const MINUTE = 60
const DAY = 86_400
const RECORDED = { recordSuccesses: true }

it('check 13: a replay of an event that is three days old is delivered', async () => {
  const run = await runPolicy({
    until: 4 * DAY,
    isFull: true,
    endpoints: [{ receiver: healthy, arrivals: [[1, 'c', 0]] }],
    options: RECORDED,
    actions: [
      { at: 3 * DAY, run: ({ hs, endpoints }) => replayAll(hs, endpoints[0]!, { result: 'success' }) },
    ],
  })
  const { replays, requests } = run.endpoints[0]!
  expect(requests.map(({ isReplay }) => isReplay)).toEqual([false, true])
  expect(replays.map(({ state }) => state)).toEqual(['delivered'])
})

it('check 13: a replay to a dead receiver ends 24 h after the replay', async () => {
  const run = await runPolicy({
    until: 5 * DAY,
    isFull: true,
    endpoints: [{ receiver: away(DAY, Infinity, REFUSED), arrivals: [[1, 'c', 0]] }],
    options: RECORDED,
    actions: [
      { at: 3 * DAY, run: ({ hs, endpoints }) => replayAll(hs, endpoints[0]!, { result: 'success' }) },
    ],
  })
  const { replays } = run.endpoints[0]!
  expect(replays.map(({ state }) => state)).toEqual(['expired'])
  const age = replays[0]!.at - 3 * DAY
  figures('13 dead receiver', { hours: age / 3600 })
  expect(age).toBeGreaterThanOrEqual(DAY)
  expect(age).toBeLessThanOrEqual(DAY + 2 * MINUTE)
})

it('check 13: with the policy patient, an event that is rejected is tried nine times more, in four days', async () => {
  const run = await runPolicy({
    until: 6 * DAY,
    endpoints: [{ receiver: () => answers(500), arrivals: [[1, 'c', 0]] }],
    options: { retryPolicy: 'patient' },
  })
  const { events, requests } = run.endpoints[0]!
  figures('13 patient', { hours: events[0]!.endedAt! / 3600, requests: requests.length })
  expect(requests.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  expect(events[0]!.state).toBe('exhausted')
})
