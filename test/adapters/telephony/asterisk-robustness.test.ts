import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { createAmiMessage } from '../../../adapters/telephony/asterisk/ami-message.js'
import { parseAriChannels, parseAriEvent } from '../../../adapters/telephony/asterisk/ari-event.js'
import { sanitizedMessage } from '../../../adapters/telephony/asterisk/ari-socket.js'
import { ariChannel, ariEvent } from './asterisk-ari-server.js'
import {
  A,
  B,
  bridge,
  bridgeEvent,
  C,
  channel,
  channelEvent,
  createTracedMapping,
  hangupEvent,
  T0,
  UP_STATE,
} from './asterisk-switch-events.js'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void
setFlagsFromString('--no-expose-gc')

describe('a value taken from an AMI message', () => {
  it.each([
    ['a field', (n: number) => createAmiMessage(big(n)).get('Uniqueid')],
    ['a variable', (n: number) => createAmiMessage(big(n)).variables('')('ACCOUNT_ID')],
    ['the function that returns variables', (n: number) => createAmiMessage(big(n)).variables('')],
    ['a variable of a named channel', (n: number) => createAmiMessage(big(n)).variables('')('NAMED')],
  ])('%s does not keep the message in memory', (_, read) => {
    read(0)
    gc()
    const before = process.memoryUsage().heapUsed
    const kept = Array.from({ length: 400 }, (_, n) => read(n))
    gc()
    const grown = process.memoryUsage().heapUsed - before
    expect(new Set(kept).size).toBe(400)
    expect(grown).toBeLessThan(5_000_000)
  })
})

/** A message of 50 KB. */
function big(n: number): Buffer {
  const id = `${1_767_225_600 + n}.1000`
  const vars = `ChanVariable: ACCOUNT_ID=acme-${id}\r\nChanVariable(PJSIP/1-1): NAMED=acme-${id}\r\n`
  return Buffer.from(`Event: Hangup\r\nUniqueid: ${id}\r\n${vars}Filler: ${'x'.repeat(50_000)}\r\n`)
}

describe('faulty functions of the host', () => {
  const bare = () => {
    throw Object.create(null)
  }

  it('a thrown value without a string form is a problem', () => {
    const { apply, trace } = createTracedMapping({ accountOf: bare, realmOf: bare })
    apply(channelEvent('created', A))
    expect(trace().problems).toEqual([
      { kind: 'callback_failed', message: 'accountOf threw: a thrown object', callId: A },
      { kind: 'malformed', message: 'realmOf threw: a thrown object', callId: A },
    ])
  })

  it.each([
    ['a promise', () => Promise.resolve('acme')],
    ['a promise that rejects', () => Promise.reject(new Error('no database'))],
    ['a number', () => 7],
    ['an empty text', () => ''],
    ['null', () => null],
  ])('an accountOf that returns %s is a problem once per leg', (_, accountOf) => {
    const { apply, trace } = createTracedMapping({ accountOf: accountOf as never })
    apply(
      channelEvent('created', A),
      channelEvent('updated', A),
      channelEvent('created', B),
      channelEvent('updated', B),
    )
    const message = 'accountOf returned no string'
    expect(trace().problems).toEqual([A, B].map((callId) => ({ kind: 'callback_failed', message, callId })))
  })

  it('a realmOf that returns no string is a problem, and the leg continues without a realm', () => {
    const { apply, trace } = createTracedMapping({ realmOf: (() => Object.create(null)) as never })
    apply(channelEvent('created', A))
    expect(trace().problems).toEqual([
      { kind: 'malformed', message: 'realmOf returned no string', callId: A },
    ])
    expect(trace().events[0]).toMatchObject({ hook: 'channel_create', from: '1001' })
  })
})

