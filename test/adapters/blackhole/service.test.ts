/** The protocol against a real service, with clients that know nothing of it. */
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { blackhole } from 'hookswitch/blackhole'
import { createServer } from 'hookswitch/node'
import { manualClock, until } from 'hookswitch/testkit'
import { WebSocket as UndiciWebSocket } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connect, refusedWith, startSockets } from './harness.js'

const reply = (status: 'success' | 'error', data: object, request_id: unknown = expect.any(String)) => ({
  action: 'reply',
  request_id,
  status,
  data,
})
const refused = (...errors: string[]) => reply('error', { errors })
const subscription = (account_id: string, binding = 'call.*.*') => ({ data: { account_id, binding } })

describe('the frames of KAZOO', () => {
  it("are exchanged with the client of KAZOO's documentation", async () => {
    const { url, token, publish } = await startSockets()
    const auth_token = await token()
    // As in blackhole/doc/README.md, on the WebSocket of undici, which Node's is.
    const socket = new UndiciWebSocket(url)
    onTestFinished(() => socket.close())
    const received: unknown[] = []
    const send = (data: object) => socket.send(JSON.stringify(data))
    socket.onopen = () => {
      for (const binding of ['call.CHANNEL_CREATE.*', 'call.CHANNEL_ANSWER.*', 'conference.event.C.*']) {
        send({
          action: 'subscribe',
          auth_token,
          request_id: `R-${binding}`,
          data: { account_id: 'child', binding },
        })
      }
    }
    socket.onmessage = ({ data }) => received.push(JSON.parse(data))
    await until(() => received.length === 3)
    const both = ['call.CHANNEL_CREATE.*', 'call.CHANNEL_ANSWER.*']
    expect(received.splice(0)).toEqual([
      reply('success', { subscribed: [both[0]] }, 'R-call.CHANNEL_CREATE.*'),
      reply('success', { subscribed: both }, 'R-call.CHANNEL_ANSWER.*'),
      reply(
        'error',
        { errors: ['no available subscriptions to requested binding'] },
        'R-conference.event.C.*',
      ),
    ])
    for (const hook of ['channel_create', 'channel_hold', 'channel_answer', 'channel_destroy'] as const)
      await publish({ hook })
    await until(() => received.length === 2)
    expect(received).toMatchObject(
      ['CHANNEL_CREATE', 'CHANNEL_ANSWER'].map((name) => ({
        action: 'event',
        subscribed_key: `call.${name}.*`,
        subscription_key: `call.child.${name}.*`,
        name,
        routing_key: `call.child.${name}.call-1`,
        data: { event_name: name, call_id: 'call-1', custom_channel_vars: { account_id: 'child' } },
      })),
    )
  })

  it('unsubscribe from one binding, from a list, or from all', async () => {
    const { url, token, publish } = await startSockets()
    const client = await connect(url)
    const auth_token = await token()
    const bindings = ['call.CHANNEL_CREATE.*', 'call.CHANNEL_ANSWER.*', 'call.*.call-1']
    expect(
      await client.request('subscribe', {
        auth_token,
        data: { account_id: 'child', bindings, name: 'My new socket', metadata: { test: 'test' } },
      }),
    ).toEqual(reply('success', { subscribed: bindings }))
    // One frame per binding.
    await publish()
    expect([await client.next(), await client.next()].map((frame) => frame.subscribed_key)).toEqual([
      bindings[0],
      bindings[2],
    ])
    expect(
      await client.request('unsubscribe', { data: { account_id: 'child', binding: bindings[0] } }),
    ).toEqual(reply('success', { unsubscribed: [bindings[0]], subscribed: bindings.slice(1) }))
    expect(await client.request('unsubscribe', { data: { bindings: [bindings[2]] } })).toEqual(
      reply('success', { unsubscribed: [bindings[2]], subscribed: [bindings[1]] }),
    )
    await publish()
    // Nobody is bound to it: the pong is next.
    expect(await client.request('ping')).toEqual(reply('success', { response: 'pong' }))
    expect(await client.request('unsubscribe')).toEqual(
      reply('success', { unsubscribed: [bindings[1]], subscribed: [] }),
    )
    await publish({ hook: 'channel_answer' })
    expect(await client.request('ping', { request_id: 'r' })).toEqual(
      reply('success', { response: 'pong' }, 'r'),
    )
  })
})

