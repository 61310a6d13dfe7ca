import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { amiMessage } from '../../../adapters/telephony/asterisk/ami-message.js'
import { ariEvent, ariListed } from '../../../adapters/telephony/asterisk/ari-event.js'
import { messageOf } from '../../../adapters/telephony/asterisk/ari-socket.js'
import { ariChannel, ariEventOf } from './asterisk-ari-server.js'
import { A, B, bridge, C, channel, ended, happened, moved, T0, told, up } from './asterisk-happenings.js'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void
setFlagsFromString('--no-expose-gc')

describe('what is remembered of a message', () => {
  it.each([
    ['a field', (n: number) => amiMessage(big(n)).get('Uniqueid')],
    ['a variable', (n: number) => amiMessage(big(n)).variable('ACCOUNT_ID')],
    ['a variable of a named channel', (n: number) => amiMessage(big(n)).variable('NAMED')],
  ])('%s is without the message', (_, read) => {
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

/** 50 KB. */
function big(n: number): Buffer {
  const id = `${1_767_225_600 + n}.1000`
  const vars = `ChanVariable: ACCOUNT_ID=acme-${id}\r\nChanVariable(PJSIP/1-1): NAMED=acme-${id}\r\n`
  return Buffer.from(`Event: Hangup\r\nUniqueid: ${id}\r\n${vars}Filler: ${'x'.repeat(50_000)}\r\n`)
}

describe('a host whose functions are wrong', () => {
  const bare = () => {
    throw Object.create(null)
  }

  it('what they throw need not become a text', () => {
    const { tell, story } = told({ accountOf: bare, realmOf: bare })
    tell(happened('began', A))
    expect(story().problems).toEqual([
      { kind: 'account_of_threw', message: 'accountOf threw: a thrown object', callId: A },
      { kind: 'malformed', message: 'realmOf threw: a thrown object', callId: A },
    ])
  })

  it.each([
    ['a promise', () => Promise.resolve('acme')],
    ['a promise that rejects', () => Promise.reject(new Error('no database'))],
    ['a number', () => 7],
    ['an empty text', () => ''],
    ['null', () => null],
  ])('an accountOf that returns %s is a problem, once per leg', (_, accountOf) => {
    const { tell, story } = told({ accountOf: accountOf as never })
    tell(happened('began', A), happened('seen', A), happened('began', B), happened('seen', B))
    const message = 'accountOf returned no text'
    expect(story().problems).toEqual([A, B].map((callId) => ({ kind: 'account_of_threw', message, callId })))
  })

  it('a realmOf that returns no text is a problem, and the leg goes on without', () => {
    const { tell, story } = told({ realmOf: (() => Object.create(null)) as never })
    tell(happened('began', A))
    expect(story().problems).toEqual([{ kind: 'malformed', message: 'realmOf returned no text', callId: A }])
    expect(story().events[0]).toMatchObject({ hook: 'channel_create', from: '1001' })
  })
})

describe('values that no event can hold', () => {
  it.each([
    ['an empty', '', false],
    ['a too long', 'i'.repeat(256), false],
    ['a long', 'i'.repeat(255), true],
    ['an unprintable', 'a\u2028b', false],
    ['a broken', 'a\ud800b', false],
  ])('%s id of the other leg costs no event but is left out of it', (_, id, isShown) => {
    const { tell, story } = told()
    tell({ kind: 'dialled', atMs: T0, caller: channel(id), called: channel(B), status: '' })
    const [create] = story().events.filter(({ callId }) => callId === B)
    expect(create?.hook).toBe('channel_create')
    expect(create?.otherLegCallId).toBe(isShown ? id : undefined)
  })

  it('half a character of ARI is a whole one', () => {
    const caller = { name: 'x\ud800y', number: '1\udc002' }
    const read = ariEvent(JSON.stringify(ariEventOf('ChannelCreated', 'a\ud800', T0, { caller })), T0)
    expect(read).toMatchObject({
      happening: { channel: { id: 'a\ufffd', callerName: 'x\ufffdy', callerNumber: '1\ufffd2' } },
    })
    const bridges = [{ id: 'b\ud800', bridge_class: 'basic', channels: ['a\ud800'] }]
    expect(ariListed(JSON.stringify([ariChannel('a\ud800')]), JSON.stringify(bridges))).toMatchObject([
      { channel: { id: 'a\ufffd' }, bridge: { id: 'b\ufffd' } },
    ])
  })

  it('a time before 1970 is none', () => {
    const event = ariEventOf('ChannelCreated', A, -1_000, { creationtime: '1960-01-01T00:00:00.000+0000' })
    expect(ariEvent(JSON.stringify(event), T0)).toMatchObject({
      happening: { atMs: T0, channel: { createdMs: undefined } },
    })
  })

  it('a call that lasts longer than can be told lasts as long as can be', () => {
    const { tell, story } = told()
    tell(happened('began', A, 0, up), ended(A, 8e15 - T0))
    expect(story().events.at(-1)).toMatchObject({
      hook: 'channel_destroy',
      durationSeconds: 2_147_483_647,
      billingSeconds: 2_147_483_647,
      ringingSeconds: 0,
    })
  })
})

describe('what comes and goes', () => {
  it('of many bridges in early media the last alone is a talk', () => {
    const { tell, lines } = told()
    tell(happened('began', A), happened('began', B, 0, up))
    for (const id of ['b1', 'b2', 'b3']) {
      const to = { ...bridge, id }
      tell(moved('entered', A, to, {}), moved('entered', B, to))
      if (id !== 'b3') tell(moved('left', A, to, {}))
    }
    tell(happened('seen', A, 10, up))
    expect(lines().filter((line) => line.includes('bridge'))).toEqual([
      `${B} bridge ${A}`,
      `${A} bridge ${B}`,
    ])
  })

  it('a leg that had to make room is not kept for its early bridges', async () => {
    const { tell } = told({ maxOpenLegs: 2 })
    const unanswered = () => {
      const shown = channel(A)
      const at = { atMs: T0, channel: shown }
      tell({ kind: 'began', ...at }, happened('began', B, 0, up))
      tell({ kind: 'entered', ...at, bridge }, moved('entered', B))
      return new WeakRef(shown)
    }
    const ref = unanswered()
    tell(happened('began', C), happened('began', '1767225600.4'))
    await new Promise(setImmediate)
    gc()
    expect(ref.deref()).toBeUndefined()
  })

  it('a half of a Local channel that was renamed is forgotten with its first name', () => {
    const { tell, story } = told()
    const half = (which: 1 | 2, over = '') => ({ name: `Local/9@x-0;${which}${over}`, state: 0 })
    const called = channel(B, half(1))
    tell({ kind: 'dialled', atMs: T0, caller: channel(A), called, status: '' })
    tell(ended(B, 5, 16, half(1, '<ZOMBIE>')), ended(A, 5))
    // The switch has started anew, and gives the name again.
    const caller = channel(C, half(2))
    const other = channel('1767225600.4')
    tell({ kind: 'dialled', atMs: T0 + 10, caller, called: other, status: '' })
    const [create] = story().events.filter(({ callId }) => callId === other.id)
    expect(create?.otherLegCallId).toBe(C)
  })
})

describe('what the other side says', () => {
  it('is told without the password and its key, on one line', () => {
    const address = { url: 'http://127.0.0.1/ari', username: 'u', password: 'not-it-9', app: 'x' }
    const key = Buffer.from('u:not-it-9').toString('base64')
    expect(messageOf(new Error(`got Basic ${key},\nnot-it-9\u001b[2J`), address)).toBe('got Basic …,?…?[2J')
    expect(messageOf(Object.create(null), address)).toBe('a thrown object')
  })
})
