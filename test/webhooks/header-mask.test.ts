import { describe, expect, it } from 'vitest'
import { maskHeaders, unmaskHeaders } from '../../src/webhooks/header-mask.js'

const MASK = '[redacted]'

describe('custom headers', () => {
  it('are masked whatever their names and values', () => {
    const view = {
      name: 'n',
      customRequestHeaders: { Authorization: 'Bearer x', 'X-Region': 'eu', Empty: '' },
    }
    expect(maskHeaders(view)).toEqual({
      name: 'n',
      customRequestHeaders: { Authorization: MASK, 'X-Region': MASK, Empty: MASK },
    })
    expect(view.customRequestHeaders.Authorization).toBe('Bearer x')
    const without: { name: string; customRequestHeaders?: Record<string, string> } = { name: 'n' }
    expect(maskHeaders(without)).toBe(without)
  })

  it('that are masked stand for what is stored, in any case of the name', () => {
    const stored = { Authorization: 'Bearer x', 'X-Region': 'eu' }
    const settings = {
      name: 'n',
      customRequestHeaders: { authorization: MASK, 'X-Region': 'us', 'X-New': '1' },
    }
    expect(unmaskHeaders(settings, stored)).toEqual({
      settings: {
        name: 'n',
        customRequestHeaders: { authorization: 'Bearer x', 'X-Region': 'us', 'X-New': '1' },
      },
    })
  })

  it('that are masked and not stored are a failure each', () => {
    const customRequestHeaders = { A: MASK, B: 'b', C: MASK, __proto__: null }
    const message = '[redacted] stands for the stored value of a header, and none of this name is stored'
    const failure = (name: string) => ({
      path: `customRequestHeaders.${name}`,
      rule: 'error',
      message,
      target: message,
    })
    expect(unmaskHeaders({ customRequestHeaders }, { c: 'stored' })).toEqual({ failures: [failure('A')] })
    expect(unmaskHeaders({ customRequestHeaders }, undefined)).toEqual({
      failures: [failure('A'), failure('C')],
    })
    const named = JSON.parse(`{"customRequestHeaders":{"__proto__":"${MASK}","constructor":"${MASK}"}}`)
    expect(unmaskHeaders(named, {})).toEqual({ failures: [failure('__proto__'), failure('constructor')] })
  })

  it.each([undefined, null, 'text', 5, [MASK], {}, { A: 'a', B: null, C: { D: MASK } }])(
    'without a mask are not touched: %j',
    (customRequestHeaders) => {
      const settings = { customRequestHeaders }
      expect(unmaskHeaders(settings, undefined)).toEqual(
        Array.isArray(customRequestHeaders) ? { failures: expect.any(Array) } : { settings },
      )
    },
  )
})
