/** One session with a scripted socket and tokens, in virtual time. */
import fc from 'fast-check'
import { HookswitchError, type PublishedEvent } from 'hookswitch'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { callEventOf } from '../../../adapters/blackhole/call-event.js'
import { Session } from '../../../adapters/blackhole/session.js'

const eventOf = (callId: string, accountId = 'acme') =>
  callEventOf(
    {
      hook: 'channel_create',
      accountId,
      callId,
      timestampMs: 0,
      eventId: 'e',
      sequence: 1,
    } as PublishedEvent,
    'n',
  )!

/** Valid tokens with the accounts that they may read, or an error for all of them. */
type Tokens = Map<string, readonly string[]> & { outage?: Error }

function startSession(settings: Partial<{ maxBufferedBytes: number; idleMs: number }> = {}) {
  const clock = manualClock()
  const tokens: Tokens = new Map([['t', ['acme', 'beta']]])
  const sent: { action: string; data: Record<string, unknown>; name?: string }[] = []
  const closes: unknown[] = []
  const accounts = new Set<string>()
  const socket = {
    bufferedAmount: 0,
    send: (text: string) => void sent.push(JSON.parse(text)),
    close: (...close: unknown[]) => void closes.push(close),
  }
  const check = async (token: string, accountId?: string) => {
    if (tokens.outage) throw tokens.outage
    const readable = tokens.get(token)
    if (!readable) throw new HookswitchError('InvalidCredentials', 'invalid credentials')
    if (accountId !== undefined && !readable.includes(accountId))
      throw new HookswitchError('Forbidden', 'forbidden')
    return { accountId: 'acme', token, expiresMs: 0 }
  }
  const session = new Session({
    auth: { authenticate: (token) => check(token), authorize: check },
    clock,
    settings: { maxBindings: 10, maxBufferedBytes: 65_536, idleMs: 3_600_000, ...settings },
    socket,
    address: '192.0.2.1',
    newRequestId: () => 'generated',
    onAccount: (accountId, isBound) => void (isBound ? accounts.add(accountId) : accounts.delete(accountId)),
    onEnd: () => {},
  })
  const request = async (action: string, rest: object = {}) => {
    session.receive(JSON.stringify({ action, ...rest }))
    await clock.settle()
    return sent.at(-1)
  }
  const subscribe = (accountId = 'acme', auth_token = 't') =>
    request('subscribe', { auth_token, data: { account_id: accountId, binding: 'call.*.*' } })
  const callsSent = () => sent.filter(({ action }) => action === 'event').map(({ data }) => data.call_id)
  return { clock, tokens, sent, closes, accounts, socket, session, request, subscribe, callsSent }
}

