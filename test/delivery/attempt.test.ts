import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { attempt } from '../../src/delivery/attempt.js'
import type { Observation, Sender } from '../../src/ports.js'
import { aDelivery, aWebhook } from './fixtures.js'
import { answered } from './world.js'

const claim = { delivery: aDelivery(), body: '{}' }
const material = { keys: [{ key: new Uint8Array(24) }], headers: [] }

function doors(send: Sender['send'], keys = material.keys) {
  return {
    clock: manualClock(),
    sender: { send, close: async () => {} },
    material: () => ({ ...material, keys }),
  }
}

describe('an attempt', () => {
  it('tells what was seen, and with which request', async () => {
    const done = await attempt(
      doors(async () => answered(204)),
      claim,
      aWebhook(),
      1000,
    )
    expect(done.observation).toEqual(answered(204))
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
    ['answers nothing', async () => undefined as unknown as Observation],
  ])('is a fault of ours where the sender %s', async (_, send) => {
    const { observation } = await attempt(doors(send), claim, aWebhook(), 1000)
    expect(observation.kind).toBe('own_fault')
    expect(JSON.stringify(observation)).not.toContain('secret detail')
  })

  it('sends nothing unsigned where the signing secret cannot be opened: a fault of ours', async () => {
    let sent = 0
    const send = async () => {
      sent++
      return answered(401)
    }
    const { observation } = await attempt(
      doors(send, []),
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
