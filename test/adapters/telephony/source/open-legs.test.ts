import fc from 'fast-check'
import { HookswitchError, type Log } from 'hookswitch'
import type { OpenLeg, OpenLegs } from 'hookswitch/adapter'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { decodeLeg, encodeLeg, type SavedLeg } from '../../../../adapters/telephony/source/open-leg-state.js'
import { createOpenLegRecorder } from '../../../../adapters/telephony/source/open-legs.js'
import { propertyRuns } from '../../../support/property-runs.js'

const savedLeg = (changes: Partial<SavedLeg> = {}): SavedLeg => ({
  accountId: 'acme',
  leg: { createdMs: 1 },
  parties: { from: '1001' },
  variables: {},
  ...changes,
})

/** Rows by call id, with failures of the next writes. */
function fakeStore(rows = new Map<string, OpenLeg>()) {
  const failures: unknown[] = []
  const store = {
    rows,
    writes: [] as string[],
    failNext: (...errors: unknown[]) => void failures.push(...errors),
    async write(_source: string, { put, remove }: Parameters<OpenLegs['write']>[1]) {
      store.writes.push(`+${put.map((leg) => leg.callId).join()} -${remove.join()}`)
      await new Promise(setImmediate)
      const failure = failures.shift()
      if (failure) throw failure
      for (const leg of put) rows.set(leg.callId, leg)
      for (const callId of remove) rows.delete(callId)
    },
    async list(_source: string, after: string | undefined, limit: number) {
      const failure = failures.shift()
      if (failure) throw failure
      const ids = [...rows.keys()].filter((callId) => after === undefined || callId > after).sort()
      return ids.slice(0, limit).map((callId) => rows.get(callId) as OpenLeg)
    },
  }
  return store
}

function start(rows?: Map<string, OpenLeg>, refuses: (callId: string) => boolean = () => false) {
  const clock = manualClock()
  const store = fakeStore(rows)
  const open = new Map<string, SavedLeg>()
  const waiting = new Set<string>()
  const logged: string[] = []
  const line = (level: string) => (_: object, message: string) => void logged.push(`${level} ${message}`)
  const log: Log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
  const recorder = createOpenLegRecorder({
    store,
    source: 'switch',
    legs: {
      save: (callId) => open.get(callId),
      restore(callId, saved) {
        if (refuses(callId)) return false
        open.set(callId, saved)
        return true
      },
    },
    isWaiting: (callId) => waiting.has(callId),
    clock,
    random: seededRandom(1),
    log,
  })
  return { ...recorder, clock, store, open, waiting, logged }
}

const unavailable = () =>
  new HookswitchError('StoreUnavailable', 'the disk is full', { retryAfterSeconds: 1 })

