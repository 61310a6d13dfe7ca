import { gunzipSync } from 'node:zlib'
import { until } from 'hookswitch/testkit'
import { WebSocket } from 'undici'
import { describe, expect, it } from 'vitest'
import { type FakeAsterisk, fakeAsteriskAri } from '../../src/testkit/switches/index.js'
import { encodeFrame } from '../../src/testkit/switches/websocket.js'
import { connected, type RawClient, recorded, started } from './switches-client.js'

const recording = recorded('asterisk-ari.ndjson.gz')
const lines = gunzipSync(recording).toString().trimEnd().split('\n')
const OPENING = 'GET /ari/events?app=x&subscribeAll=true&api_key=hookswitch:sesame HTTP/1.1'

const start = (): Promise<FakeAsterisk> =>
  started(fakeAsteriskAri({ recording, username: 'hookswitch', password: 'sesame' }))
/** A raw WebSocket handshake, with the example key of RFC 6455, section 1.3. */
async function subscribed(fake: FakeAsterisk, opening = OPENING): Promise<RawClient> {
  const client = await connected(fake)
  const headers =
    'Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
  client.send(`${opening}\r\n${headers}\r\n\r\n`)
  await client.waitFor('HTTP/1.1 101 Switching Protocols\r\n')
  expect(await client.waitFor('\r\n\r\n')).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n')
  return client
}
/** A masked frame of a client. */
function masked(opcode: number, payload: string): string {
  const mask = [1, 2, 3, 4]
  const bytes = [...payload].map((char, at) => char.charCodeAt(0) ^ mask[at % 4]!)
  return String.fromCharCode(0x80 | opcode, 0x80 | payload.length, ...mask, ...bytes)
}
const get = (fake: FakeAsterisk, path: string, headers = {}) =>
  fetch(`http://127.0.0.1:${fake.port}${path}`, { headers: { connection: 'close', ...headers } })
const BASIC = { authorization: `Basic ${Buffer.from('hookswitch:sesame').toString('base64')}` }

