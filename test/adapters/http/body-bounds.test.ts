/** How much of a request body is read before its sender is known, and how much of all bodies is held. */
import { createHookswitch, type Hookswitch, memoryStore } from 'hookswitch'
import type { RequestHead } from 'hookswitch/adapter'
import { createServer } from 'hookswitch/node'
import { until } from 'hookswitch/testkit'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createBodyAdmission } from '../../../src/http/body-admission.js'
import { parseTrustedProxies } from '../../../src/http/client-address.js'
import { connect, type RawResponse } from './raw.js'
import { listen, SERVERS, type StartServer, startStandaloneServer } from './servers.js'

const KIB = 1_024
const MIB = 1_048_576
/** Well formed, and nobody's. */
const TOKEN = 'T'.repeat(43)

const headOf = (headers: RequestHead['headers'] = {}, more: Partial<RequestHead> = {}): RequestHead => ({
  method: 'PUT',
  url: '/v2/accounts/a/webhooks',
  headers,
  remoteAddress: '192.0.2.1',
  ...more,
})

const LIMITS = {
  maxUnfinishedBodyBytes: 64 * MIB,
  maxUnfinishedBodyBytesPerAddress: 8 * MIB,
  trustedProxies: parseTrustedProxies(['10.0.0.0/8']),
  tokenInQuery: true,
} as const

describe('a body', () => {
  const admit = createBodyAdmission(LIMITS)

  it.each([
    ['no token', {}, {}, 64 * KIB],
    ['an empty token', { 'x-auth-token': '' }, {}, 64 * KIB],
    ['what is no token', { 'x-auth-token': 'undefined' }, {}, 64 * KIB],
    ['a token that is too short', { 'x-auth-token': TOKEN.slice(1) }, {}, 64 * KIB],
    ['two different tokens', { 'x-auth-token': [TOKEN, 'U'.repeat(43)] }, {}, 64 * KIB],
    ['a token in its header', { 'x-auth-token': TOKEN }, {}, MIB],
    ['a bearer token', { authorization: `Bearer ${TOKEN}` }, {}, MIB],
    ['a token in its query', {}, { url: `/v2/accounts/a/webhooks?auth_token=${TOKEN}` }, MIB],
  ] as const)('of a request with %s has a limit', (_, headers, more, maxBytes) => {
    const admission = admit(headOf(headers, more))
    expect(admission.maxBytes).toBe(maxBytes)
    const excess = maxBytes === MIB ? 'too_large' : 'no_token'
    expect(admission.excess).toBe(excess)
    expect(admission.take(maxBytes)).toBeUndefined()
    expect(admission.take(1)).toBe(excess)
    expect(admission.take(10 * maxBytes)).toBe(excess)
    admission.end()
  })

  it('of a request from the own origin has the limit of strangers if its token in the query does not count', () => {
    const strict = createBodyAdmission({ ...LIMITS, tokenInQuery: 'cross-origin' })
    const url = `/v2/accounts/a/webhooks?auth_token=${TOKEN}`
    expect(strict(headOf({ 'sec-fetch-site': 'same-origin' }, { url })).maxBytes).toBe(64 * KIB)
    expect(strict(headOf({}, { url })).maxBytes).toBe(MIB)
  })
})

