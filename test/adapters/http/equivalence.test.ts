import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { echoService } from './echo.js'
import { EXEMPTIONS, isExempt } from './exemptions.js'
import { type RawResponse, sendRaw } from './raw.js'
import { REQUESTS, requestBytes, type TableRequest } from './requests.js'
import { type RunningServer, SERVERS, type ServerName, startStandaloneServer } from './servers.js'

const NAMES = Object.keys(SERVERS) as ServerName[]
const TABLE = REQUESTS.map((request) => [request.name, request] as const)
const isAfterParser = (name: ServerName) => name.endsWith('AfterJson')

const exchange = async (server: RunningServer, request: TableRequest, prefix: string) =>
  comparable(await sendRaw(server.port, requestBytes(request, prefix), { head: request.method === 'HEAD' }))

/** The parts of a response that must be equal; the rest (date, connection, x-powered-by) depends on the framework. */
const comparable = ({ status, headers, body }: RawResponse) => ({
  status,
  type: headers['content-type'],
  recordDigest: headers['x-record-digest'],
  body,
})

describe.each([
  ['at the root', 'root', ''],
  ['under a prefix', 'prefix', '/telephony'],
] as const)('mounted %s', (_where, mounted, prefix) => {
  let exact: RunningServer
  let loose: RunningServer
  beforeAll(async () => {
    exact = await SERVERS.node(echoService(true), prefix)
    loose = await SERVERS.node(echoService(false), prefix)
  })
  afterAll(() => Promise.all([exact.close(), loose.close()]))

  describe.each(NAMES.filter((name) => name !== 'node'))(
    '%s builds the same request record as node',
    (name) => {
      let server: RunningServer
      beforeAll(async () => {
        server = await SERVERS[name](echoService(!isAfterParser(name)), prefix)
      })
      afterAll(() => server.close())

      it.each(TABLE)('%s', async (_name, request) => {
        const expected = await exchange(isAfterParser(name) ? loose : exact, request, prefix)
        const actual = await exchange(server, request, prefix)
        if (isExempt(name, request.name, mounted)) {
          expect(actual, 'the exemption is no longer needed').not.toEqual(expected)
        } else {
          expect(actual).toEqual(expected)
        }
      })
    },
  )
})

describe('createServer builds the same request record as nodeHandler', () => {
  let server: RunningServer
  let node: RunningServer
  beforeAll(async () => {
    server = await startStandaloneServer(echoService(true), '')
    node = await SERVERS.node(echoService(true), '')
  })
  afterAll(() => Promise.all([server.close(), node.close()]))

  it.each(TABLE)('%s', async (_name, request) => {
    expect(await exchange(server, request, '')).toEqual(await exchange(node, request, ''))
  })
})

describe('the tables of requests and exemptions', () => {
  it('contain at least 60 requests with unique names', () => {
    expect(new Set(REQUESTS.map(({ name }) => name)).size).toBe(REQUESTS.length)
    expect(REQUESTS.length).toBeGreaterThanOrEqual(60)
  })

  it('exempt only requests of the table, with a reason', () => {
    const names = REQUESTS.map(({ name }) => name)
    for (const { requests, reason: why } of EXEMPTIONS) {
      expect(names).toEqual(expect.arrayContaining([...requests]))
      expect(why.length).toBeGreaterThan(20)
    }
  })

  it('produce the records that the names of the requests promise', async () => {
    const server = await SERVERS.node(echoService(true), '')
    const recordOf = async (name: string) => {
      const request = REQUESTS.find((candidate) => candidate.name === name)
      const response = await exchange(server, request!, '')
      return response.status === 404 ? 404 : JSON.parse(response.body)
    }
    try {
      expect((await recordOf('two different tokens')).headers).toContainEqual([
        'x-auth-token',
        ['aaaa', 'bbbb'],
      ])
      expect((await recordOf('two bearer headers')).headers).toContainEqual([
        'authorization',
        'Bearer aaaa, Bearer bbbb',
      ])
      expect((await recordOf('the header __proto__')).headers).toContainEqual(['__proto__', 'x'])
      expect((await recordOf('many headers')).headers).toHaveLength(302)
      expect((await recordOf('an invalid escape')).url).toBe('/v2/accounts/%zz/webhooks')
      expect((await recordOf('encoded dots')).url).toBe('/v2/accounts/a1/%2e%2e/a2/webhooks')
      expect((await recordOf('an absolute target')).url).toBe('/v2/accounts/a1/webhooks?x=1')
      expect((await recordOf('a body of the maximum size')).payload.length).toBe(1_048_576)
      expect(await recordOf('a body one byte too large')).toMatchObject({
        bodyProblem: 'too_large',
        remote: '127.0.0.1',
      })
      expect(await recordOf('a chunked body one byte too large')).toMatchObject({ bodyProblem: 'too_large' })
      expect(await recordOf('an empty body with Content-Length')).not.toHaveProperty('payload')
      expect(await recordOf('another version')).toBe(404)
    } finally {
      await server.close()
    }
  })
})
