import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createDefaultSender } from '../../src/send/index.js'
import { compileAddressPolicy } from '../../src/values/address-policy.js'
import { cleanUpAfterEach, localSender, OK, onCleanup, post, startReceiver } from './harness.js'

cleanUpAfterEach()

const closed = async (socket: Socket) => socket.destroyed || (await once(socket, 'close'))

describe('connections', () => {
  it('are reused', async () => {
    const { url, connections, requests } = await startReceiver((socket) => socket.write(OK))
    const sender = localSender()
    for (let n = 0; n < 10; n++) expect(await sender.send(post(url))).toMatchObject({ status: 200 })
    expect([connections.length, requests.length]).toEqual([1, 10])
  })

  it('carry one request at a time, at most 100 per origin; further requests wait', async () => {
    let open = 0
    let peak = 0
    const { url, connections, requests } = await startReceiver((socket) => {
      peak = Math.max(peak, ++open)
      setImmediate(() => {
        open -= 1
        socket.write(OK)
      })
    })
    const sender = localSender()
    const observations = await Promise.all(Array.from({ length: 350 }, () => sender.send(post(url))))
    expect(
      observations.every((observation) => observation.kind === 'response' && observation.body === 'ok'),
    ).toBe(true)
    expect([connections.length, requests.length]).toEqual([100, 350])
    expect(peak).toBeLessThanOrEqual(100)
  })

  it('that never become free are an internal fault for waiting requests, which are not sent', async () => {
    const { url, requests } = await startReceiver(() => {})
    const sender = localSender({ maxPerOrigin: 1 })
    const [first, second] = await Promise.all([
      sender.send(post(url, { deadlineMs: 400 })),
      sender.send(post(url, { deadlineMs: 100 })),
    ])
    expect(first).toMatchObject({ failure: 'timeout' })
    expect(second).toEqual({ kind: 'own_fault', detail: 'no connection was free within 100 ms' })
    expect(requests).toHaveLength(1)
  })

  it('that are lost free their slot for waiting requests', async () => {
    const { url, connections } = await startReceiver((socket, _, index) =>
      index < 3 ? socket.destroy() : socket.write(OK),
    )
    const sender = localSender({ maxPerOrigin: 1 })
    const observations = await Promise.all(Array.from({ length: 5 }, () => sender.send(post(url))))
    expect(observations.map((observation) => observation.kind)).toEqual([
      'no_response',
      'no_response',
      'no_response',
      'response',
      'response',
    ])
    expect(connections).toHaveLength(4)
  })

  it('are closed on request of the receiver, and the next request opens a new one', async () => {
    const { url, connections } = await startReceiver((socket) =>
      socket.write(OK.replace('\r\n', '\r\nConnection: close\r\n')),
    )
    const sender = localSender()
    for (let n = 0; n < 3; n++) expect(await sender.send(post(url))).toMatchObject({ status: 200 })
    expect(connections).toHaveLength(3)
  })

  it('that turn out to be closed cause a failure if the request may not be repeated', async () => {
    const { url, requests, connections } = await startReceiver((socket, _, index) =>
      index % 2 === 0 ? socket.write(OK) : socket.resetAndDestroy(),
    )
    const sender = localSender()
    for (const method of ['POST', 'GET', 'PUT', 'DELETE'] as const) {
      const request = post(url, { method, body: undefined })
      expect(await sender.send(request)).toMatchObject({ status: 200 })
      expect(await sender.send(request)).toMatchObject({
        kind: 'no_response',
        failure: 'connection',
        cause: expect.stringMatching(/^(reset|closed_early)$/),
        isSent: true,
      })
    }
    expect([requests.length, connections.length]).toEqual([8, 4])
  })

  it('that turn out to be closed are replaced by a new one, though others are idle', async () => {
    const { url, requests, connections } = await startReceiver((socket, _, index) =>
      index === 5 ? socket.resetAndDestroy() : socket.write(OK),
    )
    const sender = localSender()
    const request = post(url, { isRepeatable: true })
    await Promise.all(Array.from({ length: 5 }, () => sender.send(request)))
    const observation = await sender.send(request)
    expect(observation).toMatchObject({
      kind: 'response',
      status: 200,
      note: expect.stringContaining('again'),
    })
    expect([requests.length, connections.length]).toEqual([7, 6])
    expect(await sender.send(request)).not.toHaveProperty('note')
  })

  it('are tried once more, within the time limit', async () => {
    const { url, requests } = await startReceiver((socket, _, index) =>
      index === 0 ? socket.write(OK) : socket.destroy(),
    )
    const sender = localSender()
    const request = post(url, { isRepeatable: true })
    await sender.send(request)
    expect(await sender.send(request)).toMatchObject({
      failure: 'connection',
      cause: 'closed_early',
      detail: expect.stringContaining('sent again'),
    })
    expect(requests).toHaveLength(3)

    const silent = await startReceiver((socket, _, index) => {
      if (index === 0) socket.write(OK)
      else if (index === 1) setTimeout(() => socket.destroy(), 50)
    })
    const limited = post(silent.url, { isRepeatable: true, deadlineMs: 200 })
    await sender.send(limited)
    const started = performance.now()
    expect(await sender.send(limited)).toMatchObject({ failure: 'timeout', cause: 'timeout_answer' })
    expect(performance.now() - started).toBeGreaterThan(190)
    expect(silent.requests).toHaveLength(3)
  })

  it.each([
    ['an interim response', 'HTTP/1.1 100 Continue\r\n\r\n', 'closed_early'],
    ['an empty line', '\r\n', 'closed_early'],
    ['half a status line', 'HTTP/1.1 2', 'closed_early'],
    ['something else', 'bye', 'not_http'],
  ])('that end with %s after a request are not tried again', async (_, text, cause) => {
    const { url, requests } = await startReceiver((socket, __, index) =>
      index === 1 ? socket.end(text) : socket.write(OK),
    )
    const sender = localSender()
    const request = post(url, { isRepeatable: true })
    await sender.send(request)
    expect(await sender.send(request)).toMatchObject({ kind: 'no_response', cause, isSent: true })
    expect(requests).toHaveLength(2)
  })

  it('that are new are not reused ones, also in place of one that was closed before the request', async () => {
    const { url, connections, requests } = await startReceiver((socket, _, index) =>
      index === 0 ? socket.write(OK) : socket.destroy(),
    )
    const sender = localSender()
    const request = post(url, { isRepeatable: true })
    await sender.send(request)
    // From here the next request is written after what has arrived was read.
    await new Promise(setImmediate)
    connections[0]!.write('HTTP/1.1 408 Idle\r\ncontent-length: 0\r\n\r\n')
    expect(await sender.send(request)).toMatchObject({
      kind: 'no_response',
      failure: 'connection',
      isSent: true,
    })
    expect([connections.length, requests.length]).toEqual([2, 2])
  })

  it('do not make a request unsent that is cancelled, or finds no connection, before it is sent again', async () => {
    const { url, requests } = await startReceiver((socket, _, index) => {
      if (index === 0) socket.write(OK)
      else if (index === 1) socket.destroy()
    })
    const sender = localSender({ maxPerOrigin: 1 })
    const request = post(url, { isRepeatable: true, deadlineMs: 400 })
    await sender.send(request)
    // The second waits while the first is sent, and takes its place when it is cut off.
    const observations = [sender.send(request), sender.send({ ...request, group: 'other' })]
    await expect.poll(() => requests.length).toBe(3)
    sender.cancel('hook')
    expect(await observations[0]).toMatchObject({ kind: 'no_response', cause: 'closed_early', isSent: true })
    expect(await observations[1]).toMatchObject({ failure: 'timeout' })
  })

  it('that a receiver closes soon after each response cost nothing', async () => {
    const { url } = await startReceiver((socket) => {
      socket.write(OK)
      setTimeout(() => socket.end(), 3)
    })
    const sender = localSender()
    for (let n = 0; n < 150; n++) {
      expect(await sender.send(post(url, { isRepeatable: true }))).toMatchObject({ status: 200 })
      await new Promise((resolve) => setTimeout(resolve, n % 5))
    }
  })

  it('with an unsolicited response are closed, and it does not answer the next request', async () => {
    const { url, connections } = await startReceiver((socket, _, index) => {
      socket.write(OK)
      if (index === 0) setImmediate(() => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfake'))
    })
    const sender = localSender()
    expect(await sender.send(post(url))).toMatchObject({ body: 'ok' })
    await closed(connections[0]!)
    expect(await sender.send(post(url))).toMatchObject({ body: 'ok' })
    expect(connections).toHaveLength(2)
  })

  it('with two responses to one request are closed', async () => {
    const { url, connections } = await startReceiver((socket) => socket.write(OK + OK.replace('ok', 'no')))
    const sender = localSender()
    for (let n = 0; n < 3; n++) expect(await sender.send(post(url))).toMatchObject({ body: 'ok' })
    expect(connections).toHaveLength(3)
  })

  it('with an extra response do not deliver it to the waiting request', async () => {
    const { url, connections } = await startReceiver((socket) => socket.write(OK + OK.replace('ok', 'no')))
    const sender = localSender({ maxPerOrigin: 1 })
    const observations = await Promise.all(Array.from({ length: 4 }, () => sender.send(post(url))))
    expect(observations.map((observation) => observation.kind === 'response' && observation.body)).toEqual([
      'ok',
      'ok',
      'ok',
      'ok',
    ])
    expect(connections).toHaveLength(4)
  })

  it('are closed after keepAliveMs of idleness, whatever the receiver hints', async () => {
    const hint = 'HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n'
    const { url, connections } = await startReceiver((socket) => socket.write(hint))
    await localSender({ keepAliveMs: 50 }).send(post(url))
    await closed(connections[0]!)
    expect(connections).toHaveLength(1)
  })

  it('are kept for at most maxPools idle origins: the least recently used is closed first, one in use never', async () => {
    const hanging = await startReceiver((socket, _, index) => index > 0 && socket.write(OK))
    const others = await Promise.all(
      Array.from({ length: 4 }, () => startReceiver((socket) => socket.write(OK))),
    )
    const sender = localSender({ maxPools: 2 })
    const pending = sender.send(post(hanging.url))
    for (const { url } of others) expect(await sender.send(post(url))).toMatchObject({ status: 200 })
    await closed(others[0]!.connections[0]!)
    await closed(others[1]!.connections[0]!)
    expect(others.slice(2).map(({ connections }) => connections[0]!.destroyed)).toEqual([false, false])
    hanging.connections[0]!.write(OK)
    expect(await pending).toMatchObject({ status: 200 })
  })

  it('are kept regardless of how many other origins are in use', async () => {
    const hanging = await Promise.all(Array.from({ length: 6 }, () => startReceiver(() => {})))
    const idle = await Promise.all([1, 2].map(() => startReceiver((socket) => socket.write(OK))))
    const sender = localSender({ maxPools: 2 })
    for (const { url } of idle) expect(await sender.send(post(url))).toMatchObject({ status: 200 })
    const pending = hanging.map(({ url }) => sender.send(post(url)))
    while (hanging.some(({ requests }) => requests.length === 0)) await new Promise(setImmediate)
    for (const { url } of idle) expect(await sender.send(post(url))).toMatchObject({ status: 200 })
    expect(idle.map(({ connections }) => connections.length)).toEqual([1, 1])
    await sender.close()
    await Promise.all(pending)
  })

  it('are kept idle up to maxIdle', async () => {
    const { url, connections } = await startReceiver((socket) => setImmediate(() => socket.write(OK)))
    const sender = localSender({ maxIdle: 2 })
    await Promise.all(Array.from({ length: 5 }, () => sender.send(post(url))))
    await Promise.all(connections.slice(0, 3).map(closed))
    expect(connections.filter((socket) => !socket.destroyed)).toHaveLength(2)
  })
})

describe('close', () => {
  it('ends requests in progress as internal faults, and resolves when no socket is left', async () => {
    const silent = await startReceiver(() => {})
    const half = await startReceiver((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'),
    )
    const idle = await startReceiver((socket) => socket.write(OK))
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
    const observations = await Promise.all(pending)
    expect(observations.map((observation) => observation.kind).slice(0, 3)).toEqual([
      'own_fault',
      'own_fault',
      'response',
    ])
    expect(observations[2]).toMatchObject({ bodyEnd: 'broken' })
    await Promise.all([silent, half, idle].flatMap(({ connections }) => connections.map(closed)))
    expect(await sender.send(post(idle.url))).toEqual({ kind: 'own_fault', detail: 'the sender is closed' })
    await sender.close()
  })

  it('leaves no socket in the process', async () => {
    const { url, connections } = await startReceiver(
      (socket, _, index) => index % 3 === 0 && socket.write(OK),
    )
    const sockets = () =>
      process.getActiveResourcesInfo().filter((name) => /TCPSocket|TCPConnect|TLS/.test(name)).length
    const before = sockets()
    const sender = localSender()
    const pending = Array.from({ length: 30 }, () => sender.send(post(url)))
    await pending[0]
    expect(sockets()).toBeGreaterThan(before)
    await sender.close()
    await Promise.all(pending)
    // The receiver's sockets count as well, and it may still accept connections that were already closed.
    while (sockets() > before) await new Promise(setImmediate)
    expect(connections.every((socket) => socket.destroyed)).toBe(true)
  })

  it('ends a DNS lookup in progress', async () => {
    const sender = createDefaultSender({
      addressPolicy: compileAddressPolicy({ allowLocal: true, allow: [] }),
      dns: { servers: ['127.0.0.1:9'] },
    })
    onCleanup(() => sender.close())
    const pending = sender.send(post('http://somewhere.test/'))
    await sender.close()
    expect(await pending).toMatchObject({ kind: 'own_fault' })
  })
})
