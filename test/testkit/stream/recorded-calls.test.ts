import fc from 'fast-check'
import { type ChannelEvent, createHookswitch, memoryStore } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { callGenerator, takeCalls } from '../../../src/testkit/calls.js'
import { manualClock } from '../../../src/testkit/clock.js'
import { callRecorder, recordedCalls } from '../../../src/testkit/stream/index.js'

const lines = (...events: readonly object[]) => events.map((event) => JSON.stringify(event)).join('\n')
const leg = { accountId: 'acme', callId: 'leg-1' }
const THREE = lines(
  { hook: 'channel_create', ...leg, timestampMs: 10_000 },
  { hook: 'channel_answer', ...leg, timestampMs: 14_000 },
  { hook: 'channel_destroy', ...leg, timestampMs: 74_000 },
)
const generated = (seed: number, calls: number) =>
  takeCalls(callGenerator({ seed, accounts: ['acme'] }), calls).events.map(({ event }) => event)

/** Collects published events with the time of publishing. */
function sink(clock: { now(): number }) {
  const published: { atMs: number; event: ChannelEvent }[] = []
  const startMs = clock.now()
  const publish = (event: ChannelEvent) => void published.push({ atMs: clock.now() - startMs, event })
  return { published, publish, times: () => published.map(({ atMs }) => atMs) }
}

describe('recordedCalls', () => {
  it('reads a string or its lines, with any line ending', () => {
    const recording = recordedCalls(THREE)
    expect(recording).toMatchObject({ calls: 1, lengthMs: 64_000 })
    expect(recording.events.map(({ line, atMs, event }) => [line, atMs, event.hook])).toEqual([
      [1, 10_000, 'channel_create'],
      [2, 14_000, 'channel_answer'],
      [3, 74_000, 'channel_destroy'],
    ])
    const { events } = recording
    expect(recordedCalls(`\ufeff${THREE.replaceAll('\n', '\r\n')}\r\n`).events).toEqual(events)
    expect(recordedCalls(new Set(THREE.split('\n'))).events).toEqual(events)
    expect(recordedCalls(`\n${THREE}`).events.map(({ line }) => line)).toEqual([2, 3, 4])
  })

  it('keeps the order of lines if times go back: such an event follows at once', () => {
    const late = lines(
      { hook: 'channel_create', ...leg, timestampMs: 5_000 },
      { hook: 'channel_create', ...leg, callId: 'leg-2', timestampMs: 4_000 },
      { hook: 'channel_answer', ...leg, timestampMs: 6_000 },
    )
    const { events, lengthMs, calls } = recordedCalls(late)
    expect(events.map(({ atMs, event }) => [atMs, event.timestampMs])).toEqual([
      [5_000, 5_000],
      [5_000, 4_000],
      [6_000, 6_000],
    ])
    expect([lengthMs, calls]).toEqual([1_000, 2])
  })

  it.each([
    ['{', 'line', 'line 2: is not JSON'],
    ['[1]', 'line', 'line 2: is not a JSON object'],
    ['null', 'line', 'line 2: is not a JSON object'],
    [
      lines({ hook: 'channel_hold', ...leg }),
      'timestampMs',
      'line 2: timestampMs: is required in a recording',
    ],
    [lines({ hook: 'channel_hold', ...leg, timestampMs: '5' }), 'timestampMs', 'line 2: timestampMs: '],
    [lines({ hook: 'channel_hold', ...leg, timestampMs: -5 }), 'timestampMs', 'line 2: timestampMs: '],
    [
      lines({ hook: 'channel_crate', ...leg, timestampMs: 5 }),
      'hook',
      "line 2: hook: 'channel_crate' is not a registered event",
    ],
    [lines({ hook: 'channel_hold', accountId: 'acme', timestampMs: 5 }), 'callId', 'line 2: callId: '],
    [
      lines({ hook: 'channel_hold', ...leg, timestampMs: 5, form: 'x' }),
      'form',
      'line 2: form: is not a field',
    ],
  ])('names line and field of an invalid event: %s', (wrong, field, message) => {
    const [first, ...others] = THREE.split('\n')
    const read = () => recordedCalls([first!, wrong, ...others].join('\n'))
    expect(read).toThrow(expect.objectContaining({ code: 'InvalidInput', field }))
    expect(read).toThrow(message)
  })

  it('accepts event kinds of the host', () => {
    const own = lines({ hook: 'queue_joined', ...leg, timestampMs: 1 })
    expect(recordedCalls(own, { hooks: [{ id: 'queue_joined' }] }).events).toHaveLength(1)
    expect(() => recordedCalls(own)).toThrow(/line 1: hook/)
  })

  it('rejects an invalid source and names the field', () => {
    const field = (name: string, code = 'InvalidOption') => expect.objectContaining({ code, field: name })
    expect(() => recordedCalls('\n \n')).toThrow(field('source', 'InvalidInput'))
    expect(() => recordedCalls(undefined as never)).toThrow(field('source'))
    expect(() => recordedCalls([7] as never)).toThrow(field('line', 'InvalidInput'))
    expect(() => recordedCalls(THREE, { hooks: 7 } as never)).toThrow(field('hooks'))
    expect(() => recordedCalls(THREE, { hook: [] } as never)).toThrow(field('hook'))
  })
})

