import { manualClock } from 'hookswitch/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/runtime/clock.js'
import { aWebhook } from '../delivery/fixtures.js'
import { createHarness, responseWith } from '../delivery/harness.js'

const MANY = 15

describe('Node does not warn of a listener leak', () => {
  let warnings: Error[] = []
  const record = (warning: Error) => {
    if (warning.name === 'MaxListenersExceededWarning') warnings.push(warning)
  }
  beforeEach(() => {
    warnings = []
    process.on('warning', record)
  })
  afterEach(() => void process.off('warning', record))

  it.each([systemClock(), manualClock()])('when many sleeps share one signal', async (clock) => {
    const ending = new AbortController()
    const sleeps = Array.from({ length: MANY }, () => clock.sleep(60_000, ending.signal))
    ending.abort()
    await Promise.all(sleeps)
    await new Promise(setImmediate)
    expect(warnings).toEqual([])
  })

  it('while many settlements wait for an unavailable store', async () => {
    const ids = Array.from({ length: MANY }, (_, index) => `w${index}`)
    const harness = await createHarness(ids.map((id) => aWebhook({ uri: `https://${id}.example/` }, { id })))
    harness.sender.script = () => undefined
    const node = harness.node()
    await node.start()
    await harness.publish('a')
    await harness.clock.settle()
    expect(harness.sender.open).toHaveLength(MANY)
    harness.faults.failing.add('commit')
    for (const { answer } of [...harness.sender.open]) {
      answer(responseWith(200))
      await harness.clock.settle()
    }
    expect(warnings).toEqual([])
    harness.faults.failing.clear()
    await harness.clock.advance(5000)
    for (const id of ids) expect(await harness.deliveries(id)).toMatchObject([{ state: 'delivered' }])
    await node.close(0)
  })
})
