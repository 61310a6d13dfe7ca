import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { createDefaultSender } from '../../src/send/index.js'
import { compileAddressPolicy } from '../../src/values/address-policy.js'
import {
  addresses,
  cleanUpAfterEach,
  fakeResolver,
  localSender,
  OK,
  onCleanup,
  post,
  startReceiver,
} from './harness.js'

cleanUpAfterEach()

const CANCELLED = { kind: 'cancelled' }
const LONG_DEADLINE = { deadlineMs: 60_000 }
const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise(setImmediate)
}

describe('cancel', () => {
  it('cancels requests that wait for a connection, but not those on the wire', async () => {
    const { url, requests, connections } = await startReceiver(() => {})
    const sender = localSender({ maxPerOrigin: 1 })
    const sent = sender.send(post(url, LONG_DEADLINE))
    const waiting = [sender.send(post(url, LONG_DEADLINE)), sender.send(post(url, LONG_DEADLINE))]
    await until(() => requests.length === 1)
    sender.cancel('hook')
    expect(await Promise.all(waiting)).toEqual([CANCELLED, CANCELLED])
    connections[0]!.write(OK)
    expect(await sent).toMatchObject({ kind: 'response', status: 200 })
    expect(requests).toHaveLength(1)
  })

  it('cancels a request during DNS resolution, after which nothing connects', async () => {
    const canary = await startReceiver((socket) => socket.write(OK))
    let finishLookup = () => {}
    const resolver = fakeResolver(
      () =>
        new Promise((resolve) => {
          finishLookup = () => resolve(addresses('127.0.0.1'))
        }),
    )
    const sender = localSender({ resolver })
    const pending = sender.send(post(`http://slow.test:${canary.port}/`, LONG_DEADLINE))
    await until(() => resolver.queries.length === 1)
    sender.cancel('hook')
    expect(await pending).toEqual(CANCELLED)
    finishLookup()
    resolver.resolve = async () => addresses('127.0.0.1')
    expect(await sender.send(post(canary.url))).toMatchObject({ status: 200 })
    expect(canary.connections).toHaveLength(1)
  })

  it('cancels a request during connecting: the socket is destroyed and nothing is written', async () => {
    // The request is written when the connection is established; here it is cancelled right after connecting starts.
    const { url, requests, connections } = await startReceiver((socket) => socket.write(OK))
    const sender = localSender()
    const pending = sender.send(post(url, LONG_DEADLINE))
    await Promise.resolve()
    await Promise.resolve()
    sender.cancel('hook')
    expect(await pending).toEqual(CANCELLED)
    expect(await sender.send(post(url))).toMatchObject({ status: 200 })
    await until(() => connections.filter((socket) => !socket.destroyed).length === 1)
    expect(requests).toHaveLength(1)
  })

  it('cancels a request during a hanging TLS handshake', async () => {
    const silent = await startReceiver(() => {})
    const sender = localSender()
    const pending = sender.send(post(silent.url.replace('http:', 'https:'), LONG_DEADLINE))
    await until(() => silent.connections.length === 1)
    sender.cancel('hook')
    expect(await pending).toEqual(CANCELLED)
    const socket = silent.connections[0]!
    if (!socket.destroyed) await once(socket, 'close')
  })

  it('passes the connection slot to a waiting request of another group', async () => {
    const { url, port, requests } = await startReceiver((socket) => socket.write(OK))
    const never = { resolve: () => new Promise<never>(() => {}), close: () => {} }
    const sender = localSender({ maxPerOrigin: 1, resolver: never })
    const byName = url.replace('127.0.0.1', 'localhost')
    const stuck = sender.send(post(byName, { ...LONG_DEADLINE, group: 'a' }))
    const waiting = sender.send(post(byName, { ...LONG_DEADLINE, group: 'a' }))
    const other = sender.send(post(byName, { ...LONG_DEADLINE, group: 'b' }))
    never.resolve = async () => addresses('127.0.0.1') as never
    sender.cancel('a')
    expect(await Promise.all([stuck, waiting])).toEqual([CANCELLED, CANCELLED])
    expect(await other).toMatchObject({ kind: 'response', status: 200 })
    expect(requests.map((request) => request.includes(`host: localhost:${port}`))).toEqual([true])
  })

  it('never both cancels and sends a request, at whatever moment it is called', async () => {
    const { url, requests } = await startReceiver((socket) => socket.write(OK))
    const kinds = new Set<string>()
    for (let delay = 0; delay < 40; delay++) {
      const sender = localSender()
      const before = requests.length
      const pending = sender.send(post(url, LONG_DEADLINE))
      // Covers every stage between the lookup and the response, by microtasks and then by event loop turns.
      for (let n = 0; n < delay; n++) await (n < 20 ? Promise.resolve() : new Promise(setImmediate))
      sender.cancel('hook')
      const observation = await pending
      kinds.add(observation.kind)
      await sender.close()
      // Once a later request is answered, everything written before has arrived.
      await localSender().send(post(url))
      expect([delay, requests.length - before]).toEqual([delay, observation.kind === 'cancelled' ? 1 : 2])
    }
    expect([...kinds].sort()).toEqual(['cancelled', 'response'])
  })

  it('has no effect on other groups or on a group without requests', async () => {
    const { url } = await startReceiver((socket) => socket.write(OK))
    const sender = localSender()
    sender.cancel('hook')
    const pending = sender.send(post(url))
    sender.cancel('other')
    expect(await pending).toMatchObject({ status: 200 })
    sender.cancel('hook')
    expect(await sender.send(post(url))).toMatchObject({ status: 200 })
  })
})