describe('replay', () => {
  it('publishes each event at its time', async () => {
    const clock = manualClock({ nowMs: 1_000_000 })
    const { publish, times, published } = sink(clock)
    const { replay, lengthMs } = recordedCalls(THREE)
    const replayed = replay({ publish, clock })
    await clock.advance(lengthMs)
    expect(await replayed).toEqual({ events: 3, calls: 1 })
    expect(times()).toEqual([0, 4_000, 64_000])
    expect(published.map(({ event }) => event.timestampMs)).toEqual([1_000_000, 1_004_000, 1_064_000])
  })

  it('scales pauses by the speed; Infinity removes them', async () => {
    const clock = manualClock()
    const fast = sink(clock)
    const replayed = recordedCalls(THREE).replay({
      publish: fast.publish,
      clock,
      speed: 2,
      times: 'recorded',
    })
    await clock.advance(32_000)
    await replayed
    expect(fast.times()).toEqual([0, 2_000, 32_000])
    expect(fast.published.map(({ event }) => event.timestampMs)).toEqual([10_000, 14_000, 74_000])
    const immediate = sink(clock)
    expect(await recordedCalls(THREE).replay({ publish: immediate.publish, clock, speed: Infinity })).toEqual(
      {
        events: 3,
        calls: 1,
      },
    )
    expect(immediate.times()).toEqual([0, 0, 0])
  })

  it('awaits each publish, and shortens the next pause by the time that it took', async () => {
    const clock = manualClock()
    const order: string[] = []
    const publish = async ({ hook }: ChannelEvent) => {
      order.push(`${hook} begins at ${clock.monotonic()}`)
      await clock.sleep(10_000)
      order.push('ends')
    }
    const replayed = recordedCalls(THREE).replay({ publish, clock })
    await clock.advance(80_000)
    await replayed
    expect(order).toEqual([
      'channel_create begins at 0',
      'ends',
      'channel_answer begins at 10000',
      'ends',
      'channel_destroy begins at 64000',
      'ends',
    ])
  })

  it('replaces or skips events with `map`', async () => {
    const clock = manualClock()
    const { publish, published } = sink(clock)
    const map = (event: ChannelEvent) =>
      event.hook === 'channel_answer'
        ? undefined
        : { ...event, accountId: 'globex', callId: `${event.callId}~2` }
    const replayed = recordedCalls(THREE).replay({ publish, clock, map, speed: Infinity })
    expect(await replayed).toEqual({ events: 2, calls: 1 })
    expect(published.map(({ event }) => [event.hook, event.accountId, event.callId])).toEqual([
      ['channel_create', 'globex', 'leg-1~2'],
      ['channel_destroy', 'globex', 'leg-1~2'],
    ])
  })

  it('ends early when its signal is aborted', async () => {
    const clock = manualClock()
    const { publish, times } = sink(clock)
    const abort = new AbortController()
    const replayed = recordedCalls(THREE).replay({ publish, clock, signal: abort.signal })
    await clock.advance(4_000)
    abort.abort()
    expect(await replayed).toEqual({ events: 2, calls: 1 })
    expect(times()).toEqual([0, 4_000])
  })

  it('rejects with the error of publish, keeping its code and adding the line', async () => {
    const hs = createHookswitch({ store: memoryStore() })
    await hs.start()
    const rejected = recordedCalls(THREE).replay({ publish: hs.publish, speed: Infinity })
    await expect(rejected).rejects.toMatchObject({ code: 'NotFound' })
    await expect(rejected).rejects.toThrow(
      /^line 1 \(channel_create of call leg-1\): account 'acme' does not exist$/,
    )
    await hs.close()
    const broken = () => {
      throw 'a string'
    }
    await expect(recordedCalls(THREE).replay({ publish: broken })).rejects.toThrow(
      /^line 1 \(.*\): a string$/,
    )
  })

  it.each([
    [undefined, 'options'],
    [{}, 'publish'],
    [{ publish: 'hs' }, 'publish'],
    [{ publish() {}, speed: 0 }, 'speed'],
    [{ publish() {}, speed: '2' }, 'speed'],
    [{ publish() {}, times: 'now' }, 'times'],
    [{ publish() {}, clock: { now() {} } }, 'clock'],
    [{ publish() {}, map: {} }, 'map'],
    [{ publish() {}, signal: {} }, 'signal'],
    [{ publish() {}, pace: 1 }, 'pace'],
  ])('rejects the options %j and names %s', async (options, field) => {
    const replayed = recordedCalls(THREE).replay(options as never)
    await expect(replayed).rejects.toMatchObject({ code: 'InvalidOption', field })
    await expect(replayed).rejects.toThrow(`replay: ${field}`)
  })
})

