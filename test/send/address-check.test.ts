import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveAllowedAddresses } from '../../src/send/connect.js'
import { interleaveFamilies } from '../../src/send/happy-eyeballs.js'
import { createSender } from '../../src/send/sender.js'
import { compileAddressPolicy } from '../../src/values/address-policy.js'
import { propertyRuns } from '../support/property-runs.js'
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

const closed = compileAddressPolicy({ allowLocal: false, allow: [] })

function senderWith(allow: readonly string[], answer: Parameters<typeof fakeResolver>[0]) {
  const resolver = fakeResolver(answer)
  const sender = createSender({ addressPolicy: compileAddressPolicy({ allowLocal: false, allow }), resolver })
  onCleanup(() => sender.close())
  return { sender, resolver }
}

const blocked = (detail: unknown = expect.any(String)) => ({
  kind: 'no_response',
  failure: 'blocked_address',
  cause: 'blocked_address',
  detail,
  isSent: false,
})

describe('a sender with an address policy', () => {
  it('neither resolves nor connects to a blocked address literal', async () => {
    const canary = await startReceiver((socket) => socket.write(OK))
    const { sender, resolver } = senderWith([], () => addresses('127.0.0.1'))
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
    expect(resolver.queries).toEqual([])
  })

  it.each([
    ['only a blocked address', ['127.0.0.1']],
    ['a blocked address after a public one', ['192.0.43.8', '127.0.0.1']],
    ['a blocked address before a public one', ['127.0.0.1', '192.0.43.8']],
    ['a blocked IPv6 address and a public IPv4 address', ['192.0.43.8', '::1']],
    ['a mapped address', ['::ffff:127.0.0.1']],
    ['one blocked address among a thousand', [...new Array(999).fill('192.0.43.8'), '127.0.0.1']],
    ['an invalid address', ['192.0.43.8', 'localhost']],
    ['an address with a zone id', ['fe80::1%lo']],
  ])('rejects a name with %s', async (_, list) => {
    const canary = await startReceiver((socket) => socket.write(OK))
    const { sender } = senderWith([], () => addresses(...list))
    expect(await sender.send(post(`http://mixed.test:${canary.port}/`))).toEqual(blocked())
    expect(canary.connections).toHaveLength(0)
  })

  it('does not reveal the address of a name', async () => {
    const { sender } = senderWith([], () => addresses('10.11.12.13'))
    expect(await sender.send(post('http://inside.test/'))).toEqual(
      blocked('the host name has a private address'),
    )
  })

  it('resolves and checks a name again for every connection', async () => {
    const { connections, port } = await startReceiver((socket) =>
      socket.end(OK.replace('200 OK', '200 OK\r\nconnection: close')),
    )
    let lookups = 0
    const { sender, resolver } = senderWith(['127.0.0.0/8'], () =>
      addresses(lookups++ % 2 === 0 ? '127.0.0.1' : '10.0.0.1'),
    )
    const url = `http://rebind.test:${port}/`
    for (let n = 0; n < 3; n++) {
      expect(await sender.send(post(url))).toMatchObject({ status: 200 })
      expect(await sender.send(post(url))).toEqual(blocked())
    }
    expect(connections).toHaveLength(3)
    expect(resolver.queries).toHaveLength(6)
  })

  it('does not resolve again for a reused connection', async () => {
    const { url, port, connections } = await startReceiver((socket) => socket.write(OK))
    const { sender, resolver } = senderWith(['127.0.0.1'], () => addresses('127.0.0.1'))
    for (let n = 0; n < 5; n++) await sender.send(post(url.replace('127.0.0.1', 'once.test')))
    expect([connections.length, resolver.queries]).toEqual([1, ['once.test']])
    expect(port).toBeGreaterThan(0)
  })

  it('never follows a redirect to a blocked address', async () => {
    const canary = await startReceiver((socket) => socket.write(OK))
    const front = await startReceiver((socket) =>
      socket.write(`HTTP/1.1 302 Found\r\nlocation: ${canary.url}\r\ncontent-length: 0\r\n\r\n`),
    )
    expect(await localSender().send(post(front.url))).toMatchObject({ status: 302 })
    expect(canary.connections).toHaveLength(0)
  })

  it('allows listed addresses, blocks, and host names with any address', async () => {
    const { port, requests } = await startReceiver((socket) => socket.write(OK))
    for (const [rule, host] of [
      ['127.0.0.1', '127.0.0.1'],
      ['127.0.0.0/8', 'x.test'],
      ['Name.Test', 'name.test'],
    ] as const) {
      const { sender } = senderWith([rule], () => addresses('127.0.0.1'))
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

  it('tries the next approved address when one does not answer, and no other', async () => {
    const { port, connections } = await startReceiver((socket) => socket.write(OK))
    const { sender } = senderWith(['127.0.0.0/8'], () => addresses('127.0.0.2', '127.0.0.3', '127.0.0.1'))
    expect(await sender.send(post(`http://many.test:${port}/`))).toMatchObject({ status: 200 })
    expect(connections).toHaveLength(1)
  })

  it('reports a dns failure for a name without addresses', async () => {
    const none = senderWith([], () => addresses())
    expect(await none.sender.send(post('http://none.test/'))).toMatchObject({ failure: 'dns' })
    const missing = senderWith([], () => ({ kind: 'missing', detail: 'no such host name' }))
    expect(await missing.sender.send(post('http://none.test/'))).toEqual({
      kind: 'no_response',
      failure: 'dns',
      cause: 'name_unknown',
      isSent: false,
      detail: 'no such host name',
    })
  })

  it('approves exactly the answers without blocked addresses', async () => {
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
        const result = await resolveAllowedAddresses(
          { addressPolicy: closed, resolver: fakeResolver(() => addresses(...list)) },
          'any.test',
          1_000,
        )
        if (list.some((ip) => closed.checkAddress(ip).blocked)) expect(result).toEqual(blocked())
        else expect(result).toEqual(list)
      }),
      { numRuns: propertyRuns(500) },
    )
  })
})

describe('interleaveFamilies', () => {
  it('alternates the families, IPv4 first', () => {
    expect(interleaveFamilies(['::1', '::2', '1.1.1.1'])).toEqual(['1.1.1.1', '::1', '::2'])
    expect(interleaveFamilies(['1.1.1.1', '2.2.2.2', '3.3.3.3', '::1'])).toEqual([
      '1.1.1.1',
      '::1',
      '2.2.2.2',
      '3.3.3.3',
    ])
    expect(interleaveFamilies([])).toEqual([])
  })
})
