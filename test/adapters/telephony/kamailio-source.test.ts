import { createServer } from 'node:net'
import { type ChannelEvent, createHookswitch, HookswitchError, memoryStore } from 'hookswitch'
import {
  accountByDomain,
  type KamailioSource,
  type KamailioSourceOptions,
  kamailioSource,
} from 'hookswitch/kamailio'
import { manualClock, until } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fakeKamailio } from '../../../src/testkit/switches/index.js'
import { observeSource } from './observe-source.js'
import { hooksOf, recordedCalls, recordedLines } from './recorded.js'

const recording = Buffer.from(recordedLines.join('\n'))
const accountOf = accountByDomain({ 'alpha.example': 'alpha', 'beta.example': 'beta' })

const clockOfRecording = (laterMs = 0) =>
  manualClock({ nowMs: Number(JSON.parse(recordedLines[0] ?? '').time) * 1000 + laterMs })

function sourceWith(options: Partial<KamailioSourceOptions> = {}) {
  const { emitted: notices, ...observed } = observeSource(({ publish }) =>
    kamailioSource({ publish, accountOf, ...options }),
  )
  return { ...observed, notices }
}
async function fakeAt(options = {}) {
  const fake = fakeKamailio({ recording, ...options })
  onTestFinished(() => fake.close())
  return { fake, port: await fake.start() }
}
/** The hooks of each call, in order. */
function hooksByCall(published: readonly ChannelEvent[]): Record<string, string[]> {
  const hooks: Record<string, string[]> = {}
  for (const { callId, hook } of published) hooks[callId] = [...(hooks[callId] ?? []), hook]
  return hooks
}
/** The events of each call: the order between calls may differ. */
function eventsByCall(published: readonly ChannelEvent[]): Record<string, ChannelEvent[]> {
  const events: Record<string, ChannelEvent[]> = {}
  for (const event of published) events[event.callId] = [...(events[event.callId] ?? []), event]
  return events
}
const EXPECTED = Object.fromEntries(recordedCalls.map((call) => [call.callId, hooksOf(call)]))
const totalEvents = Object.values(EXPECTED).flat().length
const allPublished = (source: KamailioSource) =>
  until(() => source.status().waiting === 0 && source.status().openLegs === 0)

