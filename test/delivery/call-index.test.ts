import { HookswitchError } from 'hookswitch'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import {
  createCallIndex,
  MAX_BATCH_ROWS,
  MAX_PER_ACCOUNT,
  MAX_WAITING_ROWS,
} from '../../src/delivery/call-index.js'
import type { CallIndexStore, CallNumber, UnwantedEvent } from '../../src/delivery/call-index-store.js'
import type { CheckedEvent } from '../../src/delivery/event.js'
import { sha256 } from '../../src/values/hash.js'

type Batch = Parameters<CallIndexStore['write']>[0]

function harness(limits = { unwantedRetentionSeconds: 60 }) {
  const clock = manualClock()
  const batches: Batch[] = []
  const trims: (readonly unknown[])[] = []
  const lines: object[] = []
  let failure: Error | undefined
  let onWrite = () => {}
  const log = (fields: object, message: string) => void lines.push({ ...fields, message })
  const index = createCallIndex(
    {
      store: {
        async write(batch) {
          await Promise.resolve()
          onWrite()
          if (failure) throw failure
          batches.push(batch)
        },
        async excess(kind, keep, accountId) {
          trims.push([kind, keep, accountId])
          return 77
        },
        async trim(kind, accountId, upTo, limit) {
          trims.push([kind, accountId, upTo])
          return trims.length < 7 ? limit : limit - 1
        },
      },
      clock,
      log: { debug: log, info: log, warn: log, error: log },
      storeNow: clock.now,
      fingerprints: (text) => [sha256(`now ${text}`), sha256(`before ${text}`)],
    },
    limits,
  )
  let sequence = 0
  const note = (event: Partial<CheckedEvent>, isWanted = true) => {
    sequence += 1
    const whole = { hook: 'channel_create', accountId: 'acme', callId: 'call', timestampMs: 7, ...event }
    index.note(
      whole as CheckedEvent,
      { id: `event-${sequence}`, sequence, duplicate: false },
      isWanted,
      'switch',
    )
  }
  return {
    clock,
    index,
    note,
    batches,
    trims,
    lines,
    events: (): UnwantedEvent[] => batches.flatMap(({ events }) => events),
    numbers: (): CallNumber[] => batches.flatMap(({ numbers }) => numbers),
    beforeWrite(listener: () => void) {
      onWrite = listener
    },
    fail(error: Error | undefined) {
      failure = error
    },
  }
}

const away = new HookswitchError('StoreUnavailable', 'away', { retryAfterSeconds: 1 })