describe('authentication', () => {
  it('comes before every action', async () => {
    const { url, token } = await startSockets()
    const client = await connect(url)
    for (const action of ['ping', 'subscribe', 'unsubscribe', 'nonsense']) {
      expect(await client.request(action)).toEqual(refused('authentication token required'))
    }
    for (const auth_token of ['f'.repeat(64), 'x', 7, {}]) {
      const frame = await client.request('ping', { auth_token })
      expect(frame).toEqual(refused('failed to authenticate token'))
    }
    expect(await client.request('ping')).toEqual(refused('authentication token required'))
    expect(await client.request('ping', { auth_token: await token() })).toMatchObject({ status: 'success' })
    expect(await client.request('ping')).toMatchObject({ status: 'success' })
    // A wrong token changes nothing.
    expect(await client.request('ping', { auth_token: 'x' })).toEqual(refused('failed to authenticate token'))
    expect(await client.request('ping')).toMatchObject({ status: 'success' })
  })

  it('permits the own account and those below it', async () => {
    const { url, token, publish } = await startSockets()
    const parent = await connect(url)
    const child = await connect(url)
    const withToken = async (client: typeof parent, account: 'parent' | 'child', target: string) =>
      client.request('subscribe', { auth_token: await token(account), ...subscription(target) })
    expect(await withToken(parent, 'parent', 'child')).toMatchObject({ status: 'success' })
    expect(await withToken(parent, 'parent', 'parent')).toMatchObject({ status: 'success' })
    expect(await withToken(child, 'child', 'child')).toMatchObject({ status: 'success' })
    const forbidden = refused('unauthorized account id')
    for (const target of ['parent', 'other', 'nobody', '']) {
      expect(await withToken(child, 'child', target), target).toEqual(forbidden)
    }
    expect(await withToken(parent, 'parent', 'other')).toEqual(forbidden)
    expect(await withToken(parent, 'parent', '*')).toEqual(refused('unauthorized wildcard account id'))
    await publish({ accountId: 'other', callId: 'theirs' })
    await publish({ accountId: 'parent', callId: 'ours' })
    await publish({ callId: 'below' })
    expect([await parent.next(), await parent.next()].map((frame) => frame.data.call_id)).toEqual([
      'ours',
      'below',
    ])
    expect((await child.next()).data.call_id).toBe('below')
    expect([parent.frames, child.frames]).toEqual([[], []])
  })

  it('ends with the token: no event follows, and the socket is closed', async () => {
    const { hs, url, token, publish } = await startSockets()
    const client = await connect(url)
    const auth_token = await token()
    await client.request('subscribe', { auth_token, ...subscription('child') })
    await publish({ callId: 'before' })
    expect((await client.next()).data.call_id).toBe('before')
    await hs.auth.signOut(auth_token)
    await publish({ callId: 'after' })
    expect(await client.closed).toEqual([1008, 'failed to authenticate token'])
    expect(client.frames).toEqual([])
  })

  it('that ended is told to the next request', async () => {
    const { hs, url, token } = await startSockets()
    const client = await connect(url)
    const auth_token = await token()
    await client.request('ping', { auth_token })
    await hs.auth.signOut(auth_token)
    expect(await client.request('ping')).toEqual(refused('failed to authenticate token'))
    expect(await client.closed).toEqual([1008, 'failed to authenticate token'])
  })

  it('may be renewed on the same socket', async () => {
    const { hs, url, token, publish } = await startSockets()
    const client = await connect(url)
    const first = await token()
    await client.request('subscribe', { auth_token: first, ...subscription('child') })
    expect(await client.request('ping', { auth_token: await token() })).toMatchObject({ status: 'success' })
    await hs.auth.signOut(first)
    await publish()
    expect(await client.next()).toMatchObject({ action: 'event', name: 'CHANNEL_CREATE' })
  })

  it('ends for an account that is moved away', async () => {
    const { hs, url, token, publish } = await startSockets()
    const client = await connect(url)
    await client.request('subscribe', { auth_token: await token(), ...subscription('child') })
    await hs.accounts.update('child', { parentId: 'other' })
    await publish()
    expect(await client.closed).toEqual([1008, 'failed to authenticate token'])
    expect(client.frames).toEqual([])
  })
})

