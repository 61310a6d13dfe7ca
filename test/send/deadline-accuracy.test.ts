/** Accuracy of the deadline. `MEASURE=1 npx vitest run test/send/deadline-accuracy.test.ts` prints the delays. */
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { afterAll, describe, expect, it } from 'vitest'
import type { SendRequest } from '../../src/ports.js'
import { createDnsResolver } from '../../src/send/dns-resolver.js'
import { type AbusiveBehaviour, startAbusiveReceivers } from './abusive-receivers.js'
import { cleanUpAfterEach, localSender, onCleanup, post, startReceiver } from './harness.js'
import { startNameServer } from './name-server.js'

cleanUpAfterEach()

const DEADLINE_MS = 400
const TIMES = 5
const lateness: Record<string, string> = {}
afterAll(() => {
  if (process.env.MEASURE) console.table(lateness)
})

/** Sends several requests in sequence; returns each observation with its duration. */
async function timed(name: string, send: (request: SendRequest) => Promise<unknown>, url: string) {
  const results: { observation: unknown; ms: number }[] = []
  for (let n = 0; n < TIMES; n++) {
    const started = performance.now()
    const observation = await send(post(url, { deadlineMs: DEADLINE_MS }))
    results.push({ observation, ms: performance.now() - started })
  }
  const delays = results.map(({ ms }) => ms - DEADLINE_MS)
  lateness[name] = `${Math.min(...delays).toFixed(1)} to ${Math.max(...delays).toFixed(1)} ms`
  return results
}

const timeout = { kind: 'no_response', failure: 'timeout' }

describe('a request ends at its deadline, and not before, with', () => {
  it.each<[AbusiveBehaviour, object]>([
    ['silence', timeout],
    ['drip-headers', { kind: 'response', status: 200, note: 'the head was not complete in time' }],
    ['drip-body', { kind: 'response', status: 200, bodyEnd: 'timeout' }],
  ])('%s', async (behaviour, expected) => {
    const port = await startAbusiveReceivers()
    const sender = localSender()
    for (const { observation, ms } of await timed(
      behaviour,
      sender.send,
      `http://abusive.test:${port}/${behaviour}`,
    )) {
      expect(observation).toMatchObject(expected)
      expect(ms).toBeGreaterThanOrEqual(DEADLINE_MS - 1)
    }
  })

  it('an endless TLS handshake', async () => {
    const dripping = await startReceiver(
      () => {},
      (socket) => {
        // A handshake record of 16 KiB, byte by byte.
        socket.write(Buffer.from([0x16, 3, 3, 0x40, 0]))
        const timer = setInterval(() => socket.destroyed || socket.write('\x02'), 5)
        socket.on('close', () => clearInterval(timer))
      },
    )
    const url = dripping.url.replace('http:', 'https:')
    for (const { observation, ms } of await timed('tls', localSender().send, url)) {
      expect(observation).toMatchObject(timeout)
      expect(ms).toBeGreaterThanOrEqual(DEADLINE_MS - 1)
    }
    await Promise.all(dripping.connections.map(async (socket) => socket.destroyed || once(socket, 'close')))
  })

  it('an unanswered DNS lookup', async () => {
    const { address } = await startNameServer(() => undefined)
    const resolver = createDnsResolver({
      servers: [address],
      hostsPath: '/nowhere',
      resolvConfPath: '/nowhere',
    })
    onCleanup(() => resolver.close())
    const results = await timed('dns', localSender({ resolver }).send, 'http://silent.test/')
    // The lookup has the same limit as the attempt: which of the two ends first depends on a millisecond.
    for (const { observation, ms } of results) {
      expect(observation).toMatchObject({ kind: expect.stringMatching(/no_response|own_fault/) })
      expect(ms).toBeGreaterThanOrEqual(DEADLINE_MS - 5)
    }
  })
})

describe('a request ends before its deadline with', () => {
  it.each<[AbusiveBehaviour, object]>([
    ['endless-body', { kind: 'response', status: 200, bodyEnd: 'truncated' }],
    ['endless-chunks', { kind: 'response', status: 200, bodyEnd: 'truncated' }],
    ['endless-extension', { kind: 'response', status: 200, bodyEnd: 'truncated' }],
    ['endless-trailers', { kind: 'response', status: 200, bodyEnd: 'truncated' }],
    ['endless-headers', { kind: 'response', status: 200, note: 'the head is too large' }],
    ['interim-flood', { kind: 'no_response', failure: 'protocol', cause: 'head_too_large' }],
    ['gzip-bomb', { kind: 'response', status: 200, bodyEnd: 'truncated' }],
    ['garbage', { kind: 'no_response', failure: 'protocol', cause: 'not_http' }],
  ])('%s', async (behaviour, expected) => {
    const port = await startAbusiveReceivers()
    // A generous deadline for slow machines: only the observation matters here.
    const send = (request: SendRequest) => localSender().send({ ...request, deadlineMs: 20_000 })
    for (const { observation } of await timed(behaviour, send, `http://abusive.test:${port}/${behaviour}`))
      expect(observation).toMatchObject(expected)
  })
})
