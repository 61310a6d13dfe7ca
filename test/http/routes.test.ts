import { describe, expect, it } from 'vitest'
import { createHandler } from '../../src/http/handle.js'
import { ROUTES } from '../../src/wire/route.js'
import { fakeWorld } from './fake-service.js'
import {
  attempt,
  delivery,
  HOOK,
  jsonOf,
  NODE,
  OWN,
  REQUEST_ID,
  request,
  type Sent,
  silent,
  VERSION,
} from './records.js'
import { CASES, type Case } from './route-cases.js'

function world() {
  const made = fakeWorld({ ingest: true })
  made.attempts.push(attempt(1), attempt(2))
  made.deliveries.push(delivery(1), delivery(2, { state: 'delivered' }))
  return { ...made, handle: createHandler(made.service, { log: silent }) }
}

const send = ({ method, path, data, token }: Case, version: string, sent: Sent = {}) =>
  request(method, `/${version}${path}`, {
    ...(data !== undefined && { body: { data } }),
    ...(token !== undefined && { token }),
    more: { remoteAddress: '192.0.2.1' },
    ...sent,
  })

describe('every route', () => {
  it('is in this table', () => {
    const routed = ROUTES.map(({ operation }) => operation).filter((operation) => operation !== 'readOpenapi')
    expect(CASES.map(({ operation }) => operation).sort()).toEqual(routed.sort())
  })

  it.each(CASES.map((one) => [one.operation, one] as const))(
    '%s answers under /v1 and /v2',
    async (_, one) => {
      for (const version of ['v1', 'v2']) {
        const { handle, asked } = world()
        const response = await handle(send(one, version))
        const body = jsonOf(response)
        expect({ status: response.status, data: body.data }).toEqual({ status: one.status, data: one.answer })
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
        if (one.asks) expect(asked.at(-1)).toEqual(one.asks)
      }
    },
  )

  it.each(CASES.filter(({ method }) => method === 'GET').map((one) => [one.operation, one] as const))(
    '%s answers HEAD with the headers of GET and no body',
    async (_, one) => {
      const get = await world().handle(send(one, 'v1'))
      const head = await world().handle(send({ ...one, method: 'HEAD' }, 'v1'))
      expect(head).toEqual({ ...get, body: '' })
    },
  )

  it.each(CASES.map((one) => [one.operation, one] as const))(
    '%s can be reached by POST and verb',
    async (_, one) => {
      const { handle } = world()
      const body = { verb: one.method.toLowerCase(), ...(one.data !== undefined && { data: one.data }) }
      const response = await handle(send({ ...one, method: 'POST' }, 'v1', { body }))
      expect(response.status).toBe(one.status)
    },
  )

  it.each(ROUTES.filter(({ token }) => token).map((route) => [route.operation, route] as const))(
    '%s needs a token',
    async (_, { method, path }) => {
      const { handle, asked } = world()
      const url = `/v1${path.replace('{account_id}', OWN).replace(/\{\w+\}/, HOOK)}`
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
      expect(asked.filter(([verb]) => verb !== 'authenticate')).toEqual([])
    },
  )
})

describe('the OpenAPI document', () => {
  it('is answered bare and names every route', async () => {
    const { handle } = world()
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