describe('bad input', () => {
  it('gets an error, and the socket stays open', async () => {
    const { url, token } = await startSockets()
    const client = await connect(url)
    const sent = async (frame: string | Buffer) => {
      client.send(frame)
      return client.next()
    }
    expect(await sent('{')).toEqual(refused('invalid JSON'))
    expect(await sent('[1]')).toEqual(refused('invalid JSON : not an object'))
    expect(await sent(Buffer.from('{"action":"ping"}'))).toEqual(refused('binary frames are not supported'))
    expect(await sent('{}')).toEqual(refused('missing required keys : action'))
    expect(await sent(JSON.stringify({ action: 'ping', request_id: 'x'.repeat(60_000) }))).toEqual(
      refused('request_id must have 1 to 128 printable characters'),
    )
    const auth_token = await token()
    expect(await client.request('nonsense', { auth_token })).toEqual(refused('unknown action'))
    expect(await client.request('__proto__')).toEqual(refused('unknown action'))
    expect(await client.request('subscribe')).toEqual(refused('missing required keys in data object'))
    expect(await client.request('subscribe', { data: { account_id: 'child' } })).toEqual(
      refused('missing required keys : binding'),
    )
    expect(
      await client.request('subscribe', {
        data: { account_id: 'child', bindings: ['fax.*', 'call.X.*'] },
      }),
    ).toEqual(refused('no available subscriptions to requested binding', 'event X not supported'))
    expect(await client.request('unsubscribe')).toEqual(
      reply('success', { unsubscribed: [], subscribed: [] }),
    )
    expect(await client.request('ping')).toMatchObject({ status: 'success' })
  })

  it('in a list of bindings is refused alone', async () => {
    const { hs, url, token } = await startSockets()
    const client = await connect(url)
    const errors = ['event X not supported']
    const bindings = ['call.X.*', 'call.CHANNEL_CREATE.*', 'call.CHANNEL_ANSWER.*']
    expect(
      await client.request('subscribe', {
        auth_token: await token(),
        data: { account_id: 'child', bindings },
      }),
    ).toEqual(reply('success', { subscribed: bindings.slice(1), refused: ['call.X.*'], errors }))
    await hs.publish({ hook: 'channel_create', accountId: 'child', callId: 'c' })
    expect(await client.next()).toMatchObject({ subscribed_key: 'call.CHANNEL_CREATE.*' })
    expect(
      await client.request('unsubscribe', { data: { account_id: 'child', bindings: bindings.slice(0, 2) } }),
    ).toEqual(
      reply('success', {
        unsubscribed: [bindings[1]],
        subscribed: [bindings[2]],
        refused: ['call.X.*'],
        errors,
      }),
    )
  })

  it('above the largest frame closes the socket', async () => {
    const { url } = await startSockets({ maxFrameBytes: 1_024 })
    const client = await connect(url)
    client.send('x'.repeat(1_025))
    expect((await client.closed)[0]).toBe(1009)
  })

  it('of too many bindings is refused', async () => {
    const { url, token } = await startSockets({ maxBindings: 3 })
    const client = await connect(url)
    await client.request('ping', { auth_token: await token() })
    const subscribe = (account_id: string, ...calls: string[]) =>
      client.request('subscribe', { data: { account_id, bindings: calls.map((call) => `call.*.${call}`) } })
    expect(await subscribe('child', 'a', 'b')).toMatchObject({ status: 'success' })
    expect(await subscribe('parent', 'a', 'b')).toEqual(
      refused('too many bindings : at most 3 (maxBindings)'),
    )
    expect(await subscribe('child', 'a', 'b', 'c')).toMatchObject({ status: 'success' })
  })
})