describe('the recorder of open legs', () => {
  it('writes what changed in one turn at once, and what changes during a write with the next one', async () => {
    const { touch, open, store, clock } = start()
    for (const callId of ['a', 'b', 'c']) open.set(callId, savedLeg())
    touch('a')
    touch('b')
    touch('a')
    await clock.yield()
    await new Promise(setImmediate)
    touch('c')
    open.delete('a')
    touch('a')
    await clock.settle()
    expect(store.writes).toEqual(['+a,b -', '+c -a'])
    expect([...store.rows.keys()]).toEqual(['b', 'c'])
  })

  it('neither writes a leg that ended before it was stored, nor removes what was never stored', async () => {
    const { touch, store, clock } = start()
    touch('a')
    await clock.settle()
    expect(store.writes).toEqual([])
  })

  it('does not store the state of a leg while events of it wait to be published', async () => {
    const { touch, open, waiting, store, clock } = start()
    open.set('a', savedLeg({ leg: { answered: false } }))
    touch('a')
    await clock.settle()
    open.set('a', savedLeg({ leg: { answered: true } }))
    waiting.add('a')
    touch('a')
    await clock.settle()
    expect(decodeLeg(store.rows.get('a') as OpenLeg)?.leg).toEqual({ answered: false })
    waiting.delete('a')
    touch('a')
    await clock.settle()
    expect(decodeLeg(store.rows.get('a') as OpenLeg)?.leg).toEqual({ answered: true })
  })

  it('repeats a write that failed, with what changed meanwhile, and logs it once', async () => {
    const { touch, open, store, clock, logged } = start()
    open.set('a', savedLeg())
    store.failNext(unavailable(), unavailable())
    touch('a')
    await clock.settle()
    open.set('b', savedLeg())
    touch('b')
    await clock.runUntil(() => store.rows.size === 2)
    expect(logged).toEqual(['warn storing open legs failed: it is retried'])
  })

  it('removes a leg although the write of it seemed to fail', async () => {
    const { touch, open, store, clock } = start()
    open.set('a', savedLeg())
    const write = store.write
    store.write = async (...args) => {
      await write(...args)
      store.write = write
      throw unavailable()
    }
    touch('a')
    await clock.settle()
    expect([...store.rows.keys()]).toEqual(['a'])
    open.delete('a')
    touch('a')
    await clock.runUntil(() => store.rows.size === 0)
  })

  it('gives up a write that is refused for good, says so, and continues with later ones', async () => {
    const { touch, open, store, clock, logged } = start()
    open.set('a', savedLeg())
    store.failNext(new HookswitchError('InvalidInput', 'wrong'))
    touch('a')
    await clock.settle()
    expect(logged).toEqual(['error open legs are not stored'])
    touch('a')
    await clock.settle()
    expect([...store.rows.keys()]).toEqual(['a'])
  })

  it('restores every stored leg once, page by page, also after a failure', async () => {
    const rows = new Map<string, OpenLeg>()
    for (let index = 0; index < 2_500; index += 1) {
      const callId = `leg-${index}`
      rows.set(callId, encodeLeg(callId, savedLeg({ leg: { index } })) as OpenLeg)
    }
    const { load, open, store, logged } = start(rows)
    store.failNext(undefined, unavailable())
    await expect(load(new AbortController().signal)).rejects.toMatchObject({ code: 'StoreUnavailable' })
    await load(new AbortController().signal)
    expect(open.size).toBe(2_500)
    for (const [callId, { leg }] of open) expect(callId).toBe(`leg-${leg.index}`)
    expect(logged.at(-1)).toBe('info continuing legs that were open at the last end')
  })

  it('removes a stored leg that cannot be restored, and one that ended since', async () => {
    const row = (callId: string) => encodeLeg(callId, savedLeg()) as OpenLeg
    const rows = new Map([
      ['a', row('a')],
      ['b', row('b')],
      ['c', { ...row('c'), state: '{"format":0}' }],
      ['d', { ...row('d'), state: 'torn' }],
    ])
    const { load, touch, open, store, clock, logged } = start(rows, (callId) => callId === 'b')
    await load(new AbortController().signal)
    await clock.settle()
    expect([...store.rows.keys()]).toEqual(['a'])
    expect(logged).toContain('warn stored legs cannot be continued: they are removed')
    open.delete('a')
    touch('a')
    await clock.settle()
    expect(store.rows.size).toBe(0)
  })

  it('leaves a stored leg of a later version where it is, and says so', async () => {
    const later = { callId: 'later', accountId: 'acme', state: '{"format":2,"leg":{"createdMs":1}}' }
    const { load, store, open, logged, clock } = start(new Map([['later', later]]))
    await load(new AbortController().signal)
    await clock.settle()
    expect(open.size).toBe(0)
    expect([...store.rows.values()]).toEqual([later])
    expect(store.writes).toEqual([])
    expect(logged).toEqual(['warn stored legs of a later version are left to nodes of that version'])
  })

  it('writes the last changes at the close, except those of legs whose events are left', async () => {
    const { touch, keep, close, open, store, clock } = start()
    for (const callId of ['a', 'b']) open.set(callId, savedLeg())
    touch('a')
    touch('b')
    await clock.settle()
    open.clear()
    touch('a')
    touch('b')
    keep('b')
    await close(1_000)
    expect([...store.rows.keys()]).toEqual(['b'])
    touch('b')
    await clock.settle()
    expect([...store.rows.keys()]).toEqual(['b'])
  })

  it('says at the close that a write that the store does not answer is not stored', async () => {
    const { touch, close, open, store, clock, logged } = start()
    store.write = () => new Promise(() => {})
    open.set('a', savedLeg())
    touch('a')
    await clock.settle()
    const closed = close(1_000)
    await clock.advance(1_000)
    await closed
    expect(logged).toEqual(['warn the last changes of open legs are not stored'])
  })

  it('stops after the time of the close, and says what is not stored', async () => {
    const { touch, close, open, store, clock, logged } = start()
    open.set('a', savedLeg())
    store.failNext(...Array.from({ length: 99 }, unavailable))
    touch('a')
    let isClosed = false
    void close(1_000).then(() => {
      isClosed = true
    })
    await clock.advance(999)
    expect(isClosed).toBe(false)
    await clock.advance(1)
    expect(isClosed).toBe(true)
    expect(logged.at(-1)).toBe('warn the last changes of open legs are not stored')
    const { length } = store.writes
    await clock.advance(60_000)
    expect(store.writes).toHaveLength(length)
  })
})

describe('the state of an open leg', () => {
  it('is read as it was written, or not at all', () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean())
    const values = fc.dictionary(fc.string(), value, { maxKeys: 5, noNullPrototype: true })
    const anyLeg = fc.record({ accountId: fc.string(), leg: values, parties: values, variables: values })
    fc.assert(
      fc.property(anyLeg, (saved) => {
        const row = encodeLeg('a', saved)
        if (row) expect(decodeLeg(row)).toEqual(saved)
      }),
      { numRuns: propertyRuns(200) },
    )
  })

  it('is at most 4,096 bytes: variables are left out first, then the parties', () => {
    const long = { long: 'é'.repeat(2_040) }
    const encoded = (changes: Partial<SavedLeg>) => encodeLeg('a', savedLeg(changes))
    const variables = { x: '1' }
    expect(decodeLeg(encoded({ variables }) as OpenLeg)?.variables).toEqual(variables)
    for (const changes of [{ variables: long }, { parties: long, variables }]) {
      const row = encoded(changes) as OpenLeg
      expect(Buffer.byteLength(row.state)).toBeLessThanOrEqual(4_096)
      expect(decodeLeg(row)).toEqual(
        savedLeg({ ...('parties' in changes ? { parties: {} } : {}), variables: {} }),
      )
    }
    expect(encoded({ leg: { long: 'x'.repeat(4_096) } })).toBeUndefined()
  })
})
