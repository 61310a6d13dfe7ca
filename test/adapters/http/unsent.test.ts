/** What connections do not take is bounded: for each in time, for all together in bytes. */
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import type { HttpService, ResponseRecord, ResponseStream } from 'hookswitch/adapter'
import { fetchHandler } from 'hookswitch/fetch'
import { createServer, nodeHandler } from 'hookswitch/node'
import { until } from 'hookswitch/testkit'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createUnsent } from '../../../adapters/http/unsent.js'
import { connect } from './raw.js'
import { listen, SERVERS, type StartServer, startStandaloneServer } from './servers.js'

const ALL: Readonly<Record<string, StartServer>> = { ...SERVERS, standalone: startStandaloneServer }
const MIB = 1_048_576

describe('the bytes that connections have not taken', () => {
  afterEach(() => void vi.useRealTimers())

  it('are waited for up to the time limit, and no longer', () => {
    vi.useFakeTimers()
    const awaitTaken = createUnsent({ writeTimeoutMs: 1_000, maxUnsentBytes: MIB })
    const closed: string[] = []
    const release = awaitTaken(10, () => closed.push('taken'))
    awaitTaken(10, () => closed.push('not taken'))
    vi.advanceTimersByTime(999)
    expect(closed).toEqual([])
    release()
    vi.advanceTimersByTime(1)
    expect(closed).toEqual(['not taken'])
    vi.advanceTimersByTime(10_000)
    expect(closed).toEqual(['not taken'])
    expect(vi.getTimerCount()).toBe(0)
  })

  it.each([
    [1, 0],
    [2, 1],
    [10, 9],
  ])(
    'have a limit for all together: of %i beyond, %i are closed, those first that took nothing for the longest',
    (beyond, closedCount) => {
      vi.useFakeTimers()
      const awaitTaken = createUnsent({ writeTimeoutMs: 1_000, maxUnsentBytes: 20 * MIB })
      const closed: number[] = []
      // Exactly the limit; the first one then takes its part and gets another.
      const releases = Array.from({ length: 20 }, (_, index) => awaitTaken(MIB, () => closed.push(index)))
      expect(closed).toEqual([])
      releases[0]!()
      awaitTaken(MIB, () => closed.push(0))
      for (let index = 1; index < beyond; index++) awaitTaken(MIB, () => closed.push(20 + index))
      expect(closed).toEqual(Array.from({ length: closedCount }, (_, index) => index + 1))
      for (const release of releases) release()
    },
  )

  it('of one connection alone may be more than the limit', () => {
    const closed: string[] = []
    const awaitTaken = createUnsent({ writeTimeoutMs: 1_000, maxUnsentBytes: MIB })
    const release = awaitTaken(3 * MIB, () => closed.push('large'))
    expect(closed).toEqual([])
    release()
  })
})

/** A service whose every response has this body. */
const answering = (response: Partial<ResponseRecord>): HttpService => ({
  handle: async () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: '',
    ...response,
  }),
  handlesPath: () => true,
})

describe.each(Object.entries(ALL))('a large response through %s', (_, startServer) => {
  it.each([65_536, 65_537, 10 * 65_536 + 1])('arrives whole: %i bytes', async (size) => {
    const body = 'é'.repeat(size / 2) + 'x'.repeat(size % 2)
    const headers = { 'content-type': 'application/json', 'content-length': String(size) }
    for (const content of [{ body }, { bytes: Buffer.from(body) }]) {
      const { port, close } = await startServer(answering({ headers, ...content }), '')
      onTestFinished(close)
      const response = await fetch(`http://127.0.0.1:${port}/v2/x`)
      expect(response.headers.get('content-type')).toBe('application/json')
      expect(response.headers.get('content-length')).toBe(String(size))
      expect(await response.text()).toBe(body)
    }
  })
})

/** A body that no socket buffer takes whole. */
const HUGE = Buffer.alloc(64 * MIB, 'x')
const HUGE_HEADERS = { 'content-type': 'application/json', 'content-length': String(HUGE.length) }

/** Sends a request and reads nothing. */
async function ignoreResponse(
  port: number,
  request = 'GET /v2/x HTTP/1.1\r\nHost: a\r\n\r\n',
): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1')
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  socket.pause()
  socket.write(request)
  return socket
}

function acceptedBy(server: http.Server): net.Socket[] {
  const sockets: net.Socket[] = []
  server.on('connection', (socket) => sockets.push(socket))
  return sockets
}