describe('a source connected to evapi', () => {
  it('publishes every recorded call, and no call stays open', async () => {
    const { fake, port } = await fakeAt()
    const { source, published, notices } = sourceWith({ host: '127.0.0.1', port })
    expect(source.status()).toEqual({
      peer: `kamailio 127.0.0.1:${port}`,
      isConnected: false,
      disconnectReason: undefined,
      reconnects: 0,
      openLegs: 0,
      read: 0,
      published: 0,
      refused: 0,
      held: 0,
      lagMs: 0,
      waiting: 0,
      legsWithoutAccount: 0,
    })
    source.start()
    source.start()
    await fake.waitFor('subscribed')
    await fake.play({ speed: Infinity })
    await until(() => published.length === totalEvents)
    await allPublished(source)
    expect(hooksByCall(published)).toEqual(EXPECTED)
    expect(fake.connections).toBe(1)
    expect(source.status()).toMatchObject({ isConnected: true, published: published.length })
    expect(notices).toEqual([['connected', { peer: `kamailio 127.0.0.1:${port}` }]])
    await source.close()
    expect(source.status().isConnected).toBe(false)
  })

  it('reconnects after a cut, also in mid-line, and publishes what happens then', async () => {
    const { fake, port } = await fakeAt()
    const { source, published, of } = sourceWith({ host: '127.0.0.1', port })
    source.start()
    await fake.waitFor('subscribed')
    fake.cutIn(100)
    await fake.advance()
    await fake.waitFor('subscribed', 2)
    fake.cut()
    await fake.waitFor('subscribed', 3)
    await fake.play({ speed: Infinity })
    // The cut lost the first line, the INVITE of a call whose next line opens it too.
    await until(() => published.length === totalEvents)
    await allPublished(source)
    expect(hooksByCall(published)).toEqual(EXPECTED)
    expect(of('connected')).toHaveLength(3)
    expect(of('disconnected')).toMatchObject([
      { reason: 'the switch closed the connection', retryInMs: expect.any(Number) },
      {},
    ])
  })

  it('reports why it is not connected, and retries', async () => {
    const { fake, port } = await fakeAt()
    fake.refuse()
    const clock = clockOfRecording()
    const { source, of } = sourceWith({ host: '127.0.0.1', port, clock })
    source.start()
    await until(() => of('disconnected').length > 0)
    expect(of('disconnected')[0]).toMatchObject({ reason: expect.stringContaining('ECONNREFUSED') })
    await fake.accept()
    await until(async () => {
      await clock.advance(30_000)
      return source.status().isConnected
    })
  })

  it('ends a connection that sends no netstrings', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.write('{"event":"invite"}\n')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    const { source, of } = sourceWith({ host: '127.0.0.1', port, clock: clockOfRecording() })
    source.start()
    await until(() => of('disconnected').length > 0)
    expect(of('disconnected')[0]).toMatchObject({
      reason: expect.stringMatching(/not made of netstrings .evapi: netstring_format/),
    })
  })

  it('pauses reading while the service accepts nothing, and no event is lost', async () => {
    const many = Buffer.concat(Array.from({ length: 60 }, (_, nth) => renamed(nth)))
    const { fake, port } = await fakeAt({ recording: many })
    let isAccepting = false
    const published: ChannelEvent[] = []
    const { source } = sourceWith({
      host: '127.0.0.1',
      port,
      publish: async (event) => {
        if (!isAccepting) throw new HookswitchError('QueueFull', 'full')
        published.push(event)
      },
    })
    source.start()
    await fake.waitFor('subscribed')
    const playing = fake.play({ speed: Infinity })
    await until(async () => {
      const stood = fake.position
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      return stood > 0 && fake.position === stood
    })
    expect(fake.position).toBeLessThan(fake.length)
    expect(source.status().waiting).toBeLessThan(3_000)
    isAccepting = true
    await playing
    await until(() => published.length >= 60 * totalEvents, { timeoutMs: 60_000 })
    expect(Object.values(hooksByCall(published)).map(String).sort()).toEqual(
      Array.from({ length: 60 }, () => Object.values(EXPECTED).map(String))
        .flat()
        .sort(),
    )
  })
})

