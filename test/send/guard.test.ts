import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { approve } from '../../src/send/connect.js'
import { dialOrder } from '../../src/send/dial.js'
import { createSender } from '../../src/send/undici.js'
import { compilePolicy } from '../../src/values/address-policy.js'
import { addresses, closeAfterEach, fakeResolver, later, localSender, OK, post, receiver } from './hostile.js'

closeAfterEach()

const closed = compilePolicy({ allowLocal: false, allow: [] })

function guarded(allow: readonly string[], answer: Parameters<typeof fakeResolver>[0]) {
  const resolver = fakeResolver(answer)
  const sender = createSender({ policy: compilePolicy({ allowLocal: false, allow }), resolver })
  later(() => sender.close())
  return { sender, resolver }
}

const blocked = (detail: unknown = expect.any(String)) => ({
  kind: 'no_response',
  failure: 'blocked_address',
  detail,
})

describe('the address guard', () => {
  it('dials nothing and asks nobody for a blocked literal', async () => {
    const canary = await receiver((socket) => socket.write(OK))
    const { sender, resolver } = guarded([], () => addresses('127.0.0.1'))
    for (const host of [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '127.1',
      '[::ffff:127.0.0.1]',
      '[::1]',
      'localhost',
      'a.localhost',
      '127.0.0.1.',
    ]) {
      expect([host, await sender.send(post(`http://${host}:${canary.port}/`))]).toEqual([host, blocked()])
    }
    expect(canary.connections).toHaveLength(0)
    expect(resolver.asked).toEqual([])
  })

  it.each([
    ['one blocked address alone', ['127.0.0.1']],
    ['a blocked one after a public one', ['192.0.43.8', '127.0.0.1']],
    ['a blocked one before a public one', ['127.0.0.1', '192.0.43.8']],
    ['a blocked IPv6 one beside a public IPv4 one', ['192.0.43.8', '::1']],
    ['a mapped one', ['::ffff:127.0.0.1']],
    ['one blocked of a thousand', [...new Array(999).fill('192.0.43.8'), '127.0.0.1']],
    ['something that is no address', ['192.0.43.8', 'localhost']],
    ['an address with a zone', ['fe80::1%lo']],
  ])('refuses a name with %s, whole', async (_, list) => {
    const canary = await receiver((socket) => socket.write(OK))
    const { sender } = guarded([], () => addresses(...list))
    expect(await sender.send(post(`http://mixed.test:${canary.port}/`))).toEqual(blocked())
    expect(canary.connections).toHaveLength(0)
  })

  it('does not tell the address behind a name', async () => {
    const { sender } = guarded([], () => addresses('10.11.12.13'))
    expect(await sender.send(post('http://inside.test/'))).toEqual(
      blocked('the host name has a private address'),
    )
  })

  it('resolves anew for every connection, so that an answer that changes is judged again', async () => {
    const { connections, port } = await receiver((socket) =>
      socket.end(OK.replace('200 OK', '200 OK\r\nconnection: close')),
    )
    let turn = 0
    const { sender, resolver } = guarded(['127.0.0.0/8'], () =>
      addresses(turn++ % 2 === 0 ? '127.0.0.1' : '10.0.0.1'),
    )
    const url = `http://rebind.test:${port}/`
    for (let n = 0; n < 3; n++) {
      expect(await sender.send(post(url))).toMatchObject({ status: 200 })
      expect(await sender.send(post(url))).toEqual(blocked())
    }
    expect(connections).toHaveLength(3)
    expect(resolver.asked).toHaveLength(6)
  })

  it('resolves once for a connection that is used again', async () => {
    const { url, port, connections } = await receiver((socket) => socket.write(OK))
    const { sender, resolver } = guarded(['127.0.0.1'], () => addresses('127.0.0.1'))
    for (let n = 0; n < 5; n++) await sender.send(post(url.replace('127.0.0.1', 'once.test')))
    expect([connections.length, resolver.asked]).toEqual([1, ['once.test']])
    expect(port).toBeGreaterThan(0)
  })

  it('never follows a redirect to a blocked address', async () => {
    const canary = await receiver((socket) => socket.write(OK))
    const front = await receiver((socket) =>
      socket.write(`HTTP/1.1 302 Found\r\nlocation: ${canary.url}\r\ncontent-length: 0\r\n\r\n`),
    )
    expect(await localSender().send(post(front.url))).toMatchObject({ status: 302 })
    expect(canary.connections).toHaveLength(0)
  })

  it('opens what a rule names: an address, a block, or a host with whatever address it has', async () => {
    const { port, requests } = await receiver((socket) => socket.write(OK))
    for (const [rule, host] of [
      ['127.0.0.1', '127.0.0.1'],
      ['127.0.0.0/8', 'x.test'],
      ['Name.Test', 'name.test'],
    ] as const) {
      const { sender } = guarded([rule], () => addresses('127.0.0.1'))
      expect([rule, await sender.send(post(`http://${host}:${port}/`))]).toMatchObject([
        rule,
        { status: 200 },
      ])
      expect(await sender.send(post(`http://localhost:${port}/`))).toEqual(blocked())
    }
    expect(requests.map((request) => /host: (.*?):/.exec(request)![1])).toEqual([
      '127.0.0.1',
      'x.test',
      'name.test',
    ])
  })

  it('tries the next address of the approved list when one does not answer, and no other', async () => {
    const { port, connections } = await receiver((socket) => socket.write(OK))
    const { sender } = guarded(['127.0.0.0/8'], () => addresses('127.0.0.2', '127.0.0.3', '127.0.0.1'))
    expect(await sender.send(post(`http://many.test:${port}/`))).toMatchObject({ status: 200 })
    expect(connections).toHaveLength(1)
  })

  it('says dns for a name without addresses', async () => {
    const none = guarded([], () => addresses())
    expect(await none.sender.send(post('http://none.test/'))).toMatchObject({ failure: 'dns' })
    const missing = guarded([], () => ({ kind: 'missing', detail: 'no such host name' }))
    expect(await missing.sender.send(post('http://none.test/'))).toEqual({
      kind: 'no_response',
      failure: 'dns',
      detail: 'no such host name',
    })
  })

  it('approves exactly what the policy lets pass, for any answer', async () => {
    const some = fc.oneof(
      fc.constantFrom(
        '8.8.8.8',
        '1.1.1.1',
        '2606:4700::1',
        '10.0.0.1',
        '::1',
        '::ffff:8.8.8.8',
        '64:ff9b::808:808',
      ),
      fc.ipV4(),
      fc.ipV6(),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(some, { minLength: 1, maxLength: 6 }), async (list) => {
        const seen = await approve(
          { policy: closed, resolver: fakeResolver(() => addresses(...list)) },
          'any.test',
          1_000,
        )
        if (list.some((ip) => closed.judgeIp(ip).blocked)) expect(seen).toEqual(blocked())
        else expect(seen).toEqual(list)
      }),
      { numRuns: 500 },
    )
  })
})

describe('dialOrder', () => {
  it('takes the families by turns, IPv4 first, each address once', () => {
    expect(dialOrder(['::1', '::2', '1.1.1.1'])).toEqual(['1.1.1.1', '::1', '::2'])
    expect(dialOrder(['1.1.1.1', '2.2.2.2', '3.3.3.3', '::1'])).toEqual([
      '1.1.1.1',
      '::1',
      '2.2.2.2',
      '3.3.3.3',
    ])
    expect(dialOrder([])).toEqual([])
  })
})
