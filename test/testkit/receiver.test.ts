import { gate, hang, manualClock, scriptedReceiver, status, until } from 'hookswitch/testkit'
import { Pool } from 'undici'
import { describe, expect, it } from 'vitest'
import { ask, dial, started } from './receiver-client.js'

const codes = async (url: string, count: number) => {
  const seen: number[] = []
  while (seen.length < count) seen.push((await ask(url)).status)
  return seen
}

describe('scriptedReceiver', () => {
  it('answers 200 to everything when told nothing', async () => {
    const receiver = await started()
    expect(await ask(receiver.url('/any/where'))).toMatchObject({ status: 200, body: '' })
  })

  it('listens on this machine only, on a port of its own', async () => {
    const [one, other] = await Promise.all([started(), started()])
    expect(one.url('/hook?x=1')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/hook\?x=1$/)
    expect(one.url()).not.toBe(other.url())
  })

  it('has no URL before it listens', () => {
    expect(() => scriptedReceiver().url()).toThrow('before start()')
  })

  it('says why it cannot listen', async () => {
    const taken = await started()
    const second = scriptedReceiver({ port: Number(new URL(taken.url()).port) })
    await expect(second.start()).rejects.toThrow('EADDRINUSE')
    await second.close()
  })

  it('keeps all of a request in its log', async () => {
    const clock = manualClock({ nowMs: 5_000, monotonicMs: 70 })
    const receiver = await started({ clock })
    await ask(receiver.url('/hook?a=1&b=%20?c'), {
      method: 'POST',
      headers: ['X-One', 'first', 'x-one', 'second', 'Content-Type', 'application/json'],
      body: '{"name":"Zoë 李"}',
    })
    const [seen] = receiver.requests
    expect(seen).toMatchObject({
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
    expect(seen?.headers['x-one']).toBe('first, second')
    expect(seen?.headers['content-type']).toBe('application/json')
    expect(seen?.rawHeaders.filter((_, at) => at % 2 === 0)).toContain('X-One')
    expect(seen?.bodyBytes).toEqual(Buffer.from('{"name":"Zoë 李"}'))
  })

  it('plays a script step by step and repeats its last one', async () => {
    const receiver = await started()
    receiver.on('/hook', [status(500), status(404), status(200)])
    expect(await codes(receiver.url('/hook'), 5)).toEqual([500, 404, 200, 200, 200])
  })

  it('keeps a script per path, whatever the query', async () => {
    const receiver = await started({ script: [status(204)] })
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
    const receiver = await started({
      script: ({ path, method }) => status(path === '/x' && method === 'GET' ? 418 : 200),
    })
    expect(await codes(receiver.url('/x'), 1)).toEqual([418])
    expect(await codes(receiver.url('/y'), 1)).toEqual([200])
  })

  it('shows the fault of a step or a chooser that throws', async () => {
    const receiver = await started()
    receiver.on('/step', [{ name: 'own', play: async () => Promise.reject(new Error('own step broke')) }])
    receiver.on('/choice', () => {
      throw new Error('own choice broke')
    })
    expect(await ask(receiver.url('/step'))).toMatchObject({ status: 500, body: 'Error: own step broke' })
    expect(await ask(receiver.url('/choice'))).toMatchObject({ status: 400, body: 'Error: own choice broke' })
    expect(() => receiver.on('/none', [])).toThrow('at least one step')
  })

  it('gives out each request once, whether it came before or after it was asked for', async () => {
    const receiver = await started()
    await ask(receiver.url('/1'))
    const first = receiver.next()
    const pair = receiver.next(2)
    const fourth = receiver.next()
    for (const path of ['/2', '/3', '/4']) await ask(receiver.url(path))
    expect((await first).path).toBe('/1')
    expect((await pair).map(({ path }) => path)).toEqual(['/2', '/3'])
    expect((await fourth).path).toBe('/4')
  })

  it('waits for a request that fits', async () => {
    const receiver = await started()
    const wanted = receiver.received(({ body }) => body === 'that one')
    await ask(receiver.url(), { method: 'POST', body: 'another' })
    await ask(receiver.url(), { method: 'POST', body: 'that one' })
    expect((await wanted).number).toBe(2)
    expect((await receiver.received(({ number }) => number === 1)).body).toBe('another')
    await expect(
      receiver.received(() => {
        throw new Error('broken test')
      }),
    ).rejects.toThrow('broken test')
  })

  it('says what it waited for in vain', async () => {
    const receiver = await started({ patienceMs: 5 })
    await expect(receiver.next(2)).rejects.toThrow(
      'waited for request number 2: not within 5 ms (seen: 0 requests, 0 connections)',
    )
  })

  it('rejects who still waits when it closes', async () => {
    const receiver = await started()
    const waits = expect(receiver.next()).rejects.toThrow('the receiver was closed')
    await receiver.close()
    await waits
  })

  it('leaves nothing behind when closed in the middle of everything', async () => {
    const handles = () => process.getActiveResourcesInfo().filter((kind) => /TCP/.test(kind)).length
    const before = handles()
    const receiver = await started()
    receiver.on('/hang', [hang()])
    receiver.on('/gate', [gate()])
    const asked = ['/hang', '/gate', '/hang'].map((path) => ask(receiver.url(path)).catch(() => 'broken'))
    const idle = dial(receiver)
    await receiver.next(3)
    await until(() => receiver.openConnections === 4)
    await receiver.close()
    expect(receiver.openConnections).toBe(0)
    expect(await Promise.all(asked)).toEqual(['broken', 'broken', 'broken'])
    idle.destroy()
    await receiver.close()
    await until(() => handles() <= before)
  })

  it('is out of reach when closed, and back on the same port when started again', async () => {
    const receiver = await started()
    const url = receiver.url('/again')
    await receiver.close()
    await expect(ask(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await receiver.start()
    expect(receiver.url('/again')).toBe(url)
    expect((await ask(url)).status).toBe(200)
  })

  it('counts connections and tells which one a request came on', async () => {
    const receiver = await started()
    const pool = new Pool(receiver.url(), { connections: 1 })
    for (const path of ['/1', '/2']) await (await pool.request({ path, method: 'GET' })).body.dump()
    await pool.close()
    await ask(receiver.url('/3'), { headers: { connection: 'close' } })
    expect(receiver.requests.map(({ connection }) => connection)).toEqual([1, 1, 2])
    expect(receiver.connections).toBe(2)
    await until(() => receiver.openConnections === 0)
  })
})
