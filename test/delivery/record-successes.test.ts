import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AttemptRecord } from '../../src/delivery/attempt-record.js'
import { constant } from '../../src/delivery/policy.js'
import { replayDelivery } from '../../src/delivery/replay.js'
import { aWebhook } from './fixtures.js'
import { createHarness, type Harness, headerOf, responseWith } from './harness.js'

const POLICY = constant(1000, { jitter: 0 })
const emittedAttempts = (harness: Harness) =>
  harness.emitted.filter(({ name }) => name === 'attempt').map(({ payload }) => payload as AttemptRecord)

describe('recordSuccesses: false', () => {
  it('stores only the failed attempts with their numbers, and emits every attempt to the host', async () => {
    const harness = await createHarness([aWebhook({ retries: 5 })])
    harness.sender.script = (_, attempt) => responseWith([500, 302, 204][attempt - 1]!)
    const node = harness.node({ policy: POLICY, recordSuccesses: false })
    await node.start()
    await harness.publish('call')
    await harness.clock.advance(5000)
    expect(
      (await harness.attempts()).map(({ attempt, result, status }) => [attempt, result, status]),
    ).toEqual([
      [1, 'failure', 500],
      [2, 'failure', 302],
    ])
    const emitted = emittedAttempts(harness)
    expect(emitted.map(({ attempt, result, status }) => [attempt, result, status])).toEqual([
      [1, 'failure', 500],
      [2, 'failure', 302],
      [3, 'success', 204],
    ])
    // An emitted record is complete, stored or not.
    expect(Object.keys(emitted[2]!).sort()).toEqual(
      Object.keys(emitted[0]!)
        .filter((key) => key !== 'reason')
        .sort(),
    )
    expect(await harness.deliveries()).toMatchObject([{ state: 'delivered', attempts: 3, tries: 3 }])
    expect(harness.emitted.at(-1)).toMatchObject({ name: 'delivered', payload: { attempts: 3 } })
    await node.close(0)
  })

  it('still records internal faults, cancellations and ends without a request', async () => {
    const harness = await createHarness([aWebhook({ retries: 0, maxAgeSeconds: 60 })])
    harness.sender.script = (request, attempt) => {
      const { call_id: call } = JSON.parse(request.body!)
      if (call === 'own-fault' && attempt === 1) return { kind: 'own_fault', detail: 'EMFILE' }
      return responseWith(call === 'gone' ? 410 : 200)
    }
    const node = harness.node({ recordSuccesses: false })
    await harness.publish('old')
    await harness.clock.advance(61_000)
    await node.start()
    await harness.publish('own-fault')
    await harness.clock.advance(2000)
    await harness.publish('gone')
    await harness.clock.settle()
    expect((await harness.attempts()).map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [undefined, 'expired'],
      [1, 'own fault'],
      [1, 'bad status'],
    ])
    await node.close(0)
  })

  it('keeps a delivered delivery readable and replayable', async () => {
    const harness = await createHarness()
    const node = harness.node({ recordSuccesses: false })
    await node.start()
    await harness.publish('call')
    await harness.clock.settle()
    const [old] = await harness.deliveries()
    const deps = { ...harness.accept, ...harness.store }
    const again = await replayDelivery(deps, 'acc', 'w1', old!.id)
    await harness.clock.settle()
    expect(harness.sender.requests.map((request) => headerOf(request, 'webhook-id'))).toEqual([
      old!.id,
      again,
    ])
    expect(await harness.attempts()).toEqual([])
    await node.close(0)
  })

  it('changes neither states, nor numbers, nor emitted events', async () => {
    const answers = fc.array(fc.constantFrom(200, 204, 302, 404, 500, 503), { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(answers, fc.nat(12), async (script, calls) => {
        const run = async (recordSuccesses: boolean) => {
          const harness = await createHarness([aWebhook({ retries: 2 })])
          let turn = 0
          harness.sender.script = () => responseWith(script[turn++ % script.length]!)
          const node = harness.node({ policy: POLICY, recordSuccesses })
          await node.start()
          for (let call = 0; call < calls; call++) await harness.publish(`call-${call % 4}`)
          await harness.clock.advance(7_200_000)
          await node.close(0)
          const stored = await harness.attempts()
          return { deliveries: await harness.deliveries(), emitted: harness.emitted, stored }
        }
        const [all, failures] = [await run(true), await run(false)]
        expect(failures.deliveries).toEqual(all.deliveries)
        expect(failures.emitted).toEqual(all.emitted)
        const facts = (list: readonly AttemptRecord[]) =>
          list.map(({ id, attempt, result }) => [id, attempt, result])
        expect(facts(failures.stored)).toEqual(
          facts(all.stored).filter(([, , result]) => result === 'failure'),
        )
      }),
      { numRuns: 25 },
    )
  })
})