describe('unfinished bodies', () => {
  const head = (remoteAddress: string, forwarded?: string) =>
    headOf({ 'x-auth-token': TOKEN, ...(forwarded && { 'x-forwarded-for': forwarded }) }, { remoteAddress })

  it('of one address hold at most 8 MiB, and others are not affected', () => {
    const admit = createBodyAdmission(LIMITS)
    const full = Array.from({ length: 8 }, () => admit(head('192.0.2.1')))
    for (const body of full) expect(body.take(MIB)).toBeUndefined()
    expect(admit(head('192.0.2.1')).take(1)).toBe('address_busy')
    for (let index = 0; index < 72; index++) expect(admit(head('192.0.2.1')).take(MIB)).toBe('address_busy')
    expect(admit(head('192.0.2.2')).take(MIB)).toBeUndefined()
    full[0]!.end()
    full[0]!.end()
    expect(admit(head('192.0.2.1')).take(MIB)).toBeUndefined()
    expect(admit(head('192.0.2.1')).take(1)).toBe('address_busy')
  })

  it('are counted by the address that trusted proxies give', () => {
    const admit = createBodyAdmission(LIMITS)
    for (let index = 0; index < 8; index++)
      expect(admit(head('10.0.0.1', '198.51.100.1')).take(MIB)).toBeUndefined()
    expect(admit(head('10.0.0.2', '198.51.100.1')).take(1)).toBe('address_busy')
    expect(admit(head('10.0.0.1', '198.51.100.2')).take(MIB)).toBeUndefined()
    // Nobody chooses its address.
    for (let index = 0; index < 8; index++)
      expect(admit(head('192.0.2.1', `198.51.100.${index}`)).take(MIB)).toBeUndefined()
    expect(admit(head('192.0.2.1', '198.51.100.99')).take(1)).toBe('address_busy')
  })

  it('hold at most 64 MiB together', () => {
    const admit = createBodyAdmission(LIMITS)
    const address = (index: number) => `192.0.2.${index}`
    const bodies = Array.from({ length: 64 }, (_, index) => admit(head(address(index))))
    for (const body of bodies) expect(body.take(MIB)).toBeUndefined()
    expect(admit(head(address(65))).take(1)).toBe('busy')
    for (let index = 0; index < 640; index++) expect(admit(head(address(index % 250))).take(MIB)).toBe('busy')
    bodies[0]!.end()
    expect(admit(head(address(65))).take(MIB)).toBeUndefined()
    expect(admit(head(address(66))).take(1)).toBe('busy')
  })

  it('of clients whose address is unknown have the common limit alone', () => {
    const admit = createBodyAdmission(LIMITS)
    const { remoteAddress: _, ...unknown } = head('')
    for (let index = 0; index < 64; index++) expect(admit(unknown).take(MIB)).toBeUndefined()
    expect(admit(unknown).take(1)).toBe('busy')
  })
})

const ALL: Readonly<Record<string, StartServer>> = { ...SERVERS, standalone: startStandaloneServer }
/** Servers whose body parser reads the body before the service can limit it. */
const READ_BEFORE = ['express4AfterJson', 'express5AfterJson']

