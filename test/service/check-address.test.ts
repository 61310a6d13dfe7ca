/** The check of an address before a webhook is saved. */
import type { Sender } from 'hookswitch/adapter'
import { manualClock, until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { createAddressCheck } from '../../src/runtime/check-address.js'
import { compileAddressPolicy } from '../../src/values/address-policy.js'
import { authority, good, selfSigned } from '../send/certificates.js'
import { cleanUpAfterEach, startReceiver } from '../send/harness.js'
import { startTlsReceiver } from '../send/secure-receiver.js'
import { type RunningService, type ServiceOptions, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()
cleanUpAfterEach()

const PATH = '/v2/accounts/parent/webhooks/check'
const check = async ({ callApi }: RunningService, uri: unknown, path = PATH) => {
  const { status, json, headers } = await callApi('PUT', path, { data: { uri } })
  return { status, data: json.data, retryAfter: headers['retry-after'] }
}
/** What the check says of an address. */
const dataOf = async (service: RunningService, uri: string) => (await check(service, uri)).data

/** A sender whose connections stay open until they are ended. */
function waitingSender() {
  const waiting: (() => void)[] = []
  const sender: Sender = {
    send: async () => ({ kind: 'own_fault', detail: 'not used' }),
    connect: () => new Promise((resolve) => waiting.push(() => resolve({ kind: 'connected' }))),
    close: async () => {},
  }
  return { sender, waiting }
}

/** Starts a service whose connections are made at once. */
const startQuick = (options: ServiceOptions = {}) =>
  startService({
    sender: { ...waitingSender().sender, connect: async () => ({ kind: 'connected' }) },
    ...options,
  })

describe('the check of an address', () => {
  it('connects, sends nothing, stores nothing, and says how the address is spelt', async () => {
    const service = await startService({ tls: { ca: authority } })
    const plain = await startReceiver(() => {})
    expect(await dataOf(service, `HTTP://127.1:${plain.port}/a?b#c`)).toEqual({
      ok: true,
      scheme: 'http',
      host: '127.0.0.1',
      port: plain.port,
      warnings: ['not_encrypted'],
    })
    expect([plain.connections.length, plain.requests]).toEqual([1, []])
    const secure = await startTlsReceiver({ cert: good })
    expect(await dataOf(service, `https://127.0.0.1:${secure.port}`)).toEqual({
      ok: true,
      scheme: 'https',
      host: '127.0.0.1',
      port: secure.port,
      tls: { valid_to: '2100-01-01T00:00:00.000Z' },
    })
    expect(secure.requests).toEqual([])
    expect(await service.hs.webhooks.list('parent')).toEqual([])
  })

  it('says why requests could not be sent', async () => {
    const service = await startService({ attemptTimeoutMs: 200 })
    const secure = await startTlsReceiver({ cert: selfSigned })
    const silent = await startReceiver(() => {})
    const codes = {
      'ftp://hooks.example.com': 'scheme',
      'hooks.example.com/calls': 'scheme',
      'javascript:alert(1)': 'scheme',
      '': 'scheme',
      'https:hooks.example.com': 'address_invalid',
      ' https://hooks.example.com': 'address_invalid',
      'https://user:secret@hooks.example.com': 'address_invalid',
      'https://hooks.example.com:0': 'address_invalid',
      [`https://hooks.example.com/${'a'.repeat(2_048)}`]: 'address_invalid',
      'http://10.0.0.1': 'blocked_address',
      'http://127.0.0.1:1': 'refused',
      [`https://127.0.0.1:${secure.port}`]: 'certificate_self_signed',
      [`https://127.0.0.1:${silent.port}`]: 'timeout_tls',
    }
    for (const [uri, code] of Object.entries(codes)) {
      const data = await dataOf(service, uri)
      expect([data.ok, data.problem.code], uri).toEqual([false, code])
      expect(data.problem.message, uri).toMatch(/^The .*\.$/)
      expect(JSON.stringify(data), uri).not.toContain('secret')
    }
  })

  it('says the same of every address that is blocked, whether a name leads there or not', async () => {
    const connections: string[] = []
    const service = await startService({
      allowLocal: false,
      resolver: {
        async resolve(hostname) {
          connections.push(hostname)
          return { kind: 'addresses', addresses: ['10.1.2.3'] }
        },
        close() {},
      },
    })
    const hosts = ['10.1.2.3', '127.0.0.1', '[fd00::1]', '169.254.169.254', 'localhost', 'inside.example.com']
    const problems = await Promise.all(hosts.map(async (host) => dataOf(service, `https://${host}/`)))
    for (const [index, { host, ...data }] of problems.entries()) {
      expect(host).toBe(hosts[index])
      expect(data).toEqual({ ok: false, scheme: 'https', port: 443, problem: problems[0].problem })
    }
    expect(problems[0].problem.code).toBe('blocked_address')
    expect(connections).toEqual(['inside.example.com'])
  })

  it('names a missing or wrong field, and an account that does not exist', async () => {
    const service = await startService({ operators: ['parent'] })
    expect(await check(service, undefined)).toMatchObject({ status: 400, data: { uri: { required: {} } } })
    expect(await check(service, ['https://a.example'])).toMatchObject({
      status: 400,
      data: { uri: { type: {} } },
    })
    const unknown = PATH.replace('parent', 'nobody')
    expect(await check(service, 'https://a.example', unknown)).toMatchObject({ status: 404 })
    await expect(
      service.hs.webhooks.checkAddress('nobody', { uri: 'https://a.example' }),
    ).rejects.toMatchObject({ code: 'NotFound', id: 'nobody' })
  })

  it('is made ten times in any minute for an account, and no more', async () => {
    const clock = manualClock()
    const service = await startQuick({ clock })
    const uri = 'https://hooks.example.com'
    for (let made = 0; made < 9; made++) expect((await check(service, uri)).status).toBe(200)
    await clock.advance(20_000)
    expect((await check(service, uri)).status).toBe(200)
    expect(await check(service, uri)).toMatchObject({ status: 429, retryAfter: '40' })
    await expect(service.hs.webhooks.checkAddress('parent', { uri })).rejects.toMatchObject({
      code: 'TooManyChecks',
      retryAfterSeconds: 40,
    })
    // What needs no connection costs nothing, and other accounts have their own share.
    expect((await check(service, 'https://')).status).toBe(200)
    expect((await check(service, uri, PATH.replace('parent', 'child'))).status).toBe(200)
    await clock.advance(39_999)
    expect((await check(service, uri)).status).toBe(429)
    await clock.advance(1)
    for (let made = 0; made < 9; made++) expect((await check(service, uri)).status).toBe(200)
    expect(await check(service, uri)).toMatchObject({ status: 429, retryAfter: '20' })
  })

  it('is made twice at once for an account, and no more', async () => {
    const { sender, waiting } = waitingSender()
    const service = await startService({ sender })
    const uri = 'https://hooks.example.com'
    const first = [check(service, uri), check(service, uri)]
    await until(() => waiting.length === 2, { description: 'two checks are under way' })
    expect(await check(service, uri)).toMatchObject({ status: 429, retryAfter: '1' })
    const other = check(service, uri, PATH.replace('parent', 'child'))
    await until(() => waiting.length === 3, { description: 'the check of another account is under way' })
    for (const end of waiting) end()
    expect((await Promise.all([...first, other])).map(({ status }) => status)).toEqual([200, 200, 200])
    const next = check(service, uri)
    await until(() => waiting.length === 4, { description: 'the next check is under way' })
    waiting[3]!()
    expect((await next).status).toBe(200)
  })

  it('is shared between accounts: one each where many are under way, and first come, first served', async () => {
    const { sender, waiting } = waitingSender()
    const checkAddress = createAddressCheck({
      sender,
      addressPolicy: compileAddressPolicy({ allowLocal: false, allow: [] }),
      clock: manualClock(),
      attemptTimeoutMs: 1_000,
    })
    const made: string[] = []
    const checkOf = async (account: string) => {
      await checkAddress(account, 'https://hooks.example.com')
      made.push(account)
    }
    const all = [checkOf('first'), checkOf('first')]
    for (let index = 2; index < 16; index++) all.push(checkOf(`account-${index}`))
    const refused = { code: 'TooManyChecks', retryAfterSeconds: 1 }
    await expect(checkOf('account-2')).rejects.toMatchObject(refused)
    for (let index = 16; index < 64; index++) all.push(checkOf(`account-${index}`))
    await expect(checkOf('account-64')).rejects.toMatchObject(refused)
    expect(waiting).toHaveLength(32)
    waiting[5]!()
    await until(() => waiting.length === 33, { description: 'the next check is under way' })
    expect(made).toEqual(['account-5'])
    for (const end of waiting) end()
    await until(() => waiting.length === 64, { description: 'all checks are under way' })
    for (const end of waiting) end()
    await Promise.all(all)
    expect(new Set(made).size).toBe(63)
    expect(made.slice(-32)).toEqual(Array.from({ length: 32 }, (_, index) => `account-${index + 32}`))
    // Nothing is under way any more.
    const next = [checkOf('first'), checkOf('first')]
    await until(() => waiting.length === 66, { description: 'two checks are under way' })
    for (const end of waiting) end()
    await Promise.all(next)
  })

  it('says that it could not be made where the sender of the host cannot, or fails', async () => {
    const { sender } = waitingSender()
    const { connect: _, ...without } = sender
    for (const own of [
      without,
      { ...sender, connect: () => Promise.reject(new Error('secret')) },
      { ...sender, connect: async () => ({ kind: 'own_fault', detail: 'secret' }) as const },
    ]) {
      const service = await startService({ sender: own })
      const data = await dataOf(service, 'https://hooks.example.com')
      expect(data.problem.code).toBe('not_checked')
      expect(JSON.stringify(data)).not.toContain('secret')
      await service.close()
    }
  })

  it('is for whoever may create webhooks', async () => {
    const { callApi, hs } = await startQuick()
    const { token } = await hs.auth.issue({ accountId: 'parent', role: 'read', ttlSeconds: 60 })
    const data = { uri: 'https://hooks.example.com' }
    expect((await callApi('PUT', PATH, { token, data })).status).toBe(403)
  })
})
