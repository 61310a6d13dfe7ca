/** Property tests with generated responses of receivers and name servers. */
import type * as net from 'node:net'
import fc from 'fast-check'
import { createHookswitch, memoryStore } from 'hookswitch'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createDnsResolver } from '../../src/send/dns-resolver.js'
import { createSender } from '../../src/send/sender.js'
import { compileAddressPolicy } from '../../src/values/address-policy.js'
import { cleanUpAfterEach, localSender, onCleanup, post, startReceiver } from './harness.js'
import { startNameServer } from './name-server.js'

const connect = vi.hoisted(() => vi.fn())
vi.mock('node:net', async (original) => ({ ...(await original<typeof net>()), connect }))
const real = await vi.importActual<typeof net>('node:net')
beforeEach(() => {
  connect.mockReset().mockImplementation(real.connect)
})

cleanUpAfterEach()

const RESPONSES = [
  'HTTP/1.1 200 OK\r\ncontent-length: 5\r\nx-a: b\r\n\r\nhello',
  'HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 204 No\r\n\r\n',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nx-late: 1\r\n\r\n',
  'HTTP/1.0 500 No\r\nconnection: close\r\n\r\nto the end',
  'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\ncontent-length: 0\r\nkeep-alive: timeout=99\r\n\r\n',
  'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc',
]
const TOKENS = [
  '\r\n',
  '\r\n\r\n',
  'HTTP/1.1 ',
  '200',
  '100',
  '101',
  'content-length: ',
  'chunked',
  '0',
  '-1',
  '\0',
  ': ',
]

type Mutation = { readonly at: number; readonly deleted: number; readonly inserted: string }

/** A valid response with deletions and insertions, or arbitrary bytes. */
const bytes = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(...RESPONSES),
      fc.array(
        fc.record({
          at: fc.nat(200),
          deleted: fc.nat(6),
          inserted: fc.oneof(fc.constantFrom(...TOKENS), fc.string({ maxLength: 4 })),
        }),
        { maxLength: 4 },
      ),
    )
    .map(([text, mutations]) => Buffer.from(mutations.reduce(mutate, text), 'latin1')),
  fc.uint8Array({ maxLength: 300 }).map((some) => Buffer.from(some)),
)
const mutate = (text: string, { at, deleted, inserted }: Mutation) =>
  text.slice(0, at % (text.length + 1)) + inserted + text.slice((at % (text.length + 1)) + deleted)

interface Behaviour {
  readonly response: Buffer
  /** Offsets at which the response is split; each part is written in its own event loop turn. */
  readonly splits: readonly number[]
  readonly after: 'end' | 'reset' | 'stay'
}
const behaviour: fc.Arbitrary<Behaviour> = fc.record({
  response: bytes,
  splits: fc.array(fc.nat(300), { maxLength: 4 }),
  after: fc.constantFrom('end', 'reset', 'stay'),
})

async function play({ response, splits, after }: Behaviour, socket: net.Socket): Promise<void> {
  const ends = [...splits.map((at) => at % (response.length + 1)), response.length].sort((a, b) => a - b)
  let from = 0
  for (const to of ends) {
    if (socket.destroyed) return
    if (to > from) socket.write(response.subarray(from, to))
    from = to
    await new Promise(setImmediate)
  }
  if (after === 'end') socket.end()
  else if (after === 'reset') socket.resetAndDestroy()
}

const KINDS = /^(response|timeout|connection|protocol)$/

it('any response of a receiver, split in any way, has one observation of a known kind without control characters', async () => {
  const scripts = new Map<string, Behaviour>()
  const { url } = await startReceiver((socket, request) => {
    void play(scripts.get(/^POST \/(\d+) /.exec(request)![1]!)!, socket)
  })
  let number = 0
  await fc.assert(
    fc.asyncProperty(fc.array(behaviour, { minLength: 1, maxLength: 30 }), async (list) => {
      const sender = localSender()
      const observations = await Promise.all(
        list.map((item) => {
          scripts.set(`${++number}`, item)
          return sender.send(post(url.replace('hook', `${number}`), { deadlineMs: 250 }))
        }),
      )
      expect(observations).toHaveLength(list.length)
      for (const observation of observations) {
        expect(observation.kind === 'no_response' ? observation.failure : observation.kind).toMatch(KINDS)
        if (observation.kind === 'no_response') expect(observation.detail).not.toMatch(/[\0-\x1f\x7f]/)
        if (observation.kind !== 'response') continue
        expect(observation.status).toBeGreaterThanOrEqual(200)
        expect(observation.status).toBeLessThanOrEqual(999)
        expect(observation.headers.length % 2).toBe(0)
        // The parser lets no control character through except the tab: nothing could forge a log line.
        for (const text of observation.headers) expect(text).not.toMatch(/[\0-\x08\x0a-\x1f\x7f]/)
      }
      await sender.close()
    }),
    { numRuns: 25 },
  )
})

