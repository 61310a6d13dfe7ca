import { createHookswitch, errorCode, memoryStore } from 'hookswitch'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'

const DAY_MS = 86_400_000
const leg = { callId: 'a', accountId: 'acme', state: '{"from":"+15551234"}' }

async function started(options: object = {}) {
  const hs = createHookswitch({ store: memoryStore(), ...options })
  await hs.start()
  onTestFinished(() => hs.close())
  await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
  return hs
}

describe('hs.openLegs', () => {
  it('stores the open legs of each source', async () => {
    const { openLegs } = await started()
    await openLegs.write('switch', { put: [leg, { ...leg, callId: 'b' }], remove: [] })
    await openLegs.write('switch', { put: [], remove: ['b'] })
    expect(await openLegs.list('switch', undefined, 9)).toEqual([leg])
    expect(await openLegs.list('switch', 'a', 9)).toEqual([])
    expect(await openLegs.list('another', undefined, 9)).toEqual([])
  })

  it('is unavailable before start and after close', async () => {
    const hs = createHookswitch({ store: memoryStore() })
    expect(await hs.openLegs.list('switch', undefined, 9).catch(errorCode)).toBe('StoreUnavailable')
    await hs.start()
    await hs.close()
    expect(await hs.openLegs.write('switch', { put: [], remove: [] }).catch(errorCode)).toBe('Closing')
  })

  it.each([
    ['source', '', { put: [], remove: [] }],
    ['put', 'switch', undefined],
    ['remove', 'switch', { put: [] }],
    ['put.0.callId', 'switch', { put: [{ ...leg, callId: 'x'.repeat(256) }], remove: [] }],
    ['put.0.accountId', 'switch', { put: [{ ...leg, accountId: 7 }], remove: [] }],
    ['put.1.state', 'switch', { put: [leg, { ...leg, state: { from: '1001' } }], remove: [] }],
    ['put.0.state', 'switch', { put: [{ ...leg, state: JSON.stringify('é'.repeat(2_048)) }], remove: [] }],
    ['remove.0', 'switch', { put: [], remove: ['\0'] }],
    ['put', 'switch', { put: [leg], remove: ['a'] }],
  ])('names the field %s of an invalid write, and writes nothing', async (field, source, changes) => {
    const { openLegs } = await started()
    const written = openLegs.write(source, changes as never)
    await expect(written).rejects.toMatchObject({ code: 'InvalidInput', field })
    expect(await openLegs.list('switch', undefined, 9)).toEqual([])
  })

  it('rejects a page without a valid limit', async () => {
    const { openLegs } = await started()
    for (const limit of [0, 1.5, 10_001]) {
      const listed = openLegs.list('switch', undefined, limit)
      await expect(listed).rejects.toMatchObject({ code: 'InvalidInput', field: 'limit' })
    }
  })

  it('forgets a leg that no source removes after the days of retention', async () => {
    const clock = manualClock()
    const { openLegs } = await started({ clock, retentionDays: 2 })
    await openLegs.write('switch', { put: [leg], remove: [] })
    await clock.advance(1.9 * DAY_MS)
    expect(await openLegs.list('switch', undefined, 9)).toEqual([leg])
    await clock.advance(0.2 * DAY_MS)
    expect(await openLegs.list('switch', undefined, 9)).toEqual([])
  })
})

describe('hs.erase and open legs', () => {
  it('erases the open legs of a number, of which nothing else is stored', async () => {
    const hs = await started()
    const other = { ...leg, callId: 'b', state: '{"from":"+155512349"}' }
    await hs.openLegs.write('switch', { put: [leg, other], remove: [] })
    const erased = await hs.erase({ accountId: 'acme', number: '+15551234' })
    expect(erased).toEqual({ callIds: ['a'], rows: 1 })
    expect(await hs.openLegs.list('switch', undefined, 9)).toEqual([other])
  })

  it('erases the open leg of a call, and those of an account', async () => {
    const hs = await started()
    const legs = ['a', 'b', 'c'].map((callId) => ({ ...leg, callId }))
    await hs.openLegs.write('switch', { put: legs, remove: [] })
    expect((await hs.erase({ accountId: 'acme', callId: 'b' })).rows).toBe(1)
    expect(await hs.openLegs.list('switch', undefined, 9)).toEqual([legs[0], legs[2]])
    expect(await hs.erase({ accountId: 'acme' })).toEqual({ rows: 2 })
    expect(await hs.openLegs.list('switch', undefined, 9)).toEqual([])
  })
})
