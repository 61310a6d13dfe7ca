import { connect } from 'node:net'
import { createHookswitch, memoryStore } from 'hookswitch'
import { createServer } from 'hookswitch/node'
import { afterEach, expect, it, vi } from 'vitest'
import { BODY_TIMEOUT_MS } from '../../adapters/http/request-record.js'
import { until } from '../../src/testkit/until.js'

afterEach(() => vi.restoreAllMocks())

/** Sends bytes and ends the connection; resolves when the server has closed it. */
function send(port: number, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(Buffer.from(bytes, 'latin1')))
    socket.on('close', () => resolve()).on('error', () => {})
    socket.resume()
  })
}

const head = (header: string) =>
  `PUT /v1/api_auth HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${header}\r\n\r\n`

// The server kept reading: 1 MiB of memory and a timer of 30 s for each closed connection, and the process could not exit.
it.each([
  ['is truncated', `${head('content-length: 100000')}{"data":`],
  ['has a broken chunk', `${head('transfer-encoding: chunked')}zz\r\n{}`],
  ['has an unknown transfer coding', `${head('transfer-encoding: gzip')}{}`],
])('the server stops reading a body that %s', async (_, bytes) => {
  const waiting = new Set<unknown>()
  const set = globalThis.setTimeout
  const clear = globalThis.clearTimeout
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((...args: Parameters<typeof set>) => {
    const timer = set(...args)
    if (args[1] === BODY_TIMEOUT_MS) waiting.add(timer)
    return timer
  }) as typeof set)
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    waiting.delete(timer)
    clear(timer)
  })
  const hs = createHookswitch({ store: memoryStore() })
  await hs.start()
  const server = createServer(hs)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  for (let round = 0; round < 5; round += 1) await send(port, bytes)
  await until(() => waiting.size === 0)
  expect(waiting.size).toBe(0)
  await new Promise((resolve) => server.close(resolve))
  await hs.close()
})
