import { describe, expect, it } from 'vitest'
import { displayName, sipAddress, userAtRealm } from '../../../../adapters/telephony/source/sip-address.js'

describe('sipAddress', () => {
  it.each([
    ['sip:bob@Example.COM', 'bob', 'example.com'],
    ['SIPS:bob@example.com:5061;transport=tls?subject=x', 'bob', 'example.com'],
    ['sip:bob:hunter2@example.com', 'bob', 'example.com'],
    ['sip:+15551234;phone-context=x@example.com', '+15551234', 'example.com'],
    ['sip:example.com', '', 'example.com'],
    ['sip:bob@[2001:DB8::1]:5060', 'bob', '[2001:db8::1]'],
    ['tel:+15551234;ext=7', '+15551234', ''],
  ])('%s', (uri, user, domain) => {
    expect(sipAddress(uri)).toEqual({ user, domain })
  })

  it.each([undefined, '', 'bob@example.com', 'http://example.com/'])('nothing else: %s', (uri) => {
    expect(sipAddress(uri)).toBeUndefined()
  })
})

describe('userAtRealm', () => {
  it('is the user, the realm, or both with an @', () => {
    expect(userAtRealm({ user: 'bob', domain: 'example.com' })).toBe('bob@example.com')
    expect(userAtRealm({ user: 'bob', domain: '' })).toBe('bob')
    expect(userAtRealm({ user: '', domain: 'example.com' })).toBe('example.com')
    expect(userAtRealm({ user: '', domain: '' })).toBeUndefined()
    expect(userAtRealm(undefined)).toBeUndefined()
  })
})

describe('displayName', () => {
  it.each([
    ['Bob', 'Bob'],
    [' "Bob \\"the\\" \\\\ B." ', 'Bob "the" \\ B.'],
    ['""', undefined],
    ['  ', undefined],
    [undefined, undefined],
  ])('of %j is %j', (raw, name) => {
    expect(displayName(raw)).toBe(name)
  })
})
