import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { type AttemptDeps, attempt } from '../../src/delivery/attempt.js'
import type { AttemptResult } from '../../src/delivery/attempt-record.js'
import type { DefaultSender, Observation, Sender } from '../../src/ports.js'
import type { Webhook } from '../../src/webhooks/webhook.js'
import { aDelivery, aWebhook } from './fixtures.js'
import { responseWith } from './harness.js'

const delivery = { ...aDelivery(), body: '{}', traceparent: undefined }
const secrets = { keys: [{ key: new Uint8Array(24) }], headers: [] }

function deps(send: Sender['send'], keys = secrets.keys) {
  return {
    clock: manualClock(),
    sender: { send, close: async () => {} },
    endpointSecrets: () => ({ ...secrets, keys }),
  }
}

const attemptOnce = (deps: AttemptDeps, webhook: Webhook = aWebhook()) =>
  new Promise<AttemptResult>((resolve) => attempt(deps, delivery, webhook, 1000, resolve))

describe('attempt', () => {
  it('passes on the request and what was observed of it', async () => {
    const done = await attemptOnce(deps(async () => responseWith(204)))
    expect(done.observation).toEqual(responseWith(204))
    expect(done.request).toMatchObject({ method: 'POST', body: '{}', deadlineMs: 1000 })
  })

  it.each<[string, Sender['send']]>([
    [
      'throws',
      () => {
        throw new TypeError('secret detail')
      },
    ],
    ['rejects', () => Promise.reject(new TypeError('secret detail'))],
    ['returns no observation', async () => undefined as unknown as Observation],
  ])('is an internal fault when the sender %s', async (_, send) => {
    const { observation } = await attemptOnce(deps(send))
    expect(observation.kind).toBe('own_fault')
    expect(JSON.stringify(observation)).not.toContain('secret detail')
  })

  it('sends no unsigned request when the signing secret cannot be decrypted: an internal fault', async () => {
    let sent = 0
    const send = async () => {
      sent++
      return responseWith(401)
    }
    const { observation } = await attemptOnce(deps(send, []), aWebhook({}, { secrets: [{ sealed: 'v1.x' }] }))
    expect(observation).toMatchObject({
      kind: 'own_fault',
      detail: expect.stringContaining('service secret'),
    })
    expect(sent).toBe(0)
  })

  it('passes on the result of the default sender without a promise', () => {
    const sender: DefaultSender = {
      send: () => Promise.reject(new Error('not used')),
      connect: () => Promise.reject(new Error('not used')),
      sendWithCallback: (_, onEnd) => onEnd(responseWith(201)),
      cancel: () => {},
      releaseIdle: () => {},
      close: async () => {},
    }
    const results: AttemptResult[] = []
    attempt({ ...deps(sender.send), sender }, delivery, aWebhook(), 1000, (result) => results.push(result))
    expect(results.map(({ observation }) => observation)).toEqual([responseWith(201)])
  })

  it('throws when no request can be built', () => {
    const endpointSecrets = () => {
      throw new RangeError('no secrets')
    }
    const onEnd = () => expect.unreachable()
    const failing = { ...deps(async () => responseWith(200)), endpointSecrets }
    expect(() => attempt(failing, delivery, aWebhook(), 1000, onEnd)).toThrow(RangeError)
  })
})
