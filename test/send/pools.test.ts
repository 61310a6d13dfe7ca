import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createDefaultSender } from '../../src/send/index.js'
import { compilePolicy } from '../../src/values/address-policy.js'
import { closeAfterEach, later, localSender, OK, post, receiver } from './hostile.js'

closeAfterEach()

const gone = async (socket: Socket) => socket.destroyed || (await once(socket, 'close'))

describe('connections', () => {
  it('are used again', async () => {
    const { url, connections, requests } = await receiver((socket) => socket.write(OK))
    const sender = localSender()
    for (let n = 0; n < 10; n++) expect(await sender.send(post(url))).toMatchObject({ status: 200 })
    expect([connections.length, requests.length]).toEqual([1, 10])
  })

  it('carry one request at a time, at most 100 an origin; others wait and are served', async () => {
    let open = 0
    let most = 0
    const { url, connections, requests } = await receiver((socket) => {
      most = Math.max(most, ++open)
      setImmediate(() => {
        open -= 1
        socket.write(OK)
      })
    })
    const sender = localSender()
    const seen = await Promise.all(Array.from({ length: 350 }, () => sender.send(post(url))))
    expect(seen.every((one) => one.kind === 'response' && one.body === 'ok')).toBe(true)
    expect([connections.length, requests.length]).toEqual([100, 350])
    expect(most).toBeLessThanOrEqual(100)
  })

  it('that never become free are our own fault for those that wait, and nothing of theirs is sent', async () => {
    const { url, requests } = await receiver(() => {})
    const sender = localSender({ maxPerOrigin: 1 })
    const [first, second] = await Promise.all([
      sender.send(post(url, { deadlineMs: 400 })),
      sender.send(post(url, { deadlineMs: 100 })),
    ])
    expect(first).toMatchObject({ failure: 'timeout' })
    expect(second).toEqual({ kind: 'own_fault', detail: 'no connection was free within 100 ms' })
    expect(requests).toHaveLength(1)
  })

  it('that are lost make room for those that wait', async () => {
    const { url, connections } = await receiver((socket, _, index) =>
      index < 3 ? socket.destroy() : socket.write(OK),
    )
    const sender = localSender({ maxPerOrigin: 1 })
    const seen = await Promise.all(Array.from({ length: 5 }, () => sender.send(post(url))))
    expect(seen.map((one) => one.kind)).toEqual([
      'no_response',
      'no_response',
      'no_response',
      'response',
      'response',
    ])
    expect(connections).toHaveLength(4)
  })

  it('end where the receiver says so, and the next request has a new one', async () => {
    const { url, connections } = await receiver((socket) =>
      socket.write(OK.replace('\r\n', '\r\nConnection: close\r\n')),
    )
    const sender = localSender()
    for (let n = 0; n < 3; n++) expect(await sender.send(post(url))).toMatchObject({ status: 200 })
    expect(connections).toHaveLength(3)
  })

  it('that turn out dead fail as "connection" and are not tried again unseen', async () => {
    const { url, requests, connections } = await receiver((socket, _, index) =>
      index % 2 === 0 ? socket.write(OK) : socket.resetAndDestroy(),
    )
    const sender = localSender()
    for (const method of ['POST', 'GET', 'PUT', 'DELETE'] as const) {
      const request = post(url, { method, body: undefined })
      expect(await sender.send(request)).toMatchObject({ status: 200 })
      expect(await sender.send(request)).toMatchObject({
        kind: 'no_response',
        failure: 'connection',
        detail: expect.stringContaining('used before'),
      })
    }
    expect([requests.length, connections.length]).toEqual([8, 4])
  })

  it('on which something comes unasked are given up, and the next request is not answered by it', async () => {
    const { url, connections } = await receiver((socket, _, index) => {
      socket.write(OK)
      if (index === 0) setImmediate(() => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfake'))
    })
    const sender = localSender()
    expect(await sender.send(post(url))).toMatchObject({ body: 'ok' })
    await gone(connections[0]!)
    expect(await sender.send(post(url))).toMatchObject({ body: 'ok' })
    expect(connections).toHaveLength(2)
  })

  it('with two answers to one request are given up too', async () => {
    const { url, connections } = await receiver((socket) => socket.write(OK + OK.replace('ok', 'no')))
    const sender = localSender()
    for (let n = 0; n < 3; n++) expect(await sender.send(post(url))).toMatchObject({ body: 'ok' })
    expect(connections).toHaveLength(3)
  })

  it('with an answer too many do not give it to the request that waits', async () => {
    const { url, connections } = await receiver((socket) => socket.write(OK + OK.replace('ok', 'no')))
    const sender = localSender({ maxPerOrigin: 1 })
    const seen = await Promise.all(Array.from({ length: 4 }, () => sender.send(post(url))))
    expect(seen.map((one) => one.kind === 'response' && one.body)).toEqual(['ok', 'ok', 'ok', 'ok'])
    expect(connections).toHaveLength(4)
  })

  it('are closed when they have been idle for the time that was set, whatever the receiver hints', async () => {
    const hint = 'HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n'
    const { url, connections } = await receiver((socket) => socket.write(hint))
    await localSender({ keepAliveMs: 50 }).send(post(url))
    await gone(connections[0]!)
    expect(connections).toHaveLength(1)
  })

  it('are kept to as many origins as was set, the least recently used closed first, one in use never', async () => {
    const hanging = await receiver((socket, _, index) => index > 0 && socket.write(OK))
    const others = await Promise.all(Array.from({ length: 4 }, () => receiver((socket) => socket.write(OK))))
    const sender = localSender({ maxPools: 2 })
    const pending = sender.send(post(hanging.url))
    for (const { url } of others) expect(await sender.send(post(url))).toMatchObject({ status: 200 })
    await gone(others[0]!.connections[0]!)
    await gone(others[1]!.connections[0]!)
    expect(others.slice(2).map(({ connections }) => connections[0]!.destroyed)).toEqual([false, false])
    hanging.connections[0]!.write(OK)
    expect(await pending).toMatchObject({ status: 200 })
  })

  it('are kept while others are in use, however many those are', async () => {
    const hanging = await Promise.all(Array.from({ length: 6 }, () => receiver(() => {})))
    const resting = await Promise.all([1, 2].map(() => receiver((socket) => socket.write(OK))))
    const sender = localSender({ maxPools: 2 })
    for (const { url } of resting) expect(await sender.send(post(url))).toMatchObject({ status: 200 })
    const pending = hanging.map(({ url }) => sender.send(post(url)))
    while (hanging.some(({ requests }) => requests.length === 0)) await new Promise(setImmediate)
    for (const { url } of resting) expect(await sender.send(post(url))).toMatchObject({ status: 200 })
    expect(resting.map(({ connections }) => connections.length)).toEqual([1, 1])
    await sender.close()
    await Promise.all(pending)
  })

  it('are kept idle to the number that was set', async () => {
    const { url, connections } = await receiver((socket) => setImmediate(() => socket.write(OK)))
    const sender = localSender({ maxIdle: 2 })
    await Promise.all(Array.from({ length: 5 }, () => sender.send(post(url))))
    await Promise.all(connections.slice(0, 3).map(gone))
    expect(connections.filter((socket) => !socket.destroyed)).toHaveLength(2)
  })
})

describe('close', () => {
  it('ends what is under way, as our own doing, and resolves when no socket is left', async () => {
    const silent = await receiver(() => {})
    const half = await receiver((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'))
    const idle = await receiver((socket) => socket.write(OK))
    const sender = localSender({ maxPerOrigin: 1 })
    await sender.send(post(idle.url))
    const pending = [
      sender.send(post(silent.url)),
      sender.send(post(silent.url)),
      sender.send(post(half.url)),
      sender.send(post('http://x.test:1/')),
    ]
    while (silent.requests.length === 0 || half.requests.length === 0) await new Promise(setImmediate)
    await new Promise(setImmediate)
    await sender.close()
    const seen = await Promise.all(pending)
    expect(seen.map((one) => one.kind).slice(0, 3)).toEqual(['own_fault', 'own_fault', 'response'])
    expect(seen[2]).toMatchObject({ bodyEnd: 'broken' })
    await Promise.all([silent, half, idle].flatMap(({ connections }) => connections.map(gone)))
    expect(await sender.send(post(idle.url))).toEqual({ kind: 'own_fault', detail: 'the sender is closed' })
    await sender.close()
  })

  it('leaves no socket in the process', async () => {
    const { url, connections } = await receiver((socket, _, index) => index % 3 === 0 && socket.write(OK))
    const sockets = () =>
      process.getActiveResourcesInfo().filter((name) => /TCPSocket|TCPConnect|TLS/.test(name)).length
    const before = sockets()
    const sender = localSender()
    const pending = Array.from({ length: 30 }, () => sender.send(post(url)))
    await pending[0]
    expect(sockets()).toBeGreaterThan(before)
    await sender.close()
    await Promise.all(pending)
    // The receiver's ends count as well, and it may yet accept what was cut off before.
    while (sockets() > before) await new Promise(setImmediate)
    expect(connections.every((socket) => socket.destroyed)).toBe(true)
  })

  it('ends a look-up and a connection that are under way', async () => {
    const sender = createDefaultSender({
      policy: compilePolicy({ allowLocal: true, allow: [] }),
      dns: { servers: ['127.0.0.1:9'] },
    })
    later(() => sender.close())
    const pending = sender.send(post('http://somewhere.test/'))
    await sender.close()
    expect(await pending).toMatchObject({ kind: 'own_fault' })
  })
})
