import { gate, hang, manualClock, scriptedReceiver, status, until } from 'hookswitch/testkit'
import { Pool } from 'undici'
import { describe, expect, it } from 'vitest'
import { dial, fetchText, startReceiver } from './receiver-client.js'

const codes = async (url: string, count: number) => {
  const statuses: number[] = []
  while (statuses.length < count) statuses.push((await fetchText(url)).status)
  return statuses
}

describe('scriptedReceiver', () => {
  it('answers every request with 200 by default', async () => {
    const receiver = await startReceiver()
    expect(await fetchText(receiver.url('/any/where'))).toMatchObject({ status: 200, body: '' })
  })

  it('listens on 127.0.0.1 and a free port', async () => {
    const [first, second] = await Promise.all([startReceiver(), startReceiver()])
    expect(first.url('/hook?x=1')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/hook\?x=1$/)
    expect(first.url()).not.toBe(second.url())
  })

  it('has no URL before start()', () => {
    expect(() => scriptedReceiver().url()).toThrow('before start()')
  })

  it('rejects start() if the port is in use', async () => {
    const first = await startReceiver()
    const second = scriptedReceiver({ port: Number(new URL(first.url()).port) })
    await expect(second.start()).rejects.toThrow('EADDRINUSE')
    await second.close()
  })

  it('logs every part of a request', async () => {
    const clock = manualClock({ nowMs: 5_000, monotonicMs: 70 })
    const receiver = await startReceiver({ clock })
    await fetchText(receiver.url('/hook?a=1&b=%20?c'), {
      method: 'POST',
      headers: ['X-One', 'first', 'x-one', 'second', 'Content-Type', 'application/json'],
      body: '{"name":"Zoë 李"}',
    })
    const [request] = receiver.requests
    expect(request).toMatchObject({
      number: 1,
      method: 'POST',
      path: '/hook',
      query: 'a=1&b=%20?c',
      body: '{"name":"Zoë 李"}',
      atMs: 5_000,
      monotonicMs: 70,
      connection: 1,
      step: 'status 200',
    })
    expect(request?.headers['x-one']).toBe('first, second')
    expect(request?.headers['content-type']).toBe('application/json')
    expect(request?.rawHeaders.filter((_, index) => index % 2 === 0)).toContain('X-One')
    expect(request?.bodyBytes).toEqual(Buffer.from('{"name":"Zoë 李"}'))
  })

  it('plays the steps of a script in order and repeats the last', async () => {
    const receiver = await startReceiver()
    receiver.on('/hook', [status(500), status(404), status(200)])
    expect(await codes(receiver.url('/hook'), 5)).toEqual([500, 404, 200, 200, 200])
  })

  it('has a script per path, whatever the query', async () => {
    const receiver = await startReceiver({ script: [status(204)] })
    receiver.on('/a', [status(500), status(201)])
    expect(await codes(receiver.url('/a?x=1'), 1)).toEqual([500])
    expect(await codes(receiver.url('/b'), 1)).toEqual([204])
    expect(await codes(receiver.url('/a?x=2'), 1)).toEqual([201])
    receiver.on('/a', [status(503)])
    expect(await codes(receiver.url('/a'), 1)).toEqual([503])
    receiver.on('*', [status(404)])
    expect(await codes(receiver.url('/b'), 1)).toEqual([404])
  })

  it('lets a function choose the step', async () => {
    const receiver = await startReceiver({
      script: ({ path, method }) => status(path === '/x' && method === 'GET' ? 418 : 200),
    })
    expect(await codes(receiver.url('/x'), 1)).toEqual([418])
    expect(await codes(receiver.url('/y'), 1)).toEqual([200])
  })

  it('responds with the error of a step or a script function that throws', async () => {
    const receiver = await startReceiver()
    receiver.on('/step', [{ name: 'own', play: async () => Promise.reject(new Error('own step broke')) }])
    receiver.on('/choice', () => {
      throw new Error('own choice broke')
    })
    expect(await fetchText(receiver.url('/step'))).toMatchObject({
      status: 500,
      body: 'Error: own step broke',
    })
    expect(await fetchText(receiver.url('/choice'))).toMatchObject({
      status: 400,
      body: 'Error: own choice broke',
    })
    expect(() => receiver.on('/none', [])).toThrow('at least one step')
  })

  it('next returns each request once, whether it arrived before or after the call', async () => {
    const receiver = await startReceiver()
    await fetchText(receiver.url('/1'))
    const first = receiver.next()
    const pair = receiver.next(2)
    const fourth = receiver.next()
    for (const path of ['/2', '/3', '/4']) await fetchText(receiver.url(path))
    expect((await first).path).toBe('/1')
    expect((await pair).map(({ path }) => path)).toEqual(['/2', '/3'])
    expect((await fourth).path).toBe('/4')
  })

  it('received waits for a matching request', async () => {
    const receiver = await startReceiver()
    const matching = receiver.received(({ body }) => body === 'that one')
    await fetchText(receiver.url(), { method: 'POST', body: 'another' })
    await fetchText(receiver.url(), { method: 'POST', body: 'that one' })
    expect((await matching).number).toBe(2)
    expect((await receiver.received(({ number }) => number === 1)).body).toBe('another')
    await expect(
      receiver.received(() => {
        throw new Error('broken test')
      }),
    ).rejects.toThrow('broken test')
  })

  it('next rejects with a description after timeoutMs', async () => {
    const receiver = await startReceiver({ timeoutMs: 5 })
    await expect(receiver.next(2)).rejects.toThrow(
      'waited for request number 2: timed out after 5 ms (received: 0 requests, 0 connections)',
    )
  })

  it('close rejects pending waits', async () => {
    const receiver = await startReceiver()
    const waits = expect(receiver.next()).rejects.toThrow('the receiver was closed')
    await receiver.close()
    await waits
  })

  it('close releases all connections, also in the middle of steps', async () => {
    const handles = () => process.getActiveResourcesInfo().filter((kind) => /TCP/.test(kind)).length
    const before = handles()
    const receiver = await startReceiver()
    receiver.on('/hang', [hang()])
    receiver.on('/gate', [gate()])
    const responses = ['/hang', '/gate', '/hang'].map((path) =>
      fetchText(receiver.url(path)).catch(() => 'broken'),
    )
    const idle = dial(receiver)
    await receiver.next(3)
    await until(() => receiver.openConnections === 4)
    await receiver.close()
    expect(receiver.openConnections).toBe(0)
    expect(await Promise.all(responses)).toEqual(['broken', 'broken', 'broken'])
    idle.destroy()
    await receiver.close()
    await until(() => handles() <= before)
  })

  it('refuses connections after close, and listens on the same port after start', async () => {
    const receiver = await startReceiver()
    const url = receiver.url('/again')
    await receiver.close()
    await expect(fetchText(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await receiver.start()
    expect(receiver.url('/again')).toBe(url)
    expect((await fetchText(url)).status).toBe(200)
  })

  it('counts connections and logs the connection of each request', async () => {
    const receiver = await startReceiver()
    const pool = new Pool(receiver.url(), { connections: 1 })
    for (const path of ['/1', '/2']) await (await pool.request({ path, method: 'GET' })).body.dump()
    await pool.close()
    await fetchText(receiver.url('/3'), { headers: { connection: 'close' } })
    expect(receiver.requests.map(({ connection }) => connection)).toEqual([1, 1, 2])
    expect(receiver.connections).toBe(2)
    await until(() => receiver.openConnections === 0)
  })
})
