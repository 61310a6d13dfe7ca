import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { echoService } from './echo.js'
import { EXEMPTIONS, isExempt } from './exemptions.js'
import { FACES, type FaceName, type RunningFace, serverFace } from './faces.js'
import { type RawResponse, sendRaw } from './raw.js'
import { REQUESTS, requestBytes, type TableRequest } from './requests.js'

const NAMES = Object.keys(FACES) as FaceName[]
const TABLE = REQUESTS.map((request) => [request.name, request] as const)
const isAfterParser = (name: FaceName) => name.endsWith('AfterJson')

const ask = async (face: RunningFace, request: TableRequest, prefix: string) =>
  comparable(await sendRaw(face.port, requestBytes(request, prefix), { head: request.method === 'HEAD' }))

/** What must be the same; the rest (date, connection, x-powered-by) is the framework's own. */
const comparable = ({ status, headers, body }: RawResponse) => ({
  status,
  type: headers['content-type'],
  seen: headers['x-seen'],
  body,
})

describe.each([
  ['at the root', 'root', ''],
  ['under a prefix', 'prefix', '/telephony'],
] as const)('mounted %s', (_where, mounted, prefix) => {
  let exact: RunningFace
  let loose: RunningFace
  beforeAll(async () => {
    exact = await FACES.node(echoService(true), prefix)
    loose = await FACES.node(echoService(false), prefix)
  })
  afterAll(() => Promise.all([exact.close(), loose.close()]))

  describe.each(NAMES.filter((name) => name !== 'node'))('%s sees what node sees', (name) => {
    let face: RunningFace
    beforeAll(async () => {
      face = await FACES[name](echoService(!isAfterParser(name)), prefix)
    })
    afterAll(() => face.close())

    it.each(TABLE)('%s', async (_name, request) => {
      const expected = await ask(isAfterParser(name) ? loose : exact, request, prefix)
      const answer = await ask(face, request, prefix)
      if (isExempt(name, request.name, mounted)) {
        expect(answer, 'the exemption is no longer needed').not.toEqual(expected)
      } else {
        expect(answer).toEqual(expected)
      }
    })
  })
})

describe('our own server sees what the listener sees', () => {
  let server: RunningFace
  let node: RunningFace
  beforeAll(async () => {
    server = await serverFace(echoService(true), '')
    node = await FACES.node(echoService(true), '')
  })
  afterAll(() => Promise.all([server.close(), node.close()]))

  it.each(TABLE)('%s', async (_name, request) => {
    expect(await ask(server, request, '')).toEqual(await ask(node, request, ''))
  })
})

describe('the tables themselves', () => {
  it('name every request once, and at least sixty', () => {
    expect(new Set(REQUESTS.map(({ name }) => name)).size).toBe(REQUESTS.length)
    expect(REQUESTS.length).toBeGreaterThanOrEqual(60)
  })

  it('exempt only requests of the table, with a reason', () => {
    const names = REQUESTS.map(({ name }) => name)
    for (const { requests, why } of EXEMPTIONS) {
      expect(names).toEqual(expect.arrayContaining([...requests]))
      expect(why.length).toBeGreaterThan(20)
    }
  })

  it('are answered by the reference in the way their names say', async () => {
    const face = await FACES.node(echoService(true), '')
    const seen = async (name: string) => {
      const request = REQUESTS.find((candidate) => candidate.name === name)
      const answer = await ask(face, request!, '')
      return answer.status === 404 ? 404 : JSON.parse(answer.body)
    }
    try {
      expect((await seen('two different tokens')).headers).toContainEqual(['x-auth-token', ['aaaa', 'bbbb']])
      expect((await seen('two bearer headers')).headers).toContainEqual([
        'authorization',
        'Bearer aaaa, Bearer bbbb',
      ])
      expect((await seen('the header __proto__')).headers).toContainEqual(['__proto__', 'x'])
      expect((await seen('many headers')).headers).toHaveLength(302)
      expect((await seen('an escape that is none')).url).toBe('/v2/accounts/%zz/webhooks')
      expect((await seen('encoded dots')).url).toBe('/v2/accounts/a1/%2e%2e/a2/webhooks')
      expect((await seen('an absolute target')).url).toBe('/v2/accounts/a1/webhooks?x=1')
      expect((await seen('as many bytes as fit')).payload.length).toBe(1_048_576)
      expect(await seen('one byte too many')).toMatchObject({ bodyProblem: 'too_large', remote: '127.0.0.1' })
      expect(await seen('one byte too many in chunks')).toMatchObject({ bodyProblem: 'too_large' })
      expect(await seen('an announced empty body')).not.toHaveProperty('payload')
      expect(await seen('another version')).toBe(404)
    } finally {
      await face.close()
    }
  })
})