describe('the events', () => {
  it('are sent to a standard WebSocket client as recorded', async () => {
    const fake = await start()
    const socket = new WebSocket(
      `ws://127.0.0.1:${fake.port}/ari/events?app=x&subscribeAll=true&api_key=hookswitch:sesame`,
    )
    const received: unknown[] = []
    socket.onmessage = ({ data }) => received.push(data)
    await fake.waitFor('subscribed')
    await fake.play({ speed: Infinity })
    await until(() => received.length >= lines.length)
    expect(received.length).toBe(3_956)
    expect(received.every((text, at) => text === lines[at])).toBe(true)
    socket.close(1000)
    await fake.waitFor('disconnected')
  })

  it('are only those of its application for a client without subscribeAll', async () => {
    const fake = await start()
    const client = await subscribed(fake, OPENING.replace('&subscribeAll=true', ''))
    await fake.play({ speed: Infinity })
    client.send(masked(9, 'end'))
    const received = await client.waitFor('\x8a\x03end')
    expect([...received.matchAll(/"type":"(\w+)","timestamp"/g)].map((match) => match[1])).toEqual(
      lines.flatMap((line) => /"type":"(Stasis(?:Start|End))"/.exec(line)?.[1] ?? []),
    )
  })

  it('share the connection with control frames: a ping is answered, a close is returned', async () => {
    const fake = await start()
    const client = await subscribed(fake)
    for (const char of masked(9, 'are you there')) {
      client.send(char)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await client.waitFor('are you there')).toBe('\x8a\x0dare you there')
    client.send(masked(1, 'hello') + masked(8, '\x03\xe8'))
    expect(await client.waitFor('\x03\xe8')).toBe('\x88\x02\x03\xe8')
    await client.closed()
  })

  it.each([
    ['a frame that is not masked', '\x81\x05hello', '\x03\xea'],
    ['a ping that is too long', '\x89\xfe\x01\x00', '\x03\xea'],
    ['a frame that is too long', '\x82\xff\x00\x00\x00\x01\x00\x00\x00\x00\x01\x02\x03\x04', '\x03\xf1'],
  ])('end after %s', async (_, bytes, code) => {
    const fake = await start()
    const client = await subscribed(fake)
    client.send(bytes)
    await client.waitFor(`\x88\x02${code}`)
    await client.closed()
  })

  it('are cut in the middle of a frame by cutIn', async () => {
    const fake = await start()
    const client = await subscribed(fake)
    const before = client.received.length
    fake.cutIn(10)
    await fake.advance()
    await client.closed()
    expect(client.received.length - before).toBe(10)
  })

  it.each([
    ['a wrong key', OPENING.replace('sesame', 'wrong'), /^HTTP\/1.1 401 /],
    ['no key', OPENING.replace(/&api_key=\S+/, ''), /^HTTP\/1.1 401 /],
    ['no application', OPENING.replace('app=x&', ''), /^HTTP\/1.1 400 /],
    ['another path', OPENING.replace('events', 'nonsense'), /^HTTP\/1.1 404 /],
  ])('are refused with %s', async (_, opening, status) => {
    const fake = await start()
    const client = await connected(fake)
    client.send(
      `${opening}\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    )
    await client.closed()
    expect(client.received).toMatch(status)
  })
})

describe('the requests', () => {
  it('list the channels that are open now', async () => {
    const fake = await start()
    const channels = async () => (await get(fake, '/ari/channels', BASIC)).json()
    expect(await channels()).toEqual([])
    await fake.advance(60)
    const open = new Map<string, unknown>()
    for (const line of lines.slice(0, 60)) {
      const { type, channel } = JSON.parse(line)
      if (type === 'ChannelDestroyed') open.delete(channel.id)
      else if (channel) open.set(channel.id, channel)
    }
    expect(open.size).toBeGreaterThan(1)
    expect(await channels()).toEqual([...open.values()])
    const [id, channel] = [...open][0]!
    expect(await (await get(fake, `/ari/channels/${id}?api_key=hookswitch:sesame`)).json()).toEqual(channel)
    await fake.play({ speed: Infinity })
    expect(await channels()).toEqual([])
    expect(await (await get(fake, '/ari/bridges', BASIC)).json()).toEqual([])
    expect(fake.commands[0]).toBe('GET /ari/channels')
  })

  it.each([
    ['/ari/channels', {}, 401],
    ['/ari/channels?api_key=hookswitch:wrong', {}, 401],
    ['/ari/channels', { authorization: 'Basic nonsense' }, 401],
    ['/ari/asterisk/ping', BASIC, 200],
    ['/ari/channels/nobody', BASIC, 404],
    ['/ari/channels/%E0%A4%A', BASIC, 404],
    ['/elsewhere', BASIC, 404],
  ])('%s with %o are answered %i', async (path, headers, status) => {
    const fake = await start()
    expect((await get(fake, path, headers)).status).toBe(status)
  })

  it('that are not HTTP end only their connection', async () => {
    const fake = await start()
    const client = await connected(fake)
    client.send('garbage\r\n\r\n')
    await client.closed()
    expect((await get(fake, '/ari/asterisk/ping', BASIC)).status).toBe(200)
  })

  it('get no response during a silence', async () => {
    const fake = await start()
    fake.silence()
    const client = await connected(fake)
    client.send('GET /ari/channels?api_key=hookswitch:sesame HTTP/1.1\r\nHost: x\r\n\r\n')
    // After two more connections the fake has read the request.
    for (const count of [2, 3]) {
      await connected(fake)
      await fake.waitFor('connected', count)
    }
    fake.speak()
    expect((await get(fake, '/ari/asterisk/ping', BASIC)).status).toBe(200)
    expect(client.received).toBe('')
    expect(fake.commands).toEqual(['GET /ari/asterisk/ping'])
  })
})

describe('a frame', () => {
  it.each([
    [0, 2],
    [125, 2],
    [126, 4],
    [65_535, 4],
    [65_536, 10],
  ])('of %i bytes has a head of %i, the shortest that RFC 6455 (5.2) allows', (length, head) => {
    expect(encodeFrame(1, Buffer.alloc(length)).length).toBe(head + length)
  })
})

describe('a restart', () => {
  it('cuts all connections, and no event of the open channels follows', async () => {
    const fake = await start()
    const client = await subscribed(fake)
    await fake.advance(60)
    const ended = (await (await get(fake, '/ari/channels', BASIC)).json()) as { id: string }[]
    expect(ended.length).toBeGreaterThan(1)
    fake.restart()
    await client.closed()
    expect(await (await get(fake, '/ari/channels', BASIC)).json()).toEqual([])
    const again = await subscribed(fake)
    await fake.play({ speed: Infinity })
    again.send(masked(9, 'end'))
    const received = await again.waitFor('\x8a\x03end')
    for (const { id } of ended) expect(received).not.toContain(`"${id}"`)
    expect(received.match(/"type":"ChannelCreated"/g)).toHaveLength(
      received.match(/"type":"ChannelDestroyed"/g)?.length ?? 0,
    )
  })
})

describe('the recording', () => {
  it.each([
    ['something else', Buffer.from('Asterisk Call Manager/11.0.0\r\n')],
    ['other JSON', Buffer.from('{"event":"invite"}\nnull\n[]\n')],
  ])('of %s is rejected by name', (_, bytes) => {
    const make = () => fakeAsteriskAri({ recording: bytes, username: 'a', password: 'b' })
    expect(make).toThrow(/recording holds no events of ARI/)
  })
})
