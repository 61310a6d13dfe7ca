import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { describe, expect, it } from 'vitest'
import { createDnsResolver, type DnsResolverOptions } from '../../src/send/dns-resolver.js'
import { addresses, cleanUpAfterEach, onCleanup } from './harness.js'
import { type Reply, startNameServer } from './name-server.js'

cleanUpAfterEach()

function resolver(options: DnsResolverOptions) {
  const created = createDnsResolver({ hostsPath: '/nowhere', resolvConfPath: '/nowhere', ...options })
  onCleanup(() => created.close())
  return created
}

async function resolverWith(
  reply: Parameters<typeof startNameServer>[0],
  options: DnsResolverOptions = {},
  answersRoot = true,
) {
  const server = await startNameServer(reply, answersRoot)
  return { server, resolver: resolver({ servers: [server.address], ...options }) }
}

const V6 = [0x26, 6, 0x47, 0, ...new Array(11).fill(0), 1]

describe('createDnsResolver', () => {
  it('queries both families and returns every address', async () => {
    const { resolver, server } = await resolverWith((type) =>
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
    expect(server.queries.sort()).toEqual(['A both.test', 'AAAA both.test'])
  })

  it('accepts addresses of one family only', async () => {
    const four = await resolverWith((type) => (type === 'A' ? [[1, 2, 3, 4]] : []))
    expect(await four.resolver.resolve('four.test', 5_000)).toEqual(addresses('1.2.3.4'))
    const six = await resolverWith((type) => (type === 'A' ? 2 : [V6]))
    expect(await six.resolver.resolve('six.test', 5_000)).toEqual(addresses('2606:4700::1'))
  })

  it('does not wait long for a family without a response', async () => {
    const { resolver } = await resolverWith((type) => (type === 'A' ? [[1, 2, 3, 4]] : undefined), {
      lookupMs: 60_000,
    })
    expect(await resolver.resolve('half.test', 60_000)).toEqual(addresses('1.2.3.4'))
  })

  it.each([
    ['does not exist', 3, { detail: 'no such host name' }],
    ['has no address', [], { detail: 'the host name has no address' }],
    ['fails at its name servers', 2, { detail: 'the name server answered ESERVFAIL', cause: 'name_server' }],
    ['is refused', 5, { detail: 'the name server answered EREFUSED', cause: 'name_server' }],
  ] as const)('reports a name as missing that %s', async (_, reply, expected) => {
    const { resolver } = await resolverWith(() => reply)
    expect(await resolver.resolve('bad.test', 20_000)).toEqual({ kind: 'missing', ...expected })
  })

  it('reports a name as missing that gets no response while the root query does', async () => {
    const { resolver, server } = await resolverWith(() => undefined, { lookupMs: 1_500 })
    expect(await resolver.resolve('lame.test', 5_000)).toEqual({
      kind: 'missing',
      detail: 'the name server does not answer for this host name',
      cause: 'name_server',
    })
    expect(server.queries).toContain('NS ')
  })

  it('reports an unresponsive name server as unreachable', async () => {
    const { resolver } = await resolverWith(() => undefined, { lookupMs: 300 }, false)
    expect(await resolver.resolve('any.test', 5_000)).toEqual({
      kind: 'unreachable',
      detail: 'the name server does not respond',
    })
  })

  it('reports a name server with a closed port as unreachable', async () => {
    const { resolver: closed } = { resolver: resolver({ servers: ['127.0.0.1:9'] }) }
    expect(await closed.resolve('any.test', 5_000)).toEqual({
      kind: 'unreachable',
      detail: 'the name server is unreachable',
    })
  })

  it('reports invalid name server options as unreachable instead of throwing', async () => {
    expect(await resolver({ servers: ['nonsense'] }).resolve('any.test', 5_000)).toMatchObject({
      kind: 'unreachable',
    })
  })

  it('uses at most a thousand addresses of a response', async () => {
    const many = Array.from({ length: 1_500 }, (_, n) => [9, 9, n >> 8, n & 255])
    const { resolver } = await resolverWith((type) => (type === 'A' ? many : []))
    const resolution = await resolver.resolve('many.test', 20_000)
    expect(resolution.kind === 'addresses' && resolution.addresses.length).toBe(1_000)
  })

  it('sends no query for addresses and localhost names', async () => {
    const { resolver, server } = await resolverWith(() => [[1, 2, 3, 4]])
    expect(await resolver.resolve('8.8.8.8', 5_000)).toEqual(addresses('8.8.8.8'))
    expect(await resolver.resolve('2606:4700::1', 5_000)).toEqual(addresses('2606:4700::1'))
    for (const name of ['localhost', 'LOCALHOST.', 'a.b.localhost']) {
      expect(await resolver.resolve(name, 5_000)).toEqual(addresses('127.0.0.1', '::1'))
    }
    expect(server.queries).toEqual([])
  })

  it('ends within the given timeout', async () => {
    const { resolver } = await resolverWith(() => undefined)
    // The result depends on whether the root query was answered in time.
    expect((await resolver.resolve('slow.test', 50)).kind).toMatch(/missing|unreachable/)
  })

  it('limits concurrent lookups; further ones wait in order', async () => {
    let open = 0
    let peak = 0
    const { resolver, server } = await resolverWith(
      (type) => {
        if (type === 'AAAA') return []
        peak = Math.max(peak, ++open)
        setImmediate(() => open--)
        return [[1, 2, 3, 4]]
      },
      { concurrency: 1 },
    )
    const names = Array.from({ length: 20 }, (_, n) => `n${n}.test`)
    // The second time shows that no lookup that had to wait has freed more than its slot.
    for (let times = 0; times < 2; times++) {
      const resolutions = await Promise.all(names.map((name) => resolver.resolve(name, 20_000)))
      expect(resolutions).toEqual(names.map(() => addresses('1.2.3.4')))
      expect(peak).toBe(1)
    }
    const order = server.queries.filter((query) => query.startsWith('A ')).map((query) => query.slice(2))
    expect([...new Set(order)]).toEqual(names)
  })

  it('reports a lookup as unreachable that got no slot in time', async () => {
    const { resolver } = await resolverWith(
      (_, name) => (name === 'slow.test' ? undefined : [[1, 2, 3, 4]]),
      {
        concurrency: 1,
        lookupMs: 300,
      },
    )
    const slow = resolver.resolve('slow.test', 5_000)
    expect(await resolver.resolve('quick.test', 50)).toEqual({
      kind: 'unreachable',
      detail: 'too many concurrent lookups',
    })
    await slow
    expect(await resolver.resolve('quick.test', 5_000)).toEqual(addresses('1.2.3.4'))
  })

  it('ends lookups in progress when it is closed', async () => {
    const { resolver } = await resolverWith(() => undefined, { concurrency: 1, lookupMs: 60_000 })
    const pending = [resolver.resolve('a.test', 60_000), resolver.resolve('b.test', 60_000)]
    resolver.close()
    expect((await Promise.all(pending)).map(({ kind }) => kind)).toEqual(['unreachable', 'unreachable'])
    expect(await resolver.resolve('c.test', 60_000)).toMatchObject({ kind: 'unreachable' })
  })

  describe('with search domains', () => {
    /** `answers` by name; other names do not exist. */
    async function resolverOf(
      conf: string,
      answers: Readonly<Record<string, 'address' | Reply>>,
      options: DnsResolverOptions = {},
    ) {
      const folder = mkdtempSync(join(tmpdir(), 'resolv-'))
      onCleanup(() => rmSync(folder, { recursive: true }))
      const resolvConfPath = join(folder, 'resolv.conf')
      writeFileSync(resolvConfPath, conf)
      const { resolver, server } = await resolverWith(
        (type, name) => {
          const answer = name in answers ? answers[name] : 3
          return answer === 'address' ? (type === 'A' ? [[1, 2, 3, 4]] : []) : answer
        },
        { resolvConfPath, ...options },
      )
      const names = () =>
        [...server.queries].filter((query) => query.startsWith('A ')).map((query) => query.slice(2))
      return { resolver, names }
    }
    const K8S = 'search a.test b.test c.test\noptions ndots:5\n'
    const no = { kind: 'missing', detail: 'no such host name' }

    it.each<[string, string, string, Readonly<Record<string, 'address' | Reply>>, readonly string[]]>([
      ['a short name, in order', K8S, 'crm', { 'crm.b.test': 'address' }, ['crm.a.test', 'crm.b.test']],
      [
        'the next one after no data',
        K8S,
        'crm',
        { 'crm.a.test': [], 'crm.b.test': 'address' },
        ['crm.a.test', 'crm.b.test'],
      ],
      [
        'the next one after SERVFAIL',
        K8S,
        'crm',
        { 'crm.a.test': 2, 'crm.b.test': 'address' },
        ['crm.a.test', 'crm.b.test'],
      ],
      [
        'the name itself after REFUSED',
        K8S,
        'crm',
        { 'crm.a.test': 5, crm: 'address', 'crm.b.test': 'address' },
        ['crm.a.test', 'crm'],
      ],
      [
        'the name itself last',
        K8S,
        'x.crm',
        { 'x.crm': 'address' },
        ['x.crm.a.test', 'x.crm.b.test', 'x.crm.c.test', 'x.crm'],
      ],
      [
        'the name itself first with enough dots',
        'search a.test\n',
        'x.crm',
        { 'x.crm': 'address', 'x.crm.a.test': 'address' },
        ['x.crm'],
      ],
      [
        'the domains after a name with enough dots',
        'search a.test\n',
        'x.crm',
        { 'x.crm.a.test': 'address' },
        ['x.crm', 'x.crm.a.test'],
      ],
      ['an absolute name alone', K8S, 'crm.', { crm: 'address', 'crm.a.test': 'address' }, ['crm']],
      [
        'one domain',
        'search z.test\ndomain a.test b.test\n',
        'crm',
        { 'crm.a.test': 'address' },
        ['crm.a.test'],
      ],
    ])('looks up %s', async (_, conf, hostname, answers, expected) => {
      const { resolver, names } = await resolverOf(conf, answers)
      expect(await resolver.resolve(hostname, 20_000)).toEqual(addresses('1.2.3.4'))
      expect(names()).toEqual(expected)
    })

    it('reports the failure of a server rather than a name that does not exist, but not for a whole name', async () => {
      const failing = { 'crm.b.test': 2, 'x.crm.b.test': 2 }
      const short = await resolverOf(K8S, failing)
      expect(await short.resolver.resolve('crm', 20_000)).toMatchObject({ cause: 'name_server' })
      expect(short.names()).toEqual(['crm.a.test', 'crm.b.test', 'crm.c.test', 'crm'])
      const whole = await resolverOf('search a.test b.test\n', failing)
      expect(await whole.resolver.resolve('x.crm', 20_000)).toEqual(no)
      expect(whole.names()).toEqual(['x.crm', 'x.crm.a.test', 'x.crm.b.test'])
    })

    it('tries the name itself after a domain that does not answer, within the limit', async () => {
      const silent = { 'crm.a.test': undefined, crm: 'address' } as const
      const { resolver, names } = await resolverOf(K8S, silent, { lookupMs: 1_000 })
      const started = performance.now()
      expect(await resolver.resolve('crm', 20_000)).toEqual(addresses('1.2.3.4'))
      expect(performance.now() - started).toBeLessThan(1_000)
      expect([...new Set(names())]).toEqual(['crm.a.test', 'crm'])
    })

    it('looks up nothing more after it was closed', async () => {
      const { resolver, names } = await resolverOf(K8S, { 'crm.a.test': undefined })
      const pending = resolver.resolve('crm', 20_000)
      while (names().length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      resolver.close()
      expect(await pending).toMatchObject({ kind: 'unreachable' })
      expect([...new Set(names())]).toEqual(['crm.a.test'])
    })
  })

  it('prefers the hosts file to the name server', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hosts-'))
    onCleanup(() => rmSync(folder, { recursive: true }))
    const hostsPath = join(folder, 'hosts')
    writeFileSync(hostsPath, '10.1.2.3 inside.test\n')
    const { resolver, server } = await resolverWith(() => 3, { hostsPath })
    expect(await resolver.resolve('Inside.test.', 5_000)).toEqual(addresses('10.1.2.3'))
    expect(server.queries).toEqual([])
  })
})
