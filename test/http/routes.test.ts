import { describe, expect, it } from 'vitest'
import { createHandler } from '../../src/http/handle.js'
import { ROUTES } from '../../src/wire/routes.js'
import { createFakeBackend } from './fake-backend.js'
import {
  attempt,
  delivery,
  jsonOf,
  NODE,
  OWN_ACCOUNT,
  REQUEST_ID,
  type RequestOptions,
  request,
  silentLog,
  VERSION,
  WEBHOOK_ID,
} from './records.js'
import { ROUTE_CASES, type RouteCase } from './route-cases.js'

function setUp() {
  const fake = createFakeBackend({ ingest: true })
  fake.attempts.push(attempt(1), attempt(2))
  fake.deliveries.push(delivery(1), delivery(2, { state: 'delivered' }))
  return { ...fake, handle: createHandler(fake.backend, { log: silentLog }) }
}

const send = ({ method, path, data, token }: RouteCase, version: string, sent: RequestOptions = {}) =>
  request(method, `/${version}${path}`, {
    ...(data !== undefined && { body: { data } }),
    ...(token !== undefined && { token }),
    more: { remoteAddress: '192.0.2.1' },
    ...sent,
  })

describe('every route', () => {
  it('is in this table', () => {
    // These respond without an envelope, and have tests of their own.
    const others = ['readOpenapi', 'streamItems']
    const routed = ROUTES.map(({ operation }) => operation).filter((operation) => !others.includes(operation))
    expect([...new Set(ROUTE_CASES.map(({ operation }) => operation))].sort()).toEqual(routed.sort())
  })

  it.each(ROUTE_CASES.map((testCase) => [testCase.operation, testCase] as const))(
    '%s responds under /v1 and /v2',
    async (_, testCase) => {
      for (const version of ['v1', 'v2']) {
        const { handle, calls } = setUp()
        const response = await handle(send(testCase, version))
        const body = jsonOf(response)
        expect({ status: response.status, data: body.data }).toEqual({
          status: testCase.status,
          data: testCase.expectedData,
        })
        expect(response.headers).toMatchObject({
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(response.body)),
          'x-request-id': REQUEST_ID,
        })
        expect(body).toMatchObject({
          status: 'success',
          request_id: REQUEST_ID,
          timestamp: '2030-01-15T12:00:00.250Z',
          node: NODE,
        })
        if (testCase.expectedCall) expect(calls).toContainEqual(testCase.expectedCall)
      }
    },
  )

  it.each(
    ROUTE_CASES.filter(({ method }) => method === 'GET').map(
      (testCase) => [testCase.operation, testCase] as const,
    ),
  )('%s responds to HEAD with the headers of GET and no body', async (_, testCase) => {
    const get = await setUp().handle(send(testCase, 'v1'))
    const head = await setUp().handle(send({ ...testCase, method: 'HEAD' }, 'v1'))
    expect(head).toEqual({ ...get, body: '' })
  })

  it.each(ROUTE_CASES.map((testCase) => [testCase.operation, testCase] as const))(
    '%s can be called with POST and verb',
    async (_, testCase) => {
      const { handle } = setUp()
      const body = {
        verb: testCase.method.toLowerCase(),
        ...(testCase.data !== undefined && { data: testCase.data }),
      }
      const response = await handle(send({ ...testCase, method: 'POST' }, 'v1', { body }))
      expect(response.status).toBe(testCase.status)
    },
  )

  it.each(
    ROUTES.filter(({ requiresToken }) => requiresToken).map((route) => [route.operation, route] as const),
  )('%s requires a token', async (_, { method, path }) => {
    const { handle, calls } = setUp()
    const url = `/v1${path.replace('{account_id}', OWN_ACCOUNT).replace(/\{\w+\}/, WEBHOOK_ID)}`
    const responses = await Promise.all(
      [null, '', 'wrong'].map((token) => handle(request(method, url, { token, body: '{broken' }))),
    )
    for (const response of responses) {
      expect(response).toEqual(responses[0])
      expect(response.status).toBe(401)
      expect(jsonOf(response)).toEqual({
        data: { message: 'invalid credentials' },
        error: '401',
        message: 'invalid_credentials',
        status: 'error',
        request_id: REQUEST_ID,
        timestamp: '2030-01-15T12:00:00.250Z',
        node: NODE,
      })
    }
    expect(calls.filter(([method]) => method !== 'authenticate')).toEqual([])
  })
})

describe('the OpenAPI document', () => {
  it('is returned without an envelope and contains every route', async () => {
    const { handle } = setUp()
    const response = await handle(request('GET', '/v2/openapi.json', { token: null }))
    expect(response.headers['content-type']).toBe('application/json')
    const { openapi, info, paths } = jsonOf(response) as {
      openapi: string
      info: { version: string }
      paths: Record<string, object>
    }
    expect(openapi).toMatch(/^3\.1\./)
    expect(info.version).toBe(VERSION)
    for (const { path, method } of ROUTES) expect(Object.keys(paths[path]!)).toContain(method.toLowerCase())
  })
})
