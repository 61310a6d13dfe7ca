import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { attempt } from '../../src/delivery/attempt.js'
import type { Observation, Sender } from '../../src/ports.js'
import { aDelivery, aWebhook } from './fixtures.js'
import { responseWith } from './harness.js'

const claim = { delivery: aDelivery(), body: '{}' }
const secrets = { keys: [{ key: new Uint8Array(24) }], headers: [] }

function deps(send: Sender['send'], keys = secrets.keys) {
  return {
    clock: manualClock(),
    sender: { send, close: async () => {} },
    endpointSecrets: () => ({ ...secrets, keys }),
  }
}

describe('attempt', () => {
  it('resolves to the request and what was observed of it', async () => {
    const done = await attempt(
      deps(async () => responseWith(204)),
      claim,
      aWebhook(),
      1000,
    )
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
    const { observation } = await attempt(deps(send), claim, aWebhook(), 1000)
    expect(observation.kind).toBe('own_fault')
    expect(JSON.stringify(observation)).not.toContain('secret detail')
  })

  it('sends no unsigned request when the signing secret cannot be decrypted: an internal fault', async () => {
    let sent = 0
    const send = async () => {
      sent++
      return responseWith(401)
    }
    const { observation } = await attempt(
      deps(send, []),
      claim,
      aWebhook({}, { secrets: [{ sealed: 'v1.x' }] }),
      1000,
    )
    expect(observation).toMatchObject({
      kind: 'own_fault',
      detail: expect.stringContaining('service secret'),
    })
    expect(sent).toBe(0)
  })
})
