/** The delivery policy (docs/concepts/retries.md) where a receiver answers after the limit of an attempt: check 15. */
import { expect, it } from 'vitest'
import { figures, runPolicy } from './harness.js'
import { answers, calls } from './receivers.js'

const HOUR = 3600
const DAY = 24 * HOUR
const LATE = answers(200, undefined, 12)

it('check 15: an event whose receiver answers after 12 s is delivered by a probe, which says that it was late', async () => {
  const run = await runPolicy({
    until: DAY,
    endpoints: [{ receiver: () => LATE, arrivals: [[1, 'c', 0]] }],
    options: { recordSuccesses: true },
  })
  const { events, requests, accountId, webhookId } = run.endpoints[0]!
  expect(events[0]!.state).toBe('delivered')
  const attempts = await run.hs.webhooks.attempts(accountId, webhookId, { ascending: true })
  figures('15 one event', { seconds: events[0]!.endedAt, requests: requests.length })
  expect(attempts.map(({ late = false }) => late)).toEqual(
    attempts.map((_, index) => index === attempts.length - 1),
  )
  expect(attempts.at(-1)).toMatchObject({ result: 'success', status: 200 })
  const [delivery] = await run.hs.webhooks.deliveries(accountId, webhookId)
  const sentence = await run.hs.webhooks.explain(accountId, delivery!.id)
  expect(sentence).toMatch(/answers after 12 s, the limit is 10 s/)
})

it('check 15: traffic to such a receiver arrives, once each from the first late answer on', async () => {
  const sentences: string[] = []
  const run = await runPolicy({
    until: DAY,
    endpoints: [{ receiver: () => LATE, arrivals: calls(0.06, 0, 2 * HOUR) }],
    actions: [0.5, 1, 1.5].map((hours) => ({
      at: hours * HOUR,
      async run({ hs, endpoints: [endpoint] }) {
        const { accountId, webhookId } = endpoint!
        const states = ['waiting', 'in_flight'] as const
        for (const { id } of await hs.webhooks.deliveries(accountId, webhookId, { states }))
          sentences.push(await hs.webhooks.explain(accountId, id))
      },
    })),
  })
  const endpoint = run.endpoints[0]!
  const { events, requests } = endpoint
  const firstLate = Math.min(...events.map(({ endedAt = Infinity }) => endedAt))
  const repeated = events.filter(
    (event) => endpoint.requestsFor(event).filter(({ at }) => at >= firstLate).length > 1,
  )
  figures('15 traffic', {
    events: events.length,
    lost: endpoint.lost,
    requests: requests.length,
    firstLate,
    repeated: repeated.length,
  })
  expect(endpoint.lost).toBe(0)
  expect(endpoint.pending).toBe(0)
  expect(repeated).toEqual([])
  // The attempts before it reach the receiver too.
  expect(requests.length - events.length).toBeLessThanOrEqual(30)
  expect(
    sentences.filter((sentence) => /answers after 12 s, the limit is 10 s/.test(sentence)).length,
  ).toBeGreaterThan(0)
})