describe('the handshake', () => {
  it('is accepted on every path, without a sub-protocol', async () => {
    const { url } = await startSockets()
    await connect(`${url}v2/any/path?x=1`)
    expect(await refusedWith(url, ['chat'])).toBe(400)
    // A body in the envelope of the HTTP API.
    const response = await fetch(url.replace('ws:', 'http:'))
    expect([response.status, response.headers.get('upgrade')]).toEqual([426, 'websocket'])
    expect(await response.json()).toMatchObject({
      error: '426',
      message: 'upgrade_required',
      status: 'error',
    })
  })

  it('that is no WebSocket handshake is refused', async () => {
    const { url } = await startSockets()
    const { port } = new URL(url)
    const request = http.get({ port, host: '127.0.0.1', headers: { connection: 'upgrade', upgrade: 'h2c' } })
    const [response] = await once(request, 'response')
    response.resume()
    expect(response.statusCode).toBe(400)
  })

  it('is refused for an address with too many sockets, and when there are too many in all', async () => {
    const { url, sockets } = await startSockets({
      maxSocketsPerAddress: 2,
      maxSockets: 3,
      trustProxy: ['127.0.0.1'],
    })
    const from = (address: string) => ({ 'x-forwarded-for': address })
    const first = await connect(url, from('192.0.2.1'))
    await connect(url, from('192.0.2.1'))
    expect(await refusedWith(url, [], from('192.0.2.1'))).toBe(429)
    await connect(url, from('192.0.2.2'))
    expect(sockets.socketCount).toBe(3)
    expect(await refusedWith(url, [], from('192.0.2.3'))).toBe(503)
    first.socket.close()
    await until(() => sockets.socketCount === 2)
    await connect(url, from('192.0.2.1'))
  })

  it('counts the addresses of one IPv6 network together', async () => {
    const { url } = await startSockets({ maxSocketsPerAddress: 1, trustProxy: ['127.0.0.1'] })
    await connect(url, { 'x-forwarded-for': '2001:db8::1' })
    expect(await refusedWith(url, [], { 'x-forwarded-for': '2001:db8::2' })).toBe(429)
    await connect(url, { 'x-forwarded-for': '2001:db8:0:1::1' })
  })

  it('counts the address of the connection where no proxy is trusted', async () => {
    const { url } = await startSockets({ maxSocketsPerAddress: 1 })
    await connect(url, { 'x-forwarded-for': '192.0.2.1' })
    expect(await refusedWith(url, [], { 'x-forwarded-for': '192.0.2.2' })).toBe(429)
  })

  it('is taken over on a server of the host, beside the HTTP API', async () => {
    const { hs, token } = await startSockets()
    const server = createServer(hs).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const sockets = await blackhole(hs)
    sockets.attach(server)
    sockets.attach(server)
    const client = await connect(`ws://127.0.0.1:${port}/socket`)
    expect(await client.request('ping', { auth_token: await token() })).toMatchObject({ status: 'success' })
    const response = await fetch(`http://127.0.0.1:${port}/v2/websockets`)
    expect(((await response.json()) as { data: object }).data).toMatchObject({
      call: expect.arrayContaining(['call.CHANNEL_CREATE.{CALL_ID}']),
    })
    await sockets.close()
    expect((await client.closed)[0]).toBe(1001)
    expect(server.listenerCount('upgrade')).toBe(0)
    expect(server.listening).toBe(true)
  })
})

describe('the end', () => {
  it('closes every socket and the server, and refuses what comes after', async () => {
    const { hs, url, sockets, token } = await startSockets()
    const server = createServer(hs).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    const client = await connect(url)
    await client.request('subscribe', { auth_token: await token(), ...subscription('child') })
    const closed = sockets.close()
    expect(await client.closed).toEqual([1001, 'going away'])
    await closed
    expect(sockets.socketCount).toBe(0)
    server.on('upgrade', sockets.handleUpgrade)
    const { port } = server.address() as AddressInfo
    expect(await refusedWith(`ws://127.0.0.1:${port}/`)).toBe(503)
  })

  it('cuts a client that does not close its side', async () => {
    const clock = manualClock()
    const { url, sockets } = await startSockets({ clock })
    const client = await connect(url)
    client.socket.pause()
    const closed = sockets.close()
    await clock.advance(1_999)
    expect(sockets.socketCount).toBe(1)
    await clock.advance(1)
    await closed
    expect(sockets.socketCount).toBe(0)
  })
})

describe('a client that reads nothing', () => {
  it('is closed when too much waits for it, and slows down neither publishers nor others', async () => {
    const warnings: object[] = []
    const log = { debug() {}, info() {}, error() {}, warn: (fields: object) => warnings.push(fields) }
    const clock = manualClock()
    const { url, sockets, token, publish } = await startSockets({ maxBufferedBytes: 131_072, log, clock })
    const slow = await connect(url)
    const quick = await connect(url)
    const auth_token = await token()
    for (const client of [slow, quick])
      await client.request('subscribe', { auth_token, ...subscription('child') })
    slow.socket.pause()
    let published = 0
    // The kernel's buffers take several megabytes before anything waits here.
    const customChannelVars = { filler: 'x'.repeat(30_000) }
    while (warnings.length === 0) {
      published += 1
      await publish({ callId: `call-${published}`, customChannelVars })
      expect((await quick.next()).data.call_id).toBe(`call-${published}`)
      if (published === 2_000) throw new Error('the slow client was not closed')
    }
    expect(warnings).toEqual([{ address: '127.0.0.1', code: 1013, reason: 'too slow' }])
    // It does not read the close frame either.
    await clock.advance(2_000)
    await until(() => sockets.socketCount === 1)
    expect(await quick.request('ping')).toMatchObject({ status: 'success' })
    slow.socket.resume()
    await slow.closed
    expect(slow.frames.length).toBeLessThan(published)
  })
})