describe('callRecorder', () => {
  async function service() {
    const hs = createHookswitch({ store: memoryStore() })
    await hs.start()
    await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
    return hs
  }

  it('writes the accepted events in the format of recordedCalls until it is stopped', async () => {
    const hs = await service()
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 1_000 }), async (seed) => {
        const events = generated(seed, 2).map((event) => ({
          ...event,
          callId: `${event.callId}-${seed}`,
          customChannelVars: { seed, note: 'a\nb\u2028c' },
        }))
        const written: string[] = []
        const recorder = callRecorder(hs.events, (line) => void written.push(line))
        for (const event of events) await hs.publish(event)
        expect(recorder.events).toBe(events.length)
        recorder.stop()
        await hs.publish(events[0]!)
        expect(recordedCalls(written.join('')).events.map(({ event }) => event)).toEqual(events)
      }),
      { numRuns: 10 },
    )
    await hs.close()
  })

  it('replaces or omits events with `map`', async () => {
    const hs = await service()
    const written: string[] = []
    const recorder = callRecorder(hs.events, (line) => written.push(line), {
      map: ({ callerIdNumber: _, ...event }) => (event.hook === 'channel_hold' ? undefined : event),
    })
    await hs.publish({ hook: 'channel_create', ...leg, callerIdNumber: '+12025550123' })
    await hs.publish({ hook: 'channel_hold', ...leg })
    recorder.stop()
    await hs.close()
    expect([recorder.events, written.length]).toEqual([1, 1])
    expect(written[0]).toMatch(/^\{(?!.*12025550123).*"hook":"channel_create".*\}\n$/)
  })

  it('reports a lost line when it is stopped', async () => {
    const hs = await service()
    let full = true
    const recorder = callRecorder(hs.events, () => {
      if (full) throw new Error('the disk is full')
    })
    await hs.publish({ hook: 'channel_create', ...leg })
    full = false
    await hs.publish({ hook: 'channel_answer', ...leg })
    expect(recorder.events).toBe(1)
    expect(() => recorder.stop()).toThrow('the disk is full')
    await hs.close()
  })

  it.each([
    [[undefined, () => {}], 'events'],
    [[{ on() {} }, () => {}], 'events'],
    [[{ on() {}, off() {} }, undefined], 'write'],
    [[{ on() {}, off() {} }, 'file'], 'write'],
    [[{ on() {}, off() {} }, () => {}, { map: 1 }], 'map'],
    [[{ on() {}, off() {} }, () => {}, { only: 1 }], 'only'],
  ])('rejects invalid arguments and names them, case %#', (args, field) => {
    const record = () => callRecorder(...(args as unknown as Parameters<typeof callRecorder>))
    expect(record).toThrow(expect.objectContaining({ code: 'InvalidOption', field }))
    expect(record).toThrow(`callRecorder: ${field}`)
  })
})
