/** The cause of a failure, from the sender to everybody who may ask for it. */
import { constant, createHookswitch, memoryStore } from 'hookswitch'
import type { Observation, Sender } from 'hookswitch/adapter'
import { prometheusMetrics } from 'hookswitch/prometheus'
import { manualClock, status } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FAILURE_CAUSES, type FailureCause } from '../../src/values/failure-cause.js'
import { parseExposition } from '../adapters/observability/parse-exposition.js'
import { fakeSender, responseWith } from '../delivery/harness.js'
import { channelCreate, nextEvents, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()

const senderOf = (observe: () => Observation): Sender => ({
  send: async () => observe(),
  close: async () => {},
})
const SEEN = 'seen at https://user:hidden@receiver.example.com/?key=hidden whsec_hidden'
const failureWith = (cause: FailureCause): Observation => ({
  kind: 'no_response',
  failure: 'connection',
  detail: SEEN,
  cause,
})
/** What may be shown of `SEEN`. */
const SHOWN = 'seen at https://[redacted]@receiver.example.com/ whsec_[redacted]'

describe('the cause of a failure', () => {
  it('is in the attempt, the explanation, the event, the log and the metrics, and no secret is', async () => {
    const lines: string[] = []
    const note = (fields: object, message: string) => lines.push(JSON.stringify([fields, message]))
    const log = { debug: note, info: note, warn: note, error: note }
    const metrics = prometheusMetrics()
    let cause: FailureCause = 'refused'
    const { hs, callApi, createWebhook } = await startService({
      sender: senderOf(() => failureWith(cause)),
      metrics,
      log,
      pauses: false,
      retryPolicy: constant(1),
    })
    const webhookId = await createWebhook('/hook', { retries: 0 })
    const path = `/v1/accounts/parent/webhooks/${webhookId}`
    for (const [index, [name, sentence]] of Object.entries(FAILURE_CAUSES).entries()) {
      cause = name as FailureCause
      const detail = `${sentence.slice(0, -1)} (${SHOWN}).`
      const ended = nextEvents(hs, 'exhausted', 1)
      const attempted = nextEvents(hs, 'attempt', 1)
      await hs.publish(channelCreate(`leg-${name}`))
      const [end] = await ended
      expect(end).toMatchObject({ webhookId, reason: name, detail })
      expect(await attempted).toMatchObject([{ clientError: 'connection', cause: name, detail }])

      const { data: attempts } = (await callApi('GET', `${path}/attempts?page_size=1`)).json
      expect(attempts).toMatchObject([{ client_error: 'connection', cause: name, detail }])
      const explained = `Gave up after 1 attempt: ${name}. ${detail}`
      expect(await hs.webhooks.explain('parent', end!.deliveryId)).toBe(explained)
      const read = await callApi('GET', `/v1/accounts/parent/deliveries/${end!.deliveryId}`)
      expect(read.json.data).toMatchObject({ reason: name, explain: explained })
      expect(read.json.data.explanation).toEqual({ code: 'exhausted', attempts: 1, reason: name, detail })
      const { data: listed } = (await callApi('GET', `${path}/deliveries?page_size=1`)).json
      expect(listed).toMatchObject([{ explain: `Gave up after 1 attempt: ${name}. ${sentence}` }])

      const line = lines.find((text) => text.includes(`"reason":"${name}"`))
      // After ten lines of a kind they are counted.
      if (index < 10) {
        expect(line).toContain(webhookId)
        expect(line).toContain(detail)
      }
      const { value } = parseExposition(await metrics.text())
      expect(value('hookswitch_attempts_failed_total', { cause: name })).toBe(1)
    }
    expect(JSON.stringify(lines)).not.toContain('hidden')
    expect(JSON.stringify(await hs.webhooks.attempts('parent', webhookId, { limit: 100 }))).not.toContain(
      'hidden',
    )
  })

  it('is in the events about a webhook that is paused or disabled', async () => {
    const clock = manualClock()
    const sender = fakeSender()
    const hs = createHookswitch({ store: memoryStore(), clock, sender: sender as Sender })
    onTestFinished(() => hs.close())
    await hs.start()
    await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
    const webhook = (name: string, hook: string) =>
      hs.webhooks.create('acme', { name, uri: `https://${name}.example.com/`, hook, retries: 5 })
    const { id: webhookId } = await webhook('bad', 'channel_create')
    await webhook('alarm', 'webhook_paused')
    await webhook('end', 'webhook_disabled')
    const received = (name: string) =>
      sender.requests.filter(({ url }) => url.includes(name)).map(({ body }) => JSON.parse(body!))
    const failure = failureWith('certificate_expired')
    const detail = `The certificate of the server has expired (${SHOWN}).`

    sender.script = ({ url }) => (url.includes('bad') ? failure : responseWith(200))
    const paused = nextEvents(hs, 'webhook_paused', 1)
    for (let call = 0; call < 12; call += 1) {
      await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: `call-${call}` })
      await clock.settle()
    }
    expect(await paused).toMatchObject([{ webhookId, reason: 'certificate_expired', detail }])
    expect(received('alarm')).toMatchObject([
      { webhook_id: webhookId, reason: 'certificate_expired', detail },
    ])
    const [waiting] = await hs.webhooks.deliveries('acme', webhookId, { states: ['waiting'], limit: 1 })
    expect(await hs.webhooks.explain('acme', waiting!.id)).toContain(
      `The last attempt failed: certificate_expired. ${detail}`,
    )

    sender.script = ({ url }) =>
      url.includes('bad')
        ? ({ ...responseWith(410), note: 'A header is folded.' } as Observation)
        : responseWith(200)
    const disabled = nextEvents(hs, 'webhook_disabled', 1)
    await hs.webhooks.resume('acme', webhookId)
    await clock.advance(60_000)
    expect(await disabled).toMatchObject([{ webhookId, reason: 'gone', detail: 'A header is folded.' }])
    expect(received('end')).toMatchObject([
      { webhook_id: webhookId, reason: 'gone', detail: 'A header is folded.' },
    ])
  })
})

describe('a redirect', () => {
  it('is not followed, and explained with its target', async () => {
    const { hs, receiver, createWebhook } = await startService()
    receiver.on('/old', [status(308, { headers: { location: '/new?token=hidden' } })])
    await createWebhook('/old', { retries: 0 })
    const ended = nextEvents(hs, 'exhausted', 1)
    await hs.publish(channelCreate('leg'))
    const [end] = await ended
    const target = receiver.url('/new')
    expect(await hs.webhooks.explain('parent', end!.deliveryId)).toBe(
      `Gave up after 1 attempt: status 308. The server redirects to ${target}, and redirects are not followed.`,
    )
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/old'])
  })
})
