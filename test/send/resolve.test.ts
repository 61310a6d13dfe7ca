import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { describe, expect, it, vi } from 'vitest'
import { hostsFile, parseHosts } from '../../src/send/hosts.js'
import { createResolver, type ResolverOptions } from '../../src/send/resolve.js'
import { addresses, closeAfterEach, later } from './hostile.js'
import { nameServer } from './name-server.js'

closeAfterEach()

function resolver(options: ResolverOptions) {
  const made = createResolver({ hostsPath: '/nowhere', ...options })
  later(() => made.close())
  return made
}

async function asking(reply: Parameters<typeof nameServer>[0], options: ResolverOptions = {}, roots = true) {
  const server = await nameServer(reply, roots)
  return { server, resolver: resolver({ servers: [server.address], ...options }) }
}

const V6 = [0x26, 6, 0x47, 0, ...new Array(11).fill(0), 1]

describe('createResolver', () => {
  it('asks for both families and gives every address', async () => {
    const { resolver, server } = await asking((type) =>
      type === 'A'
        ? [
            [1, 2, 3, 4],
            [5, 6, 7, 8],
          ]
        : [V6],
    )
    expect(await resolver.resolve('both.test', 5_000)).toEqual(
      addresses('1.2.3.4', '5.6.7.8', '2606:4700::1'),
    )
    expect(server.asked.sort()).toEqual(['A both.test', 'AAAA both.test'])
  })

  it('asks for a name as it is, without the dot of the root and without search domains', async () => {
    const { resolver, server } = await asking(() => 3)
    expect(await resolver.resolve('Single.', 5_000)).toMatchObject({ kind: 'missing' })
    expect([...new Set(server.asked)].sort()).toEqual(['A single', 'AAAA single'])
  })

  it('is content with one family', async () => {
    const four = await asking((type) => (type === 'A' ? [[1, 2, 3, 4]] : []))
    expect(await four.resolver.resolve('four.test', 5_000)).toEqual(addresses('1.2.3.4'))
    const six = await asking((type) => (type === 'A' ? 2 : [V6]))
    expect(await six.resolver.resolve('six.test', 5_000)).toEqual(addresses('2606:4700::1'))
  })

  it('does not wait long for a family that never answers', async () => {
    const { resolver } = await asking((type) => (type === 'A' ? [[1, 2, 3, 4]] : undefined), {
      lookupMs: 60_000,
    })
    expect(await resolver.resolve('half.test', 60_000)).toEqual(addresses('1.2.3.4'))
  })

  it.each([
    ['does not exist', 3, 'no such host name'],
    ['has no address', [], 'the host name has no address'],
    ['fails at its name servers', 2, 'the name server answered ESERVFAIL'],
    ['is refused', 5, 'the name server answered EREFUSED'],
  ] as const)('calls a name missing that %s', async (_, reply, detail) => {
    const { resolver } = await asking(() => reply)
    expect(await resolver.resolve('bad.test', 20_000)).toEqual({ kind: 'missing', detail })
  })

  it('calls a name missing that gets no answer while the name server answers about the root', async () => {
    const { resolver, server } = await asking(() => undefined, { lookupMs: 1_500 })
    expect(await resolver.resolve('lame.test', 5_000)).toEqual({
      kind: 'missing',
      detail: 'no answer for this host name',
    })
    expect(server.asked).toContain('NS ')
  })

  it('calls a name server unreachable that answers nothing at all', async () => {
    const { resolver } = await asking(() => undefined, { lookupMs: 300 }, false)
    expect(await resolver.resolve('any.test', 5_000)).toEqual({
      kind: 'unreachable',
      detail: 'the name server is silent',
    })
  })

  it('calls a name server unreachable whose port is closed', async () => {
    const { resolver: closed } = { resolver: resolver({ servers: ['127.0.0.1:9'] }) }
    expect(await closed.resolve('any.test', 5_000)).toEqual({
      kind: 'unreachable',
      detail: 'the name server is unreachable',
    })
  })

  it('says so instead of throwing when the name servers make no sense', async () => {
    expect(await resolver({ servers: ['nonsense'] }).resolve('any.test', 5_000)).toMatchObject({
      kind: 'unreachable',
    })
  })

  it('considers a thousand addresses of a longer answer', async () => {
    const many = Array.from({ length: 1_500 }, (_, n) => [9, 9, n >> 8, n & 255])
    const { resolver } = await asking((type) => (type === 'A' ? many : []))
    const seen = await resolver.resolve('many.test', 20_000)
    expect(seen.kind === 'addresses' && seen.addresses.length).toBe(1_000)
  })

  it('asks nobody about addresses and about this machine', async () => {
    const { resolver, server } = await asking(() => [[1, 2, 3, 4]])
    expect(await resolver.resolve('8.8.8.8', 5_000)).toEqual(addresses('8.8.8.8'))
    expect(await resolver.resolve('2606:4700::1', 5_000)).toEqual(addresses('2606:4700::1'))
    for (const name of ['localhost', 'LOCALHOST.', 'a.b.localhost']) {
      expect(await resolver.resolve(name, 5_000)).toEqual(addresses('127.0.0.1', '::1'))
    }
    expect(server.asked).toEqual([])
  })

  it('ends within the time it is given', async () => {
    const { resolver } = await asking(() => undefined)
    // Which of the two depends on whether the root was answered in so short a time.
    expect((await resolver.resolve('slow.test', 50)).kind).toMatch(/missing|unreachable/)
  })

  it('has no more look-ups under way than was set, and the rest wait their turn', async () => {
    let open = 0
    let most = 0
    const { resolver, server } = await asking(
      (type) => {
        if (type === 'AAAA') return []
        most = Math.max(most, ++open)
        setImmediate(() => open--)
        return [[1, 2, 3, 4]]
      },
      { concurrency: 1 },
    )
    const names = Array.from({ length: 20 }, (_, n) => `n${n}.test`)
    const seen = await Promise.all(names.map((name) => resolver.resolve(name, 20_000)))
    expect(seen).toEqual(names.map(() => addresses('1.2.3.4')))
    expect(most).toBe(1)
    const order = server.asked
      .filter((question) => question.startsWith('A '))
      .map((question) => question.slice(2))
    expect([...new Set(order)]).toEqual(names)
  })

  it('calls it our own fault when no turn came in time', async () => {
    const { resolver } = await asking((_, name) => (name === 'slow.test' ? undefined : [[1, 2, 3, 4]]), {
      concurrency: 1,
      lookupMs: 300,
    })
    const slow = resolver.resolve('slow.test', 5_000)
    expect(await resolver.resolve('quick.test', 50)).toEqual({
      kind: 'unreachable',
      detail: 'too many look-ups at once',
    })
    await slow
    expect(await resolver.resolve('quick.test', 5_000)).toEqual(addresses('1.2.3.4'))
  })

  it('ends what is under way when it is closed', async () => {
    const { resolver } = await asking(() => undefined, { concurrency: 1, lookupMs: 60_000 })
    const pending = [resolver.resolve('a.test', 60_000), resolver.resolve('b.test', 60_000)]
    resolver.close()
    expect((await Promise.all(pending)).map(({ kind }) => kind)).toEqual(['unreachable', 'unreachable'])
    expect(await resolver.resolve('c.test', 60_000)).toMatchObject({ kind: 'unreachable' })
  })

  it('believes the hosts file before the name server', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hosts-'))
    later(() => rmSync(folder, { recursive: true }))
    const hostsPath = join(folder, 'hosts')
    writeFileSync(hostsPath, '10.1.2.3 inside.test\n')
    const { resolver, server } = await asking(() => 3, { hostsPath })
    expect(await resolver.resolve('Inside.test.', 5_000)).toEqual(addresses('10.1.2.3'))
    expect(server.asked).toEqual([])
  })
})