/** The recording with other Call-IDs. */
function renamed(nth: number): Buffer {
  return Buffer.from(`${recording.toString().replaceAll('"call_id":"', `"call_id":"${nth}-`)}\n`)
}

describe('lines without evapi', () => {
  it('can be pushed one by one', async () => {
    const { source, published, notices } = sourceWith()
    source.start()
    expect(recordedLines.every((line) => source.push(line))).toBe(true)
    await allPublished(source)
    expect(hooksByCall(published)).toEqual(EXPECTED)
    expect(notices).toEqual([])
    source.push('garbage')
    source.push(`{"event":"${'x'.repeat(65_536)}"}`)
    expect(notices.map(([name, what]) => [name, (what as { message: string }).message])).toEqual([
      ['problem', 'the line is not JSON'],
      ['problem', 'the line is longer than 65536 characters'],
    ])
  })

  it.each([1, 7, 1_000, 1_000_000])('are read from a stream in chunks of %i bytes', async (size) => {
    const bytes = size === 1 ? recording.subarray(0, 20_000) : recording
    const { source, published } = sourceWith()
    await source.lines(
      (async function* () {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
      })(),
    )
    const other = sourceWith()
    for (const line of bytes.toString().split('\n')) other.source.push(line)
    await until(() => source.status().waiting === 0 && other.source.status().waiting === 0)
    expect(eventsByCall(published)).toEqual(eventsByCall(other.published))
    expect(published.length).toBeGreaterThan(10)
  })

  it('wait for capacity', async () => {
    let taken = 0
    const gates: (() => void)[] = []
    const { source, published } = sourceWith({
      publish: (event) =>
        new Promise((resolve) => {
          published.push(event)
          gates.push(() => resolve(undefined))
        }),
    })
    const many = Array.from({ length: 20 }, (_, nth) => renamed(nth).toString())
      .join('')
      .split('\n')
    const reading = source.lines(
      (async function* () {
        for (const line of many) {
          taken += 1
          yield `${line}\n`
        }
      })(),
    )
    await until(() => published.length > 0)
    for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(taken).toBeLessThan(many.length)
    expect(source.push(recordedLines[0] ?? '')).toBe(false)
    let isOver = false
    void reading.then(() => {
      isOver = true
    })
    await until(() => {
      for (const release of gates.splice(0)) release()
      return isOver
    })
    expect(taken).toBe(many.length)
    await source.ready()
  })

  it('above 64 KiB end the stream with an error', async () => {
    const { source } = sourceWith()
    const endless = (async function* () {
      for (;;) yield 'x'.repeat(10_000)
    })()
    await expect(source.lines(endless)).rejects.toThrow(/a line is longer than 65536 characters/)
  })

  it('are rejected after close, and a waiting stream ends', async () => {
    const { source } = sourceWith({ publish: () => new Promise(() => {}) })
    const endless = (async function* () {
      for (let nth = 0; ; nth += 1) yield renamed(nth)
    })()
    const reading = source.lines(endless)
    await until(() => source.status().waiting >= 1_024)
    await source.close({ drainMs: 0 })
    await reading
    expect(() => source.push(recordedLines[0] ?? '')).toThrow(/the source is closed/)
    await source.ready()
  })
})

describe('a call whose end was missed', () => {
  const call = recordedLines.filter((line) => line.includes('"call_id":"k01-caller-hangup-1"'))
  const answered = call.findIndex((line) => line.includes('dialog:start'))
  const HOUR_MS = 3_600_000

  it('ends after maxCallMs when the stream is silent', async () => {
    const clock = clockOfRecording()
    const { source, published } = sourceWith({ clock, maxCallMs: HOUR_MS })
    for (const line of call.slice(0, answered + 1)) source.push(line)
    await clock.advance(HOUR_MS - 1_000)
    expect(source.status().openLegs).toBe(1)
    await clock.advance(1_000)
    expect(source.status().openLegs).toBe(0)
    await clock.settle()
    expect(published.at(-1)).toMatchObject({
      hook: 'channel_destroy',
      hangupCause: 'RECOVERY_ON_TIMER_EXPIRE',
      hangupCode: 'sip:200',
      customChannelVars: { found_by: 'timeout' },
      durationSeconds: 3_600,
      timestampMs: (published[0]?.timestampMs ?? 0) + HOUR_MS,
    })
    for (const line of call.slice(answered + 1)) source.push(line)
    await clock.settle()
    expect(published.map((event) => event.hook)).toEqual([
      'channel_create',
      'channel_answer',
      'channel_bridge',
      'channel_destroy',
    ])
  })

  it('ends by the time of the stream too', async () => {
    const clock = clockOfRecording(HOUR_MS)
    const { source, published } = sourceWith({ clock, maxCallMs: HOUR_MS })
    source.push(call[0] ?? '')
    const seconds = Number(JSON.parse(call[0] ?? '').time)
    source.push(JSON.stringify({ event: 'other', call_id: 'x', time: (seconds + 3_599.9).toFixed(6) }))
    expect(source.status().openLegs).toBe(1)
    source.push(JSON.stringify({ event: 'other', call_id: 'x', time: (seconds + 3_600.1).toFixed(6) }))
    expect(source.status().openLegs).toBe(0)
    await clock.settle()
    expect(published.at(-1)).not.toHaveProperty('hangupCode')
    expect(published.at(-1)).toMatchObject({ hook: 'channel_destroy', billingSeconds: 0 })
  })

  it('shares one timer with the other calls', async () => {
    const clock = clockOfRecording()
    let sleeps = 0
    const counting = {
      ...clock,
      sleep: (ms: number, signal?: AbortSignal) => {
        sleeps += 1
        return clock.sleep(ms, signal)
      },
    }
    const { source } = sourceWith({ clock: counting })
    for (const line of recordedLines.slice(0, 100)) {
      source.push(line)
      await clock.settle()
    }
    // One for the first call, and one for each earlier due time: callers who were challenged.
    expect(sleeps).toBeLessThan(10)
  })

  it('has no timer after close', async () => {
    const clock = clockOfRecording()
    const { source } = sourceWith({ clock })
    source.push(call[0] ?? '')
    await clock.settle()
    expect(clock.sleepers().count).toBe(1)
    await source.close()
    expect(clock.sleepers().count).toBe(0)
  })

  it('does not delay a challenged caller, who is rejected in time', async () => {
    const clock = clockOfRecording()
    const { source } = sourceWith({ clock })
    source.push(call[0] ?? '')
    await clock.settle()
    const [invite = '', challenge = ''] = recordedLines.filter((line) => line.includes('"k13-auth-1"'))
    source.push(invite)
    source.push(challenge)
    await clock.advance(31_000)
    expect(source.status().openLegs).toBe(2)
    await clock.advance(1_100)
    expect(source.status().openLegs).toBe(1)
  })
})

describe('a line that is received twice', () => {
  it('is published once: the idempotency key is made of Call-ID, tag and hook', async () => {
    const hs = createHookswitch({ store: memoryStore() })
    await hs.start()
    for (const id of ['alpha', 'beta']) await hs.accounts.create({ id, name: id, realm: `${id}.example` })
    onTestFinished(() => hs.close({ drainMs: 0 }))
    const duplicates: boolean[] = []
    const publish = async (event: ChannelEvent) => void duplicates.push((await hs.publish(event)).duplicate)
    for (const isAgain of [false, true]) {
      duplicates.length = 0
      const { source } = sourceWith({ publish })
      for (const line of recordedLines) source.push(line)
      await allPublished(source)
      expect(duplicates).toHaveLength(totalEvents)
      expect(new Set(duplicates)).toEqual(new Set([isAgain]))
    }
  })
})

describe('an account', () => {
  const call = recordedLines.filter((line) => line.includes('"call_id":"k01-caller-hangup-1"'))

  it('that becomes known later releases the buffered events, in order and with their own times', async () => {
    const { source, published } = sourceWith({
      accountOf: (line) => (line.event === 'dialog:end' ? 'late' : undefined),
    })
    for (const line of call) source.push(line)
    await allPublished(source)
    const known = sourceWith()
    for (const line of call) known.source.push(line)
    await allPublished(known.source)
    expect(published).toEqual(known.published.map((event) => ({ ...event, accountId: 'late' })))
  })

  it.each([
    ['undefined', (): undefined => undefined],
    ['a number', () => 7 as never, 'accountOf returned no string, or an empty one'],
    ['an empty string', () => '', 'accountOf returned no string, or an empty one'],
  ])(
    'that stays unknown (%s) is reported once, with the unpublished events',
    async (_, none, message?: string) => {
      const { source, published, notices } = sourceWith({ accountOf: none })
      for (const line of call) source.push(line)
      expect(published).toEqual([])
      const problem = { kind: 'callback_failed', message, callId: 'k01-caller-hangup-1' }
      expect(notices).toMatchObject([
        ...(message === undefined ? [] : [['problem', problem]]),
        ['account_unknown', { callId: 'k01-caller-hangup-1', reason: 'ended', events: { length: 4 } }],
      ])
    },
  )

  it('is unknown if accountOf throws, which is a problem', async () => {
    const { source, of } = sourceWith({
      accountOf: () => {
        throw new Error('no database')
      },
    })
    source.push(call[0] ?? '')
    expect(of('problem')).toMatchObject([
      {
        kind: 'callback_failed',
        message: 'accountOf threw Error: no database',
        callId: 'k01-caller-hangup-1',
      },
    ])
    expect(source.status()).toMatchObject({ openLegs: 1, legsWithoutAccount: 1 })
  })

  it('is given up for a call that is forgotten because of maxOpenLegs', () => {
    const { source, of } = sourceWith({ accountOf: () => undefined, maxOpenLegs: 1 })
    source.push(call[0] ?? '')
    source.push(recordedLines.find((line) => line.includes('"call_id":"k02-callee-hangup-1"')) ?? '')
    expect(of('account_unknown')).toMatchObject([{ callId: 'k01-caller-hangup-1', reason: 'ended' }])
    expect(of('problem')).toMatchObject([{ kind: 'overflow', callId: 'k01-caller-hangup-1' }])
  })
})
