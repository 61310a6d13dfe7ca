/** Where a request went, as the sender tells the dispatcher: the address dialled, not the name. */
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { Dialled, Observation, SendRequest } from '../../src/ports.js'
import { createSender, type SenderOptions } from '../../src/send/sender.js'
import { compileAddressPolicy } from '../../src/values/address-policy.js'
import { startProxy } from './connect-proxy.js'
import { addresses, cleanUpAfterEach, fakeResolver, OK, onCleanup, post, startReceiver } from './harness.js'

cleanUpAfterEach()

const PUBLIC = '192.0.43.8'

function createHarness(options: Partial<SenderOptions> = {}) {
  const sender = createSender({
    addressPolicy: compileAddressPolicy({ allowLocal: true, allow: ['10.0.0.0/8', 'mixed.test'] }),
    resolver: fakeResolver(() => addresses('127.0.0.1')),
    ...options,
  })
  onCleanup(() => sender.close())
  return (request: SendRequest) =>
    new Promise<[string, Dialled | undefined]>((resolve) =>
      sender.sendWithCallback(request, (observation: Observation, dialled) =>
        resolve([observation.kind === 'no_response' ? observation.failure : observation.kind, dialled]),
      ),
    )
}

/** A port on which every connection is closed at once. */
async function closingPort(): Promise<number> {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onCleanup(async () => void server.close())
  return (server.address() as { port: number }).port
}

describe('the sender states where a request went', () => {
  it('for an answer and a failure of this machine, also on a connection that is used again', async () => {
    const { port } = await startReceiver((socket) => socket.write(OK))
    const send = createHarness()
    for (const host of ['127.0.0.1', 'localhost', 'name.test'])
      for (let n = 0; n < 2; n++)
        expect(await send(post(`http://${host}:${port}/`))).toEqual(['response', 'loopback'])
    expect(await send(post(`http://127.0.0.1:${await closingPort()}/`))).toEqual(['connection', 'loopback'])
  })

  it('for what did not answer in time, connected or not', async () => {
    const { port } = await startReceiver(() => {})
    const send = createHarness()
    const soon = { deadlineMs: 100 }
    expect(await send(post(`http://127.0.0.1:${port}/`, soon))).toEqual(['timeout', 'loopback'])
    // An address that is not routed: no connection, an error or none, but never an answer.
    const [, dialled] = await send(post('http://10.255.255.1/', soon))
    expect(dialled).toBe('private')
  })

  it('as unresolved where the name has no address, or the name server does not answer', async () => {
    const missing = createHarness({
      resolver: fakeResolver(() => ({ kind: 'missing', detail: 'no such name' })),
    })
    expect(await missing(post('http://name.test/'))).toEqual(['dns', 'unresolved'])
    const unreachable = createHarness({
      resolver: fakeResolver(() => ({ kind: 'unreachable', detail: 'no answer' })),
    })
    expect(await unreachable(post('http://name.test/'))).toEqual(['own_fault', 'unresolved'])
    const silent = createHarness({ resolver: fakeResolver(() => new Promise(() => {})) })
    expect(await silent(post('http://name.test/', { deadlineMs: 50 }))).toEqual(['timeout', 'unresolved'])
  })

  it('behind a proxy as where the target is: what the proxy answers itself is no answer', async () => {
    const { port } = await startReceiver((socket) => socket.write(OK))
    const resolver = fakeResolver((name) => addresses(name === 'internal.test' ? '10.1.2.3' : PUBLIC))
    const open = createHarness({ resolver, proxy: (await startProxy()).option() })
    expect(await open(post(`http://name.test:${port}/`))).toEqual(['response', 'public'])
    const failing = await startProxy(() => 'HTTP/1.1 502 Bad Gateway\r\n\r\n')
    const cut = createHarness({ resolver, proxy: failing.option() })
    expect(await cut(post('http://name.test/'))).toEqual(['connection', 'public'])
    expect(await cut(post('http://internal.test/'))).toEqual(['connection', 'private'])
    const refusing = await startProxy(() => 'HTTP/1.1 407 No\r\n\r\n')
    const refused = createHarness({ resolver, proxy: refusing.option() })
    expect(await refused(post('http://name.test/'))).toEqual(['own_fault', 'public'])
  })

  it('as the address that was connected to, where a name has several', async () => {
    const { port } = await startReceiver((socket) => socket.write(OK))
    const send = createHarness({ resolver: fakeResolver(() => addresses('127.0.0.1', PUBLIC)) })
    expect(await send(post(`http://mixed.test:${port}/`))).toEqual(['response', 'loopback'])
  })

  it('not for a request that was given no connection', async () => {
    const { port } = await startReceiver(() => {})
    const send = createHarness({ maxPerOrigin: 1 })
    const first = send(post(`http://127.0.0.1:${port}/`, { deadlineMs: 300 }))
    expect(await send(post(`http://127.0.0.1:${port}/`, { deadlineMs: 50 }))).toEqual([
      'own_fault',
      undefined,
    ])
    await first
  })
})