describe('parseHosts', () => {
  it('reads addresses with all their names, and passes over the rest', () => {
    const hosts = parseHosts(
      '# top\r\n127.0.0.1\tlocalhost Box # mine\n::1 box\nnonsense box\n\n10.0.0.1\n10.0.0.2 a. #b\n',
    )
    expect(Object.fromEntries(hosts)).toEqual({
      localhost: ['127.0.0.1'],
      box: ['127.0.0.1', '::1'],
      a: ['10.0.0.2'],
    })
  })
})

describe('hostsFile', () => {
  it('is read again when it has changed, and counts as empty when it is gone or too large', () => {
    const folder = mkdtempSync(join(tmpdir(), 'hosts-'))
    later(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'hosts')
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
    later(() => clock.mockRestore())
    const look = hostsFile(path)
    expect(look('a')).toEqual([])
    writeFileSync(path, '10.0.0.1 a\n')
    expect(look('a')).toEqual([])
    clock.mockReturnValue(1_001)
    expect(look('a')).toEqual(['10.0.0.1'])
    writeFileSync(path, '10.0.0.2 a\n')
    utimesSync(path, 1, 1)
    clock.mockReturnValue(2_002)
    expect(look('a')).toEqual(['10.0.0.2'])
    writeFileSync(path, `10.0.0.3 a\n${'#'.repeat(1024 * 1024)}`)
    clock.mockReturnValue(3_003)
    expect(look('a')).toEqual([])
    rmSync(path)
    clock.mockReturnValue(4_004)
    expect(look('a')).toEqual([])
  })
})