describe('releaseIdle', () => {
  it('closes idle connections to origins that only this group has used', async () => {
    const own = await startReceiver((socket) => socket.write(OK))
    const shared = await startReceiver((socket) => socket.write(OK))
    const foreign = await startReceiver((socket) => socket.write(OK))
    const sender = localSender({ keepAliveMs: 10_000 })
    await sender.send(post(own.url, { group: 'a' }))
    await sender.send(post(shared.url, { group: 'a' }))
    await sender.send(post(shared.url, { group: 'b' }))
    await sender.send(post(foreign.url, { group: 'b' }))
    sender.releaseIdle('a')
    const closed = own.connections[0]!
    if (!closed.destroyed) await once(closed, 'close')
    for (const { url } of [shared, foreign]) await sender.send(post(url, { group: 'b' }))
    expect([shared.connections.length, foreign.connections.length]).toEqual([1, 1])
    // The group can connect again.
    expect(await sender.send(post(own.url, { group: 'a' }))).toMatchObject({ status: 200 })
    expect(own.connections).toHaveLength(2)
  })

  it('leaves busy connections and waiting requests alone', async () => {
    const { url, connections, requests } = await startReceiver(
      (socket, _, index) => index > 0 && socket.write(OK),
    )
    const sender = localSender({ maxPerOrigin: 1 })
    const sent = sender.send(post(url, LONG_DEADLINE))
    const waiting = sender.send(post(url, LONG_DEADLINE))
    await until(() => requests.length === 1)
    sender.releaseIdle('hook')
    connections[0]!.write(OK)
    expect(await Promise.all([sent, waiting])).toMatchObject([{ status: 200 }, { status: 200 }])
    expect(connections).toHaveLength(1)
  })
})

describe('the default sender', () => {
  it('supports cancel and releaseIdle, also after close', async () => {
    const sender = createDefaultSender({
      addressPolicy: compileAddressPolicy({ allowLocal: true, allow: [] }),
      resolver: { resolve: () => new Promise(() => {}), close: () => {} },
    })
    onCleanup(() => sender.close())
    const pending = sender.send(post('http://slow.test/', LONG_DEADLINE))
    sender.cancel('hook')
    expect(await pending).toEqual(CANCELLED)
    sender.releaseIdle('hook')
    await sender.close()
    sender.cancel('hook')
    sender.releaseIdle('hook')
  })
})
