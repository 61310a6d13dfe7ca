/** Many slow clients at once against `createServer`: each gets a correct response, and other clients are not delayed. */
import type { Server } from 'node:http'
import type { HttpService } from 'hookswitch/adapter'
import { createServer, type ServerOptions } from 'hookswitch/node'
import { expect, it } from 'vitest'
import { echoService } from '../adapters/http/echo.js'
import { connect, type RawConnection, sendRaw } from '../adapters/http/raw.js'
import { GET, put, useServers } from '../adapters/http/server-setup.js'

const CLIENT_COUNT = 150
const start = useServers()
const namedService: HttpService = { ...echoService(true), node: 'n1' }

function serve(options: ServerOptions = {}): { server: Server; port: Promise<number> } {
  const server = createServer(namedService, options)
  return { server, port: start(server) }
}

const connectClients = (port: number): Promise<RawConnection[]> =>
  Promise.all(Array.from({ length: CLIENT_COUNT }, () => connect(port)))

it('clients with incomplete headers each get a 408, and other clients are served in the meantime', async () => {
  const { port } = serve({ headersTimeoutMs: 200, requestTimeoutMs: 400 })
  const clients = await connectClients(await port)
  for (const client of clients) client.write('GET /v2/x HTTP/1.1\r\nHost: a\r\nx-slow: ')
  // Served although all slow clients are still connected.
  expect((await sendRaw(await port, GET)).status).toBe(200)
  const responses = await Promise.all(clients.map((client) => client.next()))
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([408]))
  for (const client of clients) client.end()
})

it('a slowly sent head does not extend the time limit, which applies to the whole head', async () => {
  const { port } = serve({ headersTimeoutMs: 150, requestTimeoutMs: 300 })
  const client = await connect(await port)
  client.write('GET /v2/x HTTP/1.1\r\nHost: a\r\n')
  let isDone = false
  const response = client.next().finally(() => {
    isDone = true
  })
  for (let n = 0; !isDone; n += 1) {
    client.write(`x-${n}: ${n}\r\n`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  expect((await response).status).toBe(408)
  client.end()
})

it('a slowly sent body does not extend the time limit', async () => {
  const { port } = serve({ headersTimeoutMs: 150, requestTimeoutMs: 300 })
  const client = await connect(await port)
  client.write(put('Content-Length: 1000000'))
  let isDone = false
  const response = client.next().finally(() => {
    isDone = true
  })
  while (!isDone) {
    client.write('x')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  expect((await response).status).toBe(408)
  client.end()
})

it('a request sent byte by byte within the time limit succeeds', async () => {
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

it('clients that do not read their responses delay no others and receive all responses later', async () => {
  const { port } = serve()
  const clients = await connectClients(await port)
  const REQUEST_COUNT = 40
  for (const client of clients) {
    client.socket.pause()
    client.write(GET.repeat(REQUEST_COUNT))
  }
  for (let n = 0; n < 20; n += 1) expect((await sendRaw(await port, GET)).status).toBe(200)
  for (const client of clients) {
    client.socket.resume()
    for (let n = 0; n < REQUEST_COUNT; n += 1) expect((await client.next()).status).toBe(200)
    client.end()
  }
})

it('clients that disconnect during their bodies leave no open connection', async () => {
  const { server, port } = serve()
  const clients = await connectClients(await port)
  for (const client of clients) client.write(`${put('Content-Length: 100000')}{"data":`)
  expect((await sendRaw(await port, GET)).status).toBe(200)
  for (const client of clients) client.socket.resetAndDestroy()
  const openConnections = () =>
    new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))
  await expect.poll(openConnections).toBe(0)
})
