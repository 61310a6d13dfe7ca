import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchRoute, parseTarget } from '../../src/wire/router.js'
import { ROUTES } from '../../src/wire/routes.js'
import { hostileText } from '../support/hostile-text.js'

const find = (url: string) => {
  const target = parseTarget(url)
  return target && matchRoute(target.segments)
}

const fill = (path: string) => path.replace(/\{(\w+)\}/g, (_, name: string) => `some-${name}`)

describe('the table of routes', () => {
  it.each(ROUTES.map((route) => [route.method, route.path, route] as const))(
    'matches %s %s',
    (method, path, route) => {
      for (const version of ['v1', 'v2']) {
        for (const end of ['', '/', '?a=b', '/?a=b']) {
          expect(find(`/${version}${fill(path)}${end}`)?.routes[method]).toBe(route)
        }
      }
    },
  )

  it('has no duplicate operation and no duplicate method of a path', () => {
    expect(new Set(ROUTES.map(({ operation }) => operation)).size).toBe(ROUTES.length)
    expect(new Set(ROUTES.map(({ method, path }) => method + path)).size).toBe(ROUTES.length)
  })

  it('prefers the literal `attempts` to a webhook id', () => {
    expect(find('/v1/accounts/a/webhooks/attempts')?.routes.GET?.operation).toBe('listAttempts')
    expect(find('/v1/accounts/a/webhooks/%61ttempts')?.routes.GET?.operation).toBe('listAttempts')
  })

  it.each([
    '/',
    '/v1',
    '/v1/',
    '/v3/webhooks',
    '/V1/webhooks',
    '/v1/Webhooks',
    '//v1/webhooks',
    '/v1//webhooks',
    '/v1/webhooks//',
    '/v1/./webhooks',
    '/v1/x/../webhooks',
    '/v1/%2e/webhooks',
    '/v1/accounts/./webhooks',
    '/v1/accounts/../webhooks',
    '/v1/accounts/%2e%2E/webhooks',
    '/v1/accounts//webhooks',
    '/v1/accounts/a/nothing',
    '/v1/accounts/a/webhooks/w/nothing',
    '/v1/accounts/a/calls/%2e/attempts',
    '/v1/accounts/%zz/webhooks',
    '/v1/accounts/%ff/webhooks',
    '/v1/accounts/%2561/webhooks',
    '/v1/%2577ebhooks',
    '/v1/accounts/a%252Fb/webhooks',
    '/v1/webhooks#x',
    '/v1\\webhooks',
    '/v1/accounts/a/webhooks\\attempts\\x/y',
    '*',
    '',
    'v1/webhooks',
    'ftp://host/v1/webhooks',
    'http:///v1/webhooks',
  ])('does not match %j', (url) => {
    expect(find(url)).toBeUndefined()
  })

  it('accepts a request target in absolute form', () => {
    expect(find('http://host:8000/v1/webhooks?x')?.routes.GET?.operation).toBe('listHooks')
    expect(find('HTTPS://host/v2/webhooks/')?.routes.GET?.operation).toBe('listHooks')
  })

  it('accepts any text as a call id, decoded exactly once', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (callId) => {
        fc.pre(callId !== '.' && callId !== '..')
        const match = find(`/v1/accounts/a/calls/${encodeURIComponent(callId)}/attempts`)
        expect(match?.params).toEqual({ accountId: 'a', callId })
      }),
    )
    expect(find('/v1/accounts/a/calls/x%2Fy%2541/attempts')?.params.callId).toBe('x/y%41')
  })

  it('never throws, and its parameters contain a slash only if it was encoded', () => {
    fc.assert(
      fc.property(hostileText(), (rest) => {
        const params = find(`/v1/accounts/${rest}`)?.params ?? {}
        if (!rest.includes('%')) {
          for (const value of Object.values(params)) expect(value).not.toContain('/')
        }
      }),
    )
  })
})
