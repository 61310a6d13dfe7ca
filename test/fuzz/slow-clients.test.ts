/** Clients that take their time, many at once, against our own server: each gets its due, and nobody waits for them. */
import type { Server } from 'node:http'
import type { HttpService } from 'hookswitch'
import { createServer, type ServerOptions } from 'hookswitch/node'
import { expect, it } from 'vitest'
import { echoService } from '../adapters/http/echo.js'
import { connect, type RawConnection, sendRaw } from '../adapters/http/raw.js'
import { GET, put, serving } from '../adapters/http/serving.js'

const MANY = 150
const start = serving()
const named: HttpService = { ...echoService(true), node: 'n1' }

function serve(options: ServerOptions = {}): { server: Server; port: Promise<number> } {
  const server = createServer(named, options)
  return { server, port: start(server) }
}

const many = (port: number): Promise<RawConnection[]> =>
  Promise.all(Array.from({ length: MANY }, () => connect(port)))

it('many clients that never end their heads are each answered 408, and others are answered meanwhile', async () => {
  const { port } = serve({ headersTimeoutMs: 200, requestTimeoutMs: 400 })
  const clients = await many(await port)
  for (const client of clients) client.write('GET /v2/x HTTP/1.1\r\nHost: a\r\nx-slow: ')
  // Answered although none of them has ended yet.
  expect((await sendRaw(await port, GET)).status).toBe(200)
  const answers = await Promise.all(clients.map((client) => client.next()))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([408]))
  for (const client of clients) client.end()
})

it('a head that drips does not buy time: the limit is on the whole of it', async () => {
  const { port } = serve({ headersTimeoutMs: 150, requestTimeoutMs: 300 })
  const client = await connect(await port)
  client.write('GET /v2/x HTTP/1.1\r\nHost: a\r\n')
  let isOver = false
  const answered = client.next().finally(() => {
    isOver = true
  })
  for (let n = 0; !isOver; n += 1) {
    client.write(`x-${n}: ${n}\r\n`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  expect((await answered).status).toBe(408)
  client.end()
})

it('a body that drips does not buy time either', async () => {
  const { port } = serve({ headersTimeoutMs: 150, requestTimeoutMs: 300 })
  const client = await connect(await port)
  client.write(put('Content-Length: 1000000'))
  let isOver = false
  const answered = client.next().finally(() => {
    isOver = true
  })
  while (!isOver) {
    client.write('x')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  expect((await answered).status).toBe(408)
  client.end()
})

it('a request that comes byte by byte within its time is answered as any other', async () => {
  const { port } = serve()
  const client = await connect(await port)
  for (const byte of Buffer.from(`${put('Content-Length: 11')}{"data":{}}`)) {
    client.write(Uint8Array.of(byte))
    await new Promise(setImmediate)
  }
  const { status, body } = await client.next()
  expect([status, JSON.parse(body).payload.length]).toEqual([200, 11])
  client.end()
})

it('clients that do not read their answers hold up nobody, and lose nothing', async () => {
  const { port } = serve()
  const clients = await many(await port)
  const ASKED = 40
  for (const client of clients) {
    client.socket.pause()
    client.write(GET.repeat(ASKED))
  }
  for (let n = 0; n < 20; n += 1) expect((await sendRaw(await port, GET)).status).toBe(200)
  for (const client of clients) {
    client.socket.resume()
    for (let n = 0; n < ASKED; n += 1) expect((await client.next()).status).toBe(200)
    client.end()
  }
})

it('many clients that are cut in their bodies leave no connection behind', async () => {
  const { server, port } = serve()
  const clients = await many(await port)
  for (const client of clients) client.write(`${put('Content-Length: 100000')}{"data":`)
  expect((await sendRaw(await port, GET)).status).toBe(200)
  for (const client of clients) client.socket.resetAndDestroy()
  const left = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))
  await expect.poll(left).toBe(0)
})