describe.each(Object.entries(ALL).filter(([name]) => !READ_BEFORE.includes(name)))(
  'through %s',
  (name, startServer) => {
    let hs: Hookswitch
    let token: string

    beforeAll(async () => {
      hs = createHookswitch({
        store: memoryStore(),
        maxUnfinishedBodyBytes: 3 * MIB,
        maxUnfinishedBodyBytesPerAddress: 2 * MIB,
        trustProxy: ['127.0.0.1'],
      })
      await hs.start()
      const { apiKey } = await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
      token = (await hs.auth.signIn({ apiKey: apiKey! })).token
    })
    afterAll(() => hs.close())

    const open = async () => {
      const server = await startServer(hs, '')
      onTestFinished(() => server.close())
      const connection = await connect(server.port)
      onTestFinished(() => connection.end())
      return { ...connection, port: server.port }
    }
    const put = (path: string, ...headers: string[]) =>
      [`PUT ${path} HTTP/1.1`, 'Host: a', 'Content-Type: application/json', ...headers, '', ''].join('\r\n')
    const chunk = (size: number) => `${size.toString(16)}\r\n${' '.repeat(size)}\r\n`
    const dataOf = ({ body }: RawResponse) => JSON.parse(body).data

    it.each([64 * KIB + 1, 640 * KIB])(
      'a body of %i bytes without a token gets a 401, and the connection closes',
      async (size) => {
        for (const framed of ['chunked', 'length']) {
          const { write, next, closed } = await open()
          write(
            framed === 'length'
              ? `${put('/v2/accounts/acme/webhooks', `Content-Length: ${size}`)}${' '.repeat(size)}`
              : `${put('/v2/accounts/acme/webhooks', 'Transfer-Encoding: chunked')}${chunk(size)}0\r\n\r\n`,
          )
          const response = await next()
          expect([response.status, JSON.parse(response.body).message]).toEqual([401, 'invalid_credentials'])
          if (name !== 'fetch') {
            expect(response.headers.connection).toBe('close')
            await closed
          }
        }
      },
    )

    it('a body of 64 KiB may have its token in itself', async () => {
      const { write, next } = await open()
      const document = (padding: string) =>
        JSON.stringify({
          auth_token: token,
          data: { name: 'w', hook: 'all', uri: 'https://example.com/' },
          padding,
        })
      const text = document('x'.repeat(64 * KIB - document('').length))
      write(`${put('/v2/accounts/acme/webhooks', `Content-Length: ${text.length}`)}${text}`)
      expect((await next()).status).toBe(201)
    })

    it.each([64 * KIB + 1, 640 * KIB])('a login of %i bytes gets a 413', async (size) => {
      const { write, next } = await open()
      write(`${put('/v2/api_auth', `Content-Length: ${size}`)}${' '.repeat(size)}`)
      const response = await next()
      expect(response.status).toBe(413)
      expect(dataOf(response).body.maxSize).toEqual({
        message: 'The body must not exceed 16384 bytes',
        target: 16_384,
      })
    })

    it('a path that does not exist is a 404, however large the body', async () => {
      const { write, next } = await open()
      write(`${put('/v2/nothing', `Content-Length: ${64 * KIB + 1}`)}${' '.repeat(64 * KIB + 1)}`)
      expect((await next()).status).toBe(404)
    })

    it('unfinished bodies have limits for an address and for all, and others go on when they end', async () => {
      const path = '/v2/accounts/acme/webhooks'
      const start = async (address: string, size: number) => {
        const connection = await open()
        const headers = [
          `X-Auth-Token: ${token}`,
          `X-Forwarded-For: ${address}`,
          'Transfer-Encoding: chunked',
        ]
        connection.write(put(path, ...headers) + chunk(size))
        return connection
      }
      const held = [await start('198.51.100.1', MIB), await start('198.51.100.1', MIB)]
      const probe = async (address: string) => {
        const connection = await start(address, 1)
        connection.write('0\r\n\r\n')
        return connection.next()
      }
      let refused: RawResponse | undefined
      await until(async () => {
        refused = await probe('198.51.100.1')
        return refused.status !== 400 && refused.status !== 201
      })
      expect([refused!.status, refused!.headers['retry-after'], dataOf(refused!)]).toEqual([
        429,
        '1',
        {
          message: `unfinished request bodies of this address hold ${2 * MIB} bytes already (maxUnfinishedBodyBytesPerAddress)`,
        },
      ])
      held.push(await start('198.51.100.2', MIB))
      await until(async () => {
        refused = await probe('198.51.100.3')
        return refused.status === 503
      })
      expect([refused!.headers['retry-after'], dataOf(refused!)]).toEqual([
        '1',
        { message: `unfinished request bodies hold ${3 * MIB} bytes already (maxUnfinishedBodyBytes)` },
      ])
      for (const connection of held) connection.socket.resetAndDestroy()
      await until(async () => (await probe('198.51.100.1')).status === 400)
    })

    it.each(['gzip', 'br', 'deflate, gzip', 'GZIP'])(
      'a body in the content coding %s gets a 415 that says so',
      async (coding) => {
        const { write, next } = await open()
        write(
          `${put('/v2/accounts/acme/webhooks', `X-Auth-Token: ${token}`, `Content-Encoding: ${coding}`, 'Content-Length: 2')}{}`,
        )
        const response = await next()
        expect([response.status, response.headers['accept-encoding']]).toEqual([415, 'identity'])
        expect(dataOf(response)).toEqual({ message: 'the request body must not be compressed' })
      },
    )

    it('a body in the coding identity is read', async () => {
      const { write, next } = await open()
      write(
        `${put('/v2/accounts/acme/webhooks', `X-Auth-Token: ${token}`, 'Content-Encoding: identity', 'Content-Length: 2')}{}`,
      )
      expect((await next()).status).toBe(400)
    })
  },
)

it('a client that may not send its body gets no 100 Continue', async () => {
  const hs = createHookswitch({ store: memoryStore() })
  await hs.start()
  onTestFinished(() => hs.close())
  const { port, close } = await listen(createServer(hs))
  onTestFinished(close)
  for (const [size, first] of [
    [64 * KIB, 100],
    [64 * KIB + 1, 401],
  ] as const) {
    const connection = await connect(port)
    connection.write(
      `PUT /v2/accounts/a/webhooks HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${size}\r\n\r\n`,
    )
    expect((await connection.next()).status).toBe(first)
    connection.end()
  }
})