describe('values that do not fit into an event', () => {
  it.each([
    ['an empty', '', false],
    ['a too long', 'i'.repeat(256), false],
    ['a long', 'i'.repeat(255), true],
    ['an unprintable', 'a\u2028b', false],
    ['a broken', 'a\ud800b', false],
  ])('%s id of the other leg is omitted if it is invalid', (_, id, isShown) => {
    const { apply, trace } = createTracedMapping()
    apply({ kind: 'dialled', atMs: T0, caller: channel(id), called: channel(B), status: '' })
    const [create] = trace().events.filter(({ callId }) => callId === B)
    expect(create?.hook).toBe('channel_create')
    expect(create?.otherLegCallId).toBe(isShown ? id : undefined)
  })

  it('unpaired surrogates of ARI are replaced', () => {
    const caller = { name: 'x\ud800y', number: '1\udc002' }
    const read = parseAriEvent(JSON.stringify(ariEvent('ChannelCreated', 'a\ud800', T0, { caller })), T0)
    expect(read).toMatchObject({
      event: { channel: { id: 'a\ufffd', callerName: 'x\ufffdy', callerNumber: '1\ufffd2' } },
    })
    const bridges = [{ id: 'b\ud800', bridge_class: 'basic', channels: ['a\ud800'] }]
    expect(parseAriChannels(JSON.stringify([ariChannel('a\ud800')]), JSON.stringify(bridges))).toMatchObject([
      { channel: { id: 'a\ufffd' }, bridge: { id: 'b\ufffd' } },
    ])
  })

  it('a time before 1970 is ignored', () => {
    const event = ariEvent('ChannelCreated', A, -1_000, { creationtime: '1960-01-01T00:00:00.000+0000' })
    expect(parseAriEvent(JSON.stringify(event), T0)).toMatchObject({
      event: { atMs: T0, channel: { createdMs: undefined } },
    })
  })

  it('a duration above the maximum is capped', () => {
    const { apply, trace } = createTracedMapping()
    apply(channelEvent('created', A, 0, UP_STATE), hangupEvent(A, 8e15 - T0))
    expect(trace().events.at(-1)).toMatchObject({
      hook: 'channel_destroy',
      durationSeconds: 2_147_483_647,
      billingSeconds: 2_147_483_647,
      ringingSeconds: 0,
    })
  })
})

describe('the state of the mapping', () => {
  it('of many bridges in early media only the last is published', () => {
    const { apply, lines } = createTracedMapping()
    apply(channelEvent('created', A), channelEvent('created', B, 0, UP_STATE))
    for (const id of ['b1', 'b2', 'b3']) {
      const to = { ...bridge, id }
      apply(bridgeEvent('entered', A, to, {}), bridgeEvent('entered', B, to))
      if (id !== 'b3') apply(bridgeEvent('left', A, to, {}))
    }
    apply(channelEvent('updated', A, 10, UP_STATE))
    expect(lines().filter((line) => line.includes('bridge'))).toEqual([
      `${B} bridge ${A}`,
      `${A} bridge ${B}`,
    ])
  })

  it('a dropped leg is not kept in memory by its early bridges', async () => {
    const { apply } = createTracedMapping({ maxOpenLegs: 2 })
    const unanswered = () => {
      const shown = channel(A)
      const at = { atMs: T0, channel: shown }
      apply({ kind: 'created', ...at }, channelEvent('created', B, 0, UP_STATE))
      apply({ kind: 'entered', ...at, bridge }, bridgeEvent('entered', B))
      return new WeakRef(shown)
    }
    const ref = unanswered()
    apply(channelEvent('created', C), channelEvent('created', '1767225600.4'))
    await new Promise(setImmediate)
    gc()
    expect(ref.deref()).toBeUndefined()
  })

  it('a renamed half of a Local channel is removed under its original name', () => {
    const { apply, trace } = createTracedMapping()
    const half = (which: 1 | 2, over = '') => ({ name: `Local/9@x-0;${which}${over}`, state: 0 })
    const called = channel(B, half(1))
    apply({ kind: 'dialled', atMs: T0, caller: channel(A), called, status: '' })
    apply(hangupEvent(B, 5, 16, half(1, '<ZOMBIE>')), hangupEvent(A, 5))
    // The switch has restarted and reuses the name.
    const caller = channel(C, half(2))
    const other = channel('1767225600.4')
    apply({ kind: 'dialled', atMs: T0 + 10, caller, called: other, status: '' })
    const [create] = trace().events.filter(({ callId }) => callId === other.id)
    // The phone behind the new half is not known; that behind the old one was A.
    expect(create).toBeDefined()
    expect(create?.otherLegCallId).toBeUndefined()
  })
})

describe('an error of the ARI connection', () => {
  it('is reported on one line without the credentials', () => {
    const address = { url: 'http://127.0.0.1/ari', username: 'u', password: 'not-it-9', app: 'x' }
    const key = Buffer.from('u:not-it-9').toString('base64')
    expect(sanitizedMessage(new Error(`got Basic ${key},\nnot-it-9\u001b[2J`), address)).toBe(
      'got Basic …,\\u{A}…\\u{1B}[2J',
    )
    expect(sanitizedMessage(Object.create(null), address)).toBe('a thrown object')
  })
})
