/** How true the deadline is. `MEASURE=1 npx vitest run test/send/punctual.test.ts` shows how late it was. */
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { afterAll, describe, expect, it } from 'vitest'
import type { SendRequest } from '../../src/ports.js'
import { createResolver } from '../../src/send/resolve.js'
import { closeAfterEach, later, localSender, post, receiver } from './hostile.js'
import { nameServer } from './name-server.js'
import { type Pest, pests } from './pests.js'

closeAfterEach()

const DEADLINE_MS = 400
const TIMES = 5
const lateness: Record<string, string> = {}
afterAll(() => {
  if (process.env.MEASURE) console.table(lateness)
})

/** Sends a few one after the other; what was seen, each with the time that it took. */
async function timed(name: string, send: (request: SendRequest) => Promise<unknown>, url: string) {
  const seen: { one: unknown; ms: number }[] = []
  for (let n = 0; n < TIMES; n++) {
    const started = performance.now()
    const one = await send(post(url, { deadlineMs: DEADLINE_MS }))
    seen.push({ one, ms: performance.now() - started })
  }
  const late = seen.map(({ ms }) => ms - DEADLINE_MS)
  lateness[name] = `${Math.min(...late).toFixed(1)} to ${Math.max(...late).toFixed(1)} ms`
  return seen
}

const timeout = { kind: 'no_response', failure: 'timeout' }

describe('at its deadline, and not before, ends', () => {
  it.each<[Pest, object]>([
    ['silence', timeout],
    ['drip-headers', timeout],
    ['drip-body', { kind: 'response', status: 200, bodyEnd: 'timeout' }],
  ])('%s', async (pest, expected) => {
    const port = await pests()
    const sender = localSender()
    for (const { one, ms } of await timed(pest, sender.send, `http://pest.test:${port}/${pest}`)) {
      expect(one).toMatchObject(expected)
      expect(ms).toBeGreaterThanOrEqual(DEADLINE_MS - 1)
    }
  })

  it('a TLS handshake that never does', async () => {
    const dripping = await receiver(
      () => {},
      (socket) => {
        // A handshake record of 16 KiB, byte by byte.
        socket.write(Buffer.from([0x16, 3, 3, 0x40, 0]))
        const timer = setInterval(() => socket.destroyed || socket.write('\x02'), 5)
        socket.on('close', () => clearInterval(timer))
      },
    )
    const url = dripping.url.replace('http:', 'https:')
    for (const { one, ms } of await timed('tls', localSender().send, url)) {
      expect(one).toMatchObject(timeout)
      expect(ms).toBeGreaterThanOrEqual(DEADLINE_MS - 1)
    }
    await Promise.all(dripping.connections.map(async (socket) => socket.destroyed || once(socket, 'close')))
  })

  it('a look-up that is never answered', async () => {
    const { address } = await nameServer(() => undefined)
    const resolver = createResolver({ servers: [address], hostsPath: '/nowhere' })
    later(() => resolver.close())
    const seen = await timed('dns', localSender({ resolver }).send, 'http://silent.test/')
    // The look-up has as long as the attempt: which of the two ends first is a matter of a millisecond.
    for (const { one, ms } of seen) {
      expect(one).toMatchObject({ kind: expect.stringMatching(/no_response|own_fault/) })
      expect(ms).toBeGreaterThanOrEqual(DEADLINE_MS - 5)
    }
  })
})

describe('before its deadline ends', () => {
  it.each<[Pest, object]>([
    ['endless-body', { kind: 'response', status: 200, bodyEnd: 'truncated' }],
    ['endless-chunks', { kind: 'response', status: 200, bodyEnd: 'truncated' }],
    ['endless-extension', { kind: 'response', status: 200, bodyEnd: 'truncated' }],
    ['endless-trailers', { kind: 'response', status: 200, bodyEnd: 'truncated' }],
    ['endless-headers', { kind: 'no_response', failure: 'protocol' }],
    ['interim-flood', { kind: 'no_response', failure: 'protocol' }],
    ['gzip-bomb', { kind: 'response', status: 200, bodyEnd: 'truncated' }],
    ['garbage', { kind: 'no_response', failure: 'protocol' }],
  ])('%s', async (pest, expected) => {
    const port = await pests()
    // However slow the machine: only what is seen counts here.
    const send = (request: SendRequest) => localSender().send({ ...request, deadlineMs: 20_000 })
    for (const { one } of await timed(pest, send, `http://pest.test:${port}/${pest}`))
      expect(one).toMatchObject(expected)
  })
})
