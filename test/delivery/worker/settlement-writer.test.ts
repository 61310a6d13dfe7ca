import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import type { DeliveryStore, Settlement, SettlementResult } from '../../../src/delivery/delivery-store.js'
import { writeSettlements } from '../../../src/delivery/worker/settlement-writer.js'
import { aDelivery, aWebhook } from '../fixtures.js'
import { silentLog } from '../harness.js'

const delivery = aDelivery()
const record = { id: 'r', attempt: 1 } as Settlement['record'] & object
function settlement(changes: Partial<Settlement> = {}): Settlement {
  return {
    owner: 'node',
    deliveryId: 'd1',
    webhookId: 'w1',
    expect: { state: 'in_flight', fence: 1 },
    next: { state: 'delivered', attempts: 1, tries: 1, interruptions: 0 },
    record,
    ...changes,
  }
}
const pair = (changes: Partial<Settlement> = {}) => ({ delivery, settlement: settlement(changes) })
const settled: SettlementResult = {
  kind: 'settled',
  endpoint: {
    webhookId: 'w1',
    accountId: 'acc',
    origin: 'https://a.example',
    failing: false,
    dueMs: undefined,
  },
}

function createWriterHarness(answers: (SettlementResult | Error)[] = []) {
  const clock = manualClock()
  const emitted: [string, unknown][] = []
  const calls: { readonly settlements: readonly Settlement[]; readonly now: number }[] = []
  const stop = new AbortController()
  const store = {
    async settle(settlements: readonly Settlement[], now: number) {
      calls.push({ settlements, now })
      const answer = answers.shift() ?? settled
      if (answer instanceof Error) throw answer
      return settlements.map(() => answer)
    },
  } as unknown as DeliveryStore
  const deps = {
    store,
    clock,
    log: silentLog,
    emit: (name: string, payload: unknown) => void emitted.push([name, payload]),
  }
  const write = (pairs = [pair()], refresh = (one: Settlement) => one) =>
    writeSettlements(deps, pairs, refresh, clock.now, stop.signal)
  return { clock, emitted, calls, stop, write }
}

describe('writeSettlements', () => {
  it('emits the attempt and the end of the delivery once', async () => {
    const { emitted, write } = createWriterHarness()
    expect(await write()).toEqual([settled])
    expect(emitted).toEqual([
      ['attempt', record],
      [
        'delivered',
        {
          deliveryId: 'd1',
          webhookId: 'w1',
          accountId: 'acc',
          eventId: 'e1',
          hook: 'channel_create',
          callId: 'call-1',
          attempts: 1,
        },
      ],
    ])
  })

  it('emits only the attempt when the delivery waits for a retry', async () => {
    const { emitted, write } = createWriterHarness()
    await write([pair({ next: { state: 'waiting', dueMs: 9, attempts: 1, tries: 1, interruptions: 0 } })])
    expect(emitted.map(([name]) => name)).toEqual(['attempt'])
  })

  it('emits the reason of the end, and that the webhook was disabled', async () => {
    const disabled = aWebhook({ enabled: false }, { disableReason: 'gone' })
    const { emitted, write } = createWriterHarness([{ ...settled, disabled } as SettlementResult])
    const next = { state: 'cancelled', attempts: 1, tries: 1, interruptions: 0, reason: 'gone' } as const
    await write([pair({ next })])
    expect(emitted[1]).toEqual(['cancelled', expect.objectContaining({ reason: 'gone' })])
    expect(emitted[2]).toEqual(['webhook_disabled', { webhookId: 'w1', accountId: 'acc', reason: 'gone' }])
  })

  it('emits only the end for an end without a request, and nothing for a fenced settlement', async () => {
    const { attempt: _, ...unsent } = record
    const ended = createWriterHarness()
    await ended.write([pair({ record: unsent as Settlement['record'] & object })])
    expect(ended.emitted.map(([name]) => name)).toEqual(['delivered'])
    const fenced = createWriterHarness([{ kind: 'fenced' }])
    expect(await fenced.write()).toEqual([{ kind: 'fenced' }])
    expect(fenced.emitted).toEqual([])
  })

  it('retries with growing pauses until the store is available, with the time of each try', async () => {
    const { clock, emitted, calls, write } = createWriterHarness(
      Array.from({ length: 10 }, () => new Error('unavailable')),
    )
    const begun = clock.now()
    const writing = write()
    await clock.advance(60_000)
    expect(await writing).toEqual([settled])
    const pauses = calls.map(({ now }, index) => now - (calls[index - 1]?.now ?? begun))
    expect(pauses).toEqual([0, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000])
    expect(emitted.filter(([name]) => name === 'attempt')).toHaveLength(1)
  })

  it('gives up after one more try when the signal aborts', async () => {
    const { clock, emitted, calls, stop, write } = createWriterHarness(
      Array.from({ length: 99 }, () => new Error('unavailable')),
    )
    const writing = write()
    await clock.advance(50)
    stop.abort()
    await clock.settle()
    expect(await writing).toBeUndefined()
    expect(calls).toHaveLength(2)
    expect(emitted).toEqual([])
    expect(clock.sleepers().count).toBe(0)
  })

  it('tries once even if the signal has aborted', async () => {
    const { stop, write } = createWriterHarness()
    stop.abort()
    expect(await write()).toEqual([settled])
  })

  it('refreshes settlements before each try', async () => {
    const { clock, calls, write } = createWriterHarness([new Error('unavailable')])
    let failures = 1
    const writing = write([pair()], (one) => ({
      ...one,
      endpoint: { epoch: 1, health: { failuresInRow: failures } },
    }))
    failures = 7
    await clock.advance(100)
    await writing
    expect(calls.map(({ settlements }) => settlements[0]?.endpoint?.health?.failuresInRow)).toEqual([1, 7])
  })
})