describe('createCallIndex', () => {
  it('writes what was noted in a second together', async () => {
    const { clock, note, batches, events, index } = harness()
    note({ from: '+49 30 1@x', to: 'sip:+49301@x' })
    note({ hook: 'channel_answer', callId: 'other', isInternalLeg: true }, false)
    await clock.advance(999)
    expect(batches).toEqual([])
    await clock.advance(1)
    expect(batches).toHaveLength(1)
    const acceptedMs = clock.now() - 1_000
    expect(events()).toEqual([
      {
        id: 'event-2',
        accountId: 'acme',
        callId: 'other',
        hook: 'channel_answer',
        sequence: 2,
        timestampMs: 7,
        acceptedMs,
        source: 'switch',
        isInternalLeg: true,
      },
    ])
    const row = { accountId: 'acme', source: 'switch', acceptedMs }
    expect(batches[0]!.numbers).toEqual([
      { ...row, callId: 'call', eventId: 'event-1', number: index.hashesOf('49301')[0] },
      { ...row, callId: 'other', eventId: 'event-2', number: 0 },
    ])
  })

  it('sets no timer while nothing is noted', async () => {
    const { clock, note, batches } = harness()
    note({ from: '1@x' })
    await clock.advance(1_000)
    expect(batches).toHaveLength(1)
    await clock.advance(60_000)
    expect(batches).toHaveLength(1)
  })

  it('writes each number of a call once, and those that are added', async () => {
    const { note, numbers, index } = harness()
    note({ from: '1001@x' })
    note({ from: '1001@x' })
    note({ from: '1001@y', calleeIdNumber: '1002' })
    note({ from: '1001@x', accountId: 'beta' })
    await index.flush()
    const [first, second] = ['1001', '1002'].map((number) => index.hashesOf(number)[0])
    expect(numbers().map(({ accountId, number }) => [accountId, number])).toEqual([
      ['acme', first],
      ['acme', second],
      ['beta', first],
    ])
  })

  it('remembers a call for as long as it lasts, however many end meanwhile', async () => {
    const { note, index, numbers } = harness()
    note({ callId: 'long', from: '1' })
    for (let call = 0; call < 10_000; call += 1) {
      note({ callId: `short-${call}`, from: '2' })
      note({ callId: `short-${call}`, from: '2', hook: 'channel_destroy' })
    }
    note({ callId: 'long', from: '1', hook: 'channel_answer' })
    await index.flush()
    expect(numbers().filter(({ callId }) => callId === 'long')).toHaveLength(1)
    expect(numbers()).toHaveLength(10_001)
  })

  it('keeps hashes within 48 bits, under the key of the current secret; those of others are searched too', () => {
    const { index } = harness()
    const found = index.hashesOf('+49 30 1')
    expect(found).toEqual(index.hashesOf('sip:+49301@x'))
    expect(found).toHaveLength(2)
    for (const hash of found) expect(hash > 0 && hash <= 2 ** 48 && Number.isInteger(hash)).toBe(true)
    expect(index.hashesOf('+')).toEqual([])
  })

  it('notes no document, and no unwanted event with a retention of 0', async () => {
    const { note, batches, index } = harness({ unwantedRetentionSeconds: 0 })
    note({ from: '1@x' }, false)
    note({ hook: 'object', callId: 'document' })
    await index.flush()
    expect(batches).toEqual([])
  })

  it('repeats a batch that the store did not take, and writes in batches of 1,000', async () => {
    const { clock, note, fail, events, batches, lines } = harness()
    fail(away)
    for (let call = 0; call < MAX_BATCH_ROWS + 1; call += 1) note({ callId: `call-${call}` }, false)
    await clock.advance(5_000)
    expect([batches, lines.length]).toEqual([[], 1])
    fail(undefined)
    await clock.advance(1_000)
    expect(batches.map((batch) => batch.events.length)).toEqual([MAX_BATCH_ROWS, 1])
    expect(new Set(events().map(({ id }) => id)).size).toBe(MAX_BATCH_ROWS + 1)
  })

  it('writes a number once although its party is too long to be remembered', async () => {
    const { note, index, numbers } = harness()
    const from = `sip:100@${'x'.repeat(10_000)}`
    note({ from })
    note({ from, hook: 'channel_answer' })
    await index.flush()
    expect(numbers()).toHaveLength(1)
  })

  it('ends although something is noted during each batch', async () => {
    const { note, index, batches, beforeWrite } = harness()
    beforeWrite(() => {
      if (batches.length < 5) note({}, false)
    })
    note({}, false)
    note({}, false)
    await index.flush()
    expect(batches.map(({ events }) => events.length)).toEqual([2])
    await index.flush()
    expect(batches.map(({ events }) => events.length)).toEqual([2, 1])
  })

  it('loses a batch that the store refuses, and says so', async () => {
    const { note, fail, index, batches, lines } = harness()
    fail(new Error('refused'))
    note({ callId: 'a' }, false)
    await index.flush()
    fail(undefined)
    note({ callId: 'b' }, false)
    await index.flush()
    expect(batches.flatMap(({ events }) => events.map(({ callId }) => callId))).toEqual(['b'])
    expect(lines).toMatchObject([{ reason: 'refused' }, { rows: 2 }])
  })

  it('lets a bounded number of rows wait', async () => {
    const { clock, note, fail, events, lines } = harness()
    fail(away)
    for (let call = 0; call < MAX_WAITING_ROWS + 5; call += 1) note({ callId: `call-${call}` }, false)
    fail(undefined)
    await clock.advance(2_000)
    expect(events()).toHaveLength(MAX_WAITING_ROWS)
    // Of each call that is left out the event and the row of its number.
    expect(lines.at(-1)).toMatchObject({ rows: 10 })
  })

  it('removes what an account has above its share after each tenth of it', async () => {
    const { clock, note, index, trims } = harness()
    await clock.advance(1_000 - (clock.now() % 1_000))
    for (let call = 0; call < 999; call += 1) note({ callId: `call-${call}` }, false)
    await index.flush()
    expect(trims).toEqual([])
    note({ callId: 'last' }, false)
    note({ callId: 'other', accountId: 'beta' }, false)
    await index.flush()
    const trim = ['events', 'acme', 77]
    expect(trims).toEqual([['events', MAX_PER_ACCOUNT.events, 'acme'], trim, trim, trim, trim])
    await index.flush()
    expect(trims.slice(5)).toEqual([trim, trim])
    await index.flush()
    expect(trims).toHaveLength(7)
  })

  it('does so for numbers too, and counts from a value that depends on the time', async () => {
    const { clock, note, index, trims } = harness()
    const tenth = MAX_PER_ACCOUNT.numbers / 10
    await clock.advance(tenth - (clock.now() % tenth) + tenth - 3)
    note({ from: '1' })
    note({ from: '2' })
    await index.flush()
    expect(trims).toEqual([])
    note({ from: '3' })
    await index.flush()
    expect(trims[0]).toEqual(['numbers', MAX_PER_ACCOUNT.numbers, 'acme'])
  })

  it('writes at the end what was noted during a flush', async () => {
    const { note, index, events, beforeWrite } = harness()
    note({ callId: 'first' }, false)
    let ended: Promise<void> | undefined
    beforeWrite(() => {
      beforeWrite(() => {})
      note({ callId: 'second' }, false)
      ended = index.close()
    })
    await index.flush()
    await ended
    expect(events().map(({ callId }) => callId)).toEqual(['first', 'second'])
  })

  it('writes the last notes at the end, and waits at most 2 s for a store that hangs', async () => {
    const { note, index, events } = harness()
    note({ callId: 'last' }, false)
    await index.close()
    expect(events()).toHaveLength(1)
    note({ callId: 'later' }, false)
    await index.flush()
    expect(events()).toHaveLength(1)

    const clock = manualClock()
    const hanging = createCallIndex(
      {
        store: { write: () => new Promise(() => {}), excess: async () => 0, trim: async () => 0 },
        clock,
        log: { debug() {}, info() {}, warn() {}, error() {} },
        storeNow: clock.now,
        fingerprints: (text) => [sha256(text)],
      },
      { unwantedRetentionSeconds: 60 },
    )
    const event = { hook: 'channel_create', accountId: 'acme', callId: 'call', timestampMs: 7 }
    hanging.note(event, { id: 'event', sequence: 1, duplicate: false }, false, 'switch')
    let hasEnded = false
    void hanging.close().then(() => {
      hasEnded = true
    })
    await clock.advance(1_999)
    expect(hasEnded).toBe(false)
    await clock.advance(1)
    expect(hasEnded).toBe(true)
  })
})