describe('a client that reads nothing', () => {
  it.each([
    ['createServer', (service: HttpService) => createServer(service, { writeTimeoutMs: 50 })],
    [
      'nodeHandler',
      (service: HttpService) => http.createServer(nodeHandler(service, { writeTimeoutMs: 50 })),
    ],
  ])('is disconnected after the write timeout of %s, whatever its response is', async (_, create) => {
    const stream = (): ResponseStream => {
      let isClosed = false
      return {
        next: async () => (isClosed ? undefined : 'x'.repeat(MIB)),
        close() {
          isClosed = true
        },
        onAbort() {},
      }
    }
    const whole: HttpService = answering({ bytes: HUGE, headers: HUGE_HEADERS })
    const streamed: HttpService = {
      ...whole,
      handle: async () => ({ status: 200, headers: {}, body: '', stream: stream() }),
    }
    for (const service of [whole, streamed]) {
      const server = create(service)
      const sockets = acceptedBy(server)
      const { port, close } = await listen(server)
      onTestFinished(close)
      await ignoreResponse(port)
      await until(() => sockets.length === 1 && sockets[0]!.destroyed)
    }
  })

  it('is disconnected if another one needs the bytes, and that one is not', async () => {
    const body = 'x'.repeat(16 * MIB)
    const headers = { 'content-length': String(body.length) }
    const server = createServer(answering({ body, headers }), { maxUnsentBytes: 20 * MIB })
    const sockets = acceptedBy(server)
    const { port, close } = await listen(server)
    onTestFinished(close)
    await ignoreResponse(port)
    await until(() => (sockets[0]?.writableLength ?? 0) > 0)
    const response = await fetch(`http://127.0.0.1:${port}/v2/x`)
    expect((await response.text()).length).toBe(body.length)
    await ignoreResponse(port)
    await until(() => sockets[0]!.destroyed)
  })

  it('holds one part of a body that others share', async () => {
    const server = createServer(answering({ bytes: HUGE, headers: HUGE_HEADERS }), { maxUnsentBytes: MIB })
    const sockets = acceptedBy(server)
    const { port, close } = await listen(server)
    onTestFinished(close)
    for (let index = 0; index < 40; index++) await ignoreResponse(port)
    await until(() => sockets.length === 40 && sockets.every(({ writableLength }) => writableLength > 0))
    expect(sockets.filter(({ destroyed }) => destroyed)).toEqual([])
    for (const { writableLength } of sockets) expect(writableLength).toBeLessThanOrEqual(66_000)
  })

  it('is disconnected by the write timeout of a fetch runtime that pulls no more', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    let closed = 0
    const stream: ResponseStream = {
      next: async () => 'part',
      close() {
        closed += 1
      },
      onAbort() {},
    }
    const response = await fetchHandler(answering({ stream }))(new Request('http://host/v2/x'))
    const reader = response.body!.getReader()
    await reader.read()
    vi.advanceTimersByTime(29_999)
    await reader.read()
    await vi.advanceTimersByTimeAsync(29_999)
    expect(closed).toBe(0)
    await vi.advanceTimersByTimeAsync(2)
    expect(closed).toBeGreaterThan(0)
    await expect(reader.read().then(() => reader.read())).rejects.toThrow()
  })
})

/** A service whose requests end when the test says so. */
function held() {
  const handling: { readonly url: string; readonly finish: () => void }[] = []
  const service: HttpService = {
    async handle({ url }) {
      await new Promise<void>((resolve) => {
        handling.push({ url, finish: resolve })
      })
      return { status: 200, headers: { 'content-length': String(url.length) }, body: url }
    },
    handlesPath: () => true,
  }
  return { handling, service }
}

describe.each(Object.entries(ALL).filter(([name]) => name !== 'fetch'))(
  'pipelined requests through %s',
  (_, startServer) => {
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

    it('are handled one after the other, in order', async () => {
      const { handling, service } = held()
      const { port, close } = await startServer(service, '')
      onTestFinished(close)
      const connection = await connect(port)
      const paths = Array.from({ length: 20 }, (_, index) => `/v2/${index}`)
      connection.write(paths.map(get).join(''))
      for (const [index, path] of paths.entries()) {
        await until(() => handling.length > index)
        expect(handling.length).toBe(index + 1)
        handling[index]!.finish()
        expect((await connection.next()).body).toBe(path)
      }
      connection.end()
    })

    it('are not handled after their connection was closed', async () => {
      const { handling, service } = held()
      const { port, close } = await startServer(service, '')
      onTestFinished(close)
      const connection = await connect(port)
      connection.write(get('/v2/0') + get('/v2/1'))
      await until(() => handling.length === 1)
      connection.socket.resetAndDestroy()
      await connection.closed
      const other = await connect(port)
      other.write(get('/v2/other'))
      await until(() => handling.length === 2)
      for (const { finish } of handling) finish()
      await other.next()
      expect(handling.map(({ url }) => url)).toEqual(['/v2/0', '/v2/other'])
      other.end()
    })

    it.each([
      [101, 101],
      [102, 0],
      [1_010, 0],
    ])('are answered up to 100 behind one that is handled, of %i', async (count, answered) => {
      const { handling, service } = held()
      const { port, close } = await startServer(service, '')
      onTestFinished(close)
      const connection = await connect(port)
      connection.write(Array.from({ length: count }, (_, index) => get(`/v2/${index}`)).join(''))
      if (answered === 0) return connection.closed
      for (let index = 0; index < count; index++) {
        await until(() => handling.length > index)
        handling[index]!.finish()
        expect((await connection.next()).status).toBe(200)
      }
      connection.end()
    })
  },
)

it('a client that pipelines more requests than may wait is disconnected before the others are parsed', async () => {
  const { service } = held()
  const server = createServer(service)
  let parsed = 0
  server.on('request', () => {
    parsed += 1
  })
  const { port, close } = await listen(server)
  onTestFinished(close)
  const connection = await connect(port)
  connection.write('GET /v2/x HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_500))
  await connection.closed
  expect(parsed).toBeLessThanOrEqual(102)
})

it('a client that pipelines requests without reading causes one response', async () => {
  let handled = 0
  const service: HttpService = {
    async handle() {
      handled += 1
      return { status: 200, headers: HUGE_HEADERS, body: '', bytes: HUGE }
    },
    handlesPath: () => true,
  }
  const server = createServer(service)
  const sockets = acceptedBy(server)
  const { port, close } = await listen(server)
  onTestFinished(close)
  await ignoreResponse(port, 'GET /v2/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(20))
  await until(() => (sockets[0]?.writableLength ?? 0) > 0)
  await fetch(`http://127.0.0.1:${port}/v2/x`, { method: 'HEAD' })
  expect(handled).toBe(2)
})
