import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { createDefaultSender } from '../../src/send/index.js'
import { compilePolicy } from '../../src/values/address-policy.js'
import { addresses, closeAfterEach, fakeResolver, later, localSender, OK, post, receiver } from './hostile.js'

closeAfterEach()

const WITHDRAWN = { kind: 'withdrawn' }
const PATIENCE = { deadlineMs: 60_000 }
const until = async (what: () => boolean) => {
  while (!what()) await new Promise(setImmediate)
}

describe('withdraw', () => {
  it('ends what waits for a connection, and leaves what is on the wire', async () => {
    const { url, requests, connections } = await receiver(() => {})
    const sender = localSender({ maxPerOrigin: 1 })
    const sent = sender.send(post(url, PATIENCE))
    const waiting = [sender.send(post(url, PATIENCE)), sender.send(post(url, PATIENCE))]
    await until(() => requests.length === 1)
    sender.withdraw('hook')
    expect(await Promise.all(waiting)).toEqual([WITHDRAWN, WITHDRAWN])
    connections[0]!.write(OK)
    expect(await sent).toMatchObject({ kind: 'response', status: 200 })
    expect(requests).toHaveLength(1)
  })

  it('ends what is being resolved, and nothing is dialled when the answer comes', async () => {
    const canary = await receiver((socket) => socket.write(OK))
    let answer = () => {}
    const resolver = fakeResolver(
      () =>
        new Promise((resolve) => {
          answer = () => resolve(addresses('127.0.0.1'))
        }),
    )
    const sender = localSender({ resolver })
    const pending = sender.send(post(`http://slow.test:${canary.port}/`, PATIENCE))
    await until(() => resolver.asked.length === 1)
    sender.withdraw('hook')
    expect(await pending).toEqual(WITHDRAWN)
    answer()
    resolver.resolve = async () => addresses('127.0.0.1')
    expect(await sender.send(post(canary.url))).toMatchObject({ status: 200 })
    expect(canary.connections).toHaveLength(1)
  })

  it('ends what is being connected: the socket is destroyed and nothing is written', async () => {
    // The request goes out when the connection is made; here it is withdrawn as soon as the dial has begun.
    const { url, requests, connections } = await receiver((socket) => socket.write(OK))
    const sender = localSender()
    const pending = sender.send(post(url, PATIENCE))
    await Promise.resolve()
    await Promise.resolve()
    sender.withdraw('hook')
    expect(await pending).toEqual(WITHDRAWN)
    expect(await sender.send(post(url))).toMatchObject({ status: 200 })
    await until(() => connections.filter((socket) => !socket.destroyed).length === 1)
    expect(requests).toHaveLength(1)
  })

  it('ends a TLS handshake that hangs', async () => {
    const mute = await receiver(() => {})
    const sender = localSender()
    const pending = sender.send(post(mute.url.replace('http:', 'https:'), PATIENCE))
    await until(() => mute.connections.length === 1)
    sender.withdraw('hook')
    expect(await pending).toEqual(WITHDRAWN)
    const socket = mute.connections[0]!
    if (!socket.destroyed) await once(socket, 'close')
  })

  it('gives the place to another group that waits, and takes nothing else of that group', async () => {
    const { url, port, requests } = await receiver((socket) => socket.write(OK))
    const never = { resolve: () => new Promise<never>(() => {}), close: () => {} }
    const sender = localSender({ maxPerOrigin: 1, resolver: never })
    const there = url.replace('127.0.0.1', 'localhost')
    const stuck = sender.send(post(there, { ...PATIENCE, group: 'a' }))
    const mine = sender.send(post(there, { ...PATIENCE, group: 'a' }))
    const other = sender.send(post(there, { ...PATIENCE, group: 'b' }))
    never.resolve = async () => addresses('127.0.0.1') as never
    sender.withdraw('a')
    expect(await Promise.all([stuck, mine])).toEqual([WITHDRAWN, WITHDRAWN])
    expect(await other).toMatchObject({ kind: 'response', status: 200 })
    expect(requests.map((request) => request.includes(`host: localhost:${port}`))).toEqual([true])
  })

  it('never ends and sends the same request, whenever it comes', async () => {
    const { url, requests } = await receiver((socket) => socket.write(OK))
    const kinds = new Set<string>()
    for (let turns = 0; turns < 40; turns++) {
      const sender = localSender()
      const before = requests.length
      const pending = sender.send(post(url, PATIENCE))
      // Every stage between the look-up and the answer, one turn of the loop or of the microtasks after the other.
      for (let n = 0; n < turns; n++) await (n < 20 ? Promise.resolve() : new Promise(setImmediate))
      sender.withdraw('hook')
      const seen = await pending
      kinds.add(seen.kind)
      await sender.close()
      // What was written has arrived when an answer to a later request has.
      await localSender().send(post(url))
      expect([turns, requests.length - before]).toEqual([turns, seen.kind === 'withdrawn' ? 1 : 2])
    }
    expect([...kinds].sort()).toEqual(['response', 'withdrawn'])
  })

  it('of a group that has nothing under way does nothing', async () => {
    const { url } = await receiver((socket) => socket.write(OK))
    const sender = localSender()
    sender.withdraw('hook')
    const pending = sender.send(post(url))
    sender.withdraw('other')
    expect(await pending).toMatchObject({ status: 200 })
    sender.withdraw('hook')
    expect(await sender.send(post(url))).toMatchObject({ status: 200 })
  })
})

describe('rest', () => {
  it('closes idle connections of origins that only this group has used', async () => {
    const own = await receiver((socket) => socket.write(OK))
    const shared = await receiver((socket) => socket.write(OK))
    const foreign = await receiver((socket) => socket.write(OK))
    const sender = localSender({ keepAliveMs: 10_000 })
    await sender.send(post(own.url, { group: 'a' }))
    await sender.send(post(shared.url, { group: 'a' }))
    await sender.send(post(shared.url, { group: 'b' }))
    await sender.send(post(foreign.url, { group: 'b' }))
    sender.rest('a')
    const closed = own.connections[0]!
    if (!closed.destroyed) await once(closed, 'close')
    for (const { url } of [shared, foreign]) await sender.send(post(url, { group: 'b' }))
    expect([shared.connections.length, foreign.connections.length]).toEqual([1, 1])
    // And the group may come back.
    expect(await sender.send(post(own.url, { group: 'a' }))).toMatchObject({ status: 200 })
    expect(own.connections).toHaveLength(2)
  })

  it('leaves a connection that is busy, and what waits for it', async () => {
    const { url, connections, requests } = await receiver((socket, _, index) => index > 0 && socket.write(OK))
    const sender = localSender({ maxPerOrigin: 1 })
    const busy = sender.send(post(url, PATIENCE))
    const waiting = sender.send(post(url, PATIENCE))
    await until(() => requests.length === 1)
    sender.rest('hook')
    connections[0]!.write(OK)
    expect(await Promise.all([busy, waiting])).toMatchObject([{ status: 200 }, { status: 200 }])
    expect(connections).toHaveLength(1)
  })
})

describe('the default sender', () => {
  it('hands both on, and takes them when it is closed', async () => {
    const sender = createDefaultSender({
      policy: compilePolicy({ allowLocal: true, allow: [] }),
      resolver: { resolve: () => new Promise(() => {}), close: () => {} },
    })
    later(() => sender.close())
    const pending = sender.send(post('http://slow.test/', PATIENCE))
    sender.withdraw('hook')
    expect(await pending).toEqual(WITHDRAWN)
    sender.rest('hook')
    await sender.close()
    sender.withdraw('hook')
    sender.rest('hook')
  })
})