it('malicious response headers are stored as plain text', async () => {
  const big = 'v'.repeat(9_000)
  const head = [
    '__proto__: polluted',
    'constructor: x',
    'x-latin: caf\xe9\xff',
    'x-script: <script>alert(1)</script>',
    'x-cookie: $&\t%0d%0aSet-Cookie: a=1',
    'set-cookie: session=topsecret',
    `x-big: ${big}`,
    ...Array.from({ length: 300 }, (_, n) => `x-${n}: ${n}`),
  ]
  const { url } = await startReceiver((socket) =>
    socket.write(`HTTP/1.1 200 OK\r\n${head.join('\r\n')}\r\ncontent-length: 0\r\n\r\n`, 'latin1'),
  )
  const hs = createHookswitch({ store: memoryStore(), allowLocal: true })
  onCleanup(() => hs.close())
  await hs.start()
  const { id } = await hs.accounts.create({ name: 'Acme', realm: 'acme.example' })
  const webhook = await hs.webhooks.create(id, { name: 'w', uri: url, hook: 'all' })
  const ended = new Promise((resolve) => hs.events.once('delivered', resolve))
  await hs.publish({ hook: 'channel_create', accountId: id, callId: 'c' })
  await ended
  const [attempt] = await hs.webhooks.attempts(id, webhook.id)
  const flat = attempt!.responseHeaders!
  expect(flat.slice(0, 6)).toEqual(['__proto__', 'polluted', 'constructor', 'x', 'x-latin', 'café\xff'])
  expect(flat.every((text) => !/[\r\n\0]/.test(text))).toBe(true)
  expect(JSON.stringify(attempt)).not.toContain('topsecret')
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})

describe('name servers', () => {
  const octets = (count: number) => fc.array(fc.nat(255), { minLength: count, maxLength: count })
  const v4 = fc.oneof(
    fc.constantFrom(
      [127, 0, 0, 1],
      [10, 0, 0, 1],
      [169, 254, 169, 254],
      [0, 0, 0, 0],
      [8, 8, 8, 8],
      [1, 1, 1, 1],
    ),
    octets(4),
  )
  const mapped = (tail: readonly number[]) => [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, ...tail]
  const nat64 = (tail: readonly number[]) => [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, ...tail]
  const v6 = fc.oneof(
    v4.map(mapped),
    v4.map(nat64),
    v4.map((tail) => [0x20, 2, ...tail, ...new Array<number>(10).fill(0)]),
    fc.constant([...new Array<number>(15).fill(0), 1]),
    octets(14).map((tail) => [0x26, 6, ...tail]),
    octets(16),
  )
  const answer = fc.record({
    four: fc.array(v4, { maxLength: 4 }),
    six: fc.array(v6, { maxLength: 4 }),
    /** Bytes of the response that are overwritten, after its id. */
    corrupted: fc.array(fc.tuple(fc.integer({ min: 2, max: 120 }), fc.nat(255)), { maxLength: 3 }),
  })

  it('cannot cause a connection to a blocked address with any response', async () => {
    type Answer = typeof answer extends fc.Arbitrary<infer T> ? T : never
    const answers = new Map<string, Answer>()
    const of = (name: string) => answers.get(name.split('.')[0]!)
    const { address } = await startNameServer(
      (type, name) => (type === 'A' ? of(name)?.four : of(name)?.six) ?? [],
      true,
      (response, name) => {
        for (const [at, byte] of of(name)?.corrupted ?? []) if (at < response.length) response[at] = byte
        return response
      },
    )
    connect.mockImplementation(() => {
      const socket = new real.Socket()
      setImmediate(() => socket.destroy(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })))
      return socket
    })
    const policy = compileAddressPolicy({ allowLocal: false, allow: [] })
    const resolver = createDnsResolver({
      servers: [address],
      hostsPath: '/nowhere',
      resolvConfPath: '/nowhere',
      lookupMs: 400,
    })
    const sender = createSender({ addressPolicy: policy, resolver })
    onCleanup(async () => {
      await sender.close()
      resolver.close()
    })
    let number = 0
    let connects = 0
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 40 }), async (list) => {
        connect.mockClear()
        const observations = await Promise.all(
          list.map((item) => {
            answers.set(`n${++number}`, item)
            return sender.send(post(`http://n${number}.test/`, { deadlineMs: 2_000 }))
          }),
        )
        for (const observation of observations) {
          const kind = observation.kind === 'no_response' ? observation.failure : observation.kind
          expect(kind).toMatch(/^(blocked_address|dns|connection|timeout|own_fault)$/)
        }
        const hosts = connect.mock.calls.map(([options]) => (options as net.TcpNetConnectOpts).host!)
        connects += hosts.length
        expect(hosts.filter((host) => policy.checkAddress(host).blocked)).toEqual([])
      }),
      { numRuns: 15 },
    )
    expect(connects).toBeGreaterThan(0)
  })
})