describe('a session', () => {
  it('sends events in their order, after one check for all that wait', async () => {
    const { session, subscribe, callsSent, clock } = startSession()
    await subscribe()
    const calls = Array.from({ length: 20 }, (_, n) => `call-${n}`)
    for (const call of calls) session.deliver(eventOf(call))
    expect(callsSent()).toEqual([])
    await clock.settle()
    expect(callsSent()).toEqual(calls)
  })

  it('sends no event after the reply to its unsubscription', async () => {
    const { session, subscribe, request, callsSent, accounts } = startSession()
    await subscribe()
    expect([...accounts]).toEqual(['acme'])
    const unsubscribed = request('unsubscribe')
    session.deliver(eventOf('late'))
    expect(await unsubscribed).toMatchObject({ data: { subscribed: [] } })
    expect([callsSent(), [...accounts]]).toEqual([[], []])
  })

  it('ends with its token, within half a minute where nothing happens', async () => {
    const { session, tokens, subscribe, closes, accounts, clock } = startSession()
    await subscribe()
    tokens.clear()
    await clock.advance(29_000)
    session.tick()
    await clock.settle()
    expect(closes).toEqual([])
    await clock.advance(1_000)
    session.tick()
    await clock.settle()
    expect(closes).toEqual([[1008, 'failed to authenticate token']])
    expect([...accounts]).toEqual([])
  })

  it('ends with its token also without bindings', async () => {
    const { session, tokens, request, closes, clock } = startSession()
    await request('ping', { auth_token: 't' })
    await clock.advance(30_000)
    session.tick()
    await clock.settle()
    expect(closes).toEqual([])
    tokens.clear()
    await clock.advance(30_000)
    session.tick()
    await clock.settle()
    expect(closes).toHaveLength(1)
  })

  it('uses a newer token where the one of a subscription has ended, if it may read the account', async () => {
    const { session, tokens, subscribe, callsSent, closes, clock } = startSession()
    tokens.set('new', ['acme'])
    tokens.set('of beta', ['beta'])
    await subscribe('acme')
    await subscribe('beta', 'of beta')
    await subscribe('acme', 'new')
    tokens.delete('t')
    session.deliver(eventOf('1', 'acme'))
    session.deliver(eventOf('2', 'beta'))
    await clock.settle()
    expect([callsSent(), closes]).toEqual([['1', '2'], []])
    tokens.delete('of beta')
    session.deliver(eventOf('3', 'beta'))
    await clock.settle()
    expect([callsSent(), closes]).toEqual([['1', '2'], [[1008, 'failed to authenticate token']]])
  })

  it('goes on while the store is out, and takes nothing new', async () => {
    const { session, tokens, subscribe, request, callsSent, closes, clock, sent } = startSession()
    await subscribe()
    tokens.outage = new HookswitchError('StoreUnavailable', 'out')
    session.deliver(eventOf('during'))
    await clock.advance(60_000)
    session.tick()
    await clock.settle()
    expect([callsSent(), closes]).toEqual([['during'], []])
    expect(await request('ping')).toMatchObject({ data: { errors: ['service unavailable'] } })
    await subscribe('beta')
    expect(sent.at(-1)).toMatchObject({ data: { errors: ['service unavailable'] } })
  })

  it('is closed after an hour without a frame', async () => {
    const { session, closes, clock } = startSession()
    await clock.advance(3_599_000)
    session.tick()
    session.touch()
    await clock.advance(3_599_000)
    session.tick()
    expect(closes).toEqual([])
    await clock.advance(1_000)
    session.tick()
    expect(closes).toEqual([[1000, 'idle']])
    session.tick()
    session.end('closing')
    expect(closes).toHaveLength(1)
  })

  it('is closed when its client has read nothing for half a minute', async () => {
    const { session, socket, closes, clock } = startSession()
    const advance = async (ms: number) => {
      await clock.advance(ms)
      session.tick()
    }
    socket.bufferedAmount = 500
    await advance(5_000)
    await advance(29_000)
    // It reads a little.
    socket.bufferedAmount = 400
    await advance(1_000)
    await advance(29_000)
    expect(closes).toEqual([])
    await advance(1_000)
    expect(closes).toEqual([[1013, 'too slow']])
  })

  it('is closed when more waits than may wait, in its queue and in its socket', async () => {
    for (const bufferedAmount of [0, 60_000]) {
      const { session, subscribe, socket, closes, callsSent, clock } = startSession()
      await subscribe()
      socket.bufferedAmount = bufferedAmount
      let count = 0
      while (closes.length === 0) {
        count += 1
        session.deliver(eventOf(`call-${count}`))
      }
      await clock.settle()
      expect(closes).toEqual([[1013, 'too slow']])
      expect(count).toBeGreaterThan(bufferedAmount === 0 ? 100 : 5)
      expect(count).toBeLessThan(bufferedAmount === 0 ? 300 : 30)
      expect(callsSent()).toEqual([])
    }
  })

  it('is closed when its client does not read its replies', async () => {
    const { socket, request, closes } = startSession()
    socket.bufferedAmount = 65_500
    await request('ping')
    expect(closes).toEqual([[1013, 'too slow']])
  })

  it('takes 100 requests at once, and 10 a second', async () => {
    const { session, sent, clock } = startSession()
    const errorsOf = async (count: number) => {
      sent.length = 0
      for (let n = 0; n < count; n += 1) session.receive('{"action":"ping","auth_token":"t"}')
      await clock.settle()
      return sent.filter(({ data }) => 'errors' in data).map(({ data }) => data.errors)
    }
    expect(await errorsOf(101)).toEqual([['rate limiting threshold hit for 192.0.2.1!']])
    await clock.advance(1_000)
    expect(await errorsOf(12)).toHaveLength(2)
  })

  it('answers every frame once, whatever it is', async () => {
    const word = fc.constantFrom('subscribe', 'unsubscribe', 'ping', 'acme', 'call.*.*', '*', 't', '')
    const value = fc.oneof(word, fc.jsonValue(), fc.array(word))
    const data = fc.record({ account_id: value, binding: value, bindings: value }, { requiredKeys: [] })
    const key = { action: value, auth_token: value, request_id: value, data: fc.oneof(data, value) }
    const frame = fc.oneof(
      fc.record(key, { requiredKeys: [] }).map((object) => JSON.stringify(object)),
      fc.string(),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { maxLength: 20 }), async (frames) => {
        const { session, sent, clock, closes } = startSession()
        for (const text of frames) session.receive(text)
        await clock.settle()
        expect(sent).toHaveLength(frames.length)
        for (const { action, data } of sent) expect([action, typeof data]).toEqual(['reply', 'object'])
        expect(closes).toEqual([])
      }),
    )
  })

  it('ignores what arrives after its end', async () => {
    const { session, sent, accounts, clock, subscribe } = startSession()
    await subscribe()
    sent.length = 0
    session.receive('{"action":"subscribe","data":{"account_id":"beta","binding":"call.*.*"}}')
    session.closed()
    session.receive('{"action":"ping","auth_token":"t"}')
    session.deliver(eventOf('1'))
    session.tick()
    await clock.settle()
    expect([sent, [...accounts]]).toEqual([[], []])
  })
})
