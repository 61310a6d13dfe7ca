import * as asterisk from 'hookswitch/asterisk'
import { asteriskAmi, asteriskAri } from 'hookswitch/asterisk'
import { describe, expect, it } from 'vitest'

describe('the options of the Asterisk sources', () => {
  const good = { publish: async () => {}, username: 'u', accountOf: () => 'x' }
  it.each([
    ['secret', {}],
    ['accountOf', { secret: 's', accountOf: undefined }],
    ['accountOf', { secret: 's', accountOf: 'x' }],
    ['host', { secret: 's', host: 'a\nb' }],
    ['port', { secret: 's', port: 0 }],
    ['username', { secret: 's', username: 'a\r\nAction: x' }],
    ['eventMask', { secret: 's', eventMask: '' }],
    ['customVariables', { secret: 's', customVariables: [1] }],
    ['optionalHooks', { secret: 's', optionalHooks: ['missed_calls'] }],
    ['realmOf', { secret: 's', realmOf: 'x' }],
    ['password', { secret: 's', password: 'p' }],
  ])('asteriskAmi names an invalid %s', (field, over) => {
    expect(() => asteriskAmi({ ...good, ...over } as never)).toThrow(
      expect.objectContaining({ code: 'InvalidOption', message: expect.stringContaining(field) }),
    )
  })

  it.each([
    ['password', {}],
    ['url', { password: 'p', url: 'ws://127.0.0.1' }],
    ['url', { password: 'p', url: 'http://u:hidden@127.0.0.1/ari' }],
    ['url', { password: 'p', url: 'http://127.0.0.1/ari?api_key=u:hidden' }],
    ['username', { password: 'p', username: 'a:b' }],
    ['app', { password: 'p', app: '' }],
    ["asteriskAri\\(\\): unknown option 'secret'", { password: 'p', secret: 'hidden' }],
  ])('asteriskAri names an invalid %s', (field, over) => {
    expect(() => asteriskAri({ ...good, ...over } as never)).toThrow(
      expect.objectContaining({
        code: 'InvalidOption',
        message: expect.stringMatching(new RegExp(`^${field}(?: |$)(?!.*hidden)`)),
      }),
    )
  })
})

describe('the accountFrom… functions', () => {
  const leg = {
    endpoint: '1001',
    context: 'phones',
    accountCode: '7',
    variable: (name: string) => (name === 'ACCOUNT_ID' ? 'acme' : undefined),
  } as asterisk.AsteriskFacts

  it.each([
    ['variable', asterisk.accountFromVariable('ACCOUNT_ID'), asterisk.accountFromVariable('NONE')],
    [
      'account code',
      asterisk.accountFromAccountCode({ 7: 'acme' }),
      asterisk.accountFromAccountCode({ 8: 'acme' }),
    ],
    [
      'context',
      asterisk.accountFromContext({ phones: 'acme' }),
      asterisk.accountFromContext({ other: 'acme' }),
    ],
    [
      'endpoint',
      asterisk.accountFromEndpoint({ 1001: 'acme' }),
      asterisk.accountFromEndpoint({ constructor: 'acme' }),
    ],
  ])('the account by %s is found or undefined', (_, matching, other) => {
    expect([matching(leg), other(leg)]).toEqual(['acme', undefined])
  })

  it('accountFromVariable needs a name', () => {
    for (const name of [undefined, '', 7]) {
      expect(() => asterisk.accountFromVariable(name as never)).toThrow(
        expect.objectContaining({ code: 'InvalidOption', message: expect.stringMatching(/^name /) }),
      )
    }
  })

  it('accountFromAccountCode without a table returns the account code', () => {
    expect(asterisk.accountFromAccountCode()(leg)).toBe('7')
  })
})
