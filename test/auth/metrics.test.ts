import { describe, expect, it } from 'vitest'
import { authenticate } from '../../src/auth/authenticate.js'
import { type SignInInput, signIn } from '../../src/auth/sign-in.js'
import { md5Of } from '../accounts/account-harness.js'
import { codeOf, createAuthHarness } from './auth-harness.js'

const bob = { credentials: md5Of('bob:pw'), realm: 'acme.test' }
const LOGINS = 'hookswitch_logins_total'
const LOOKUPS = 'hookswitch_token_lookups_total'

describe('the login counter', () => {
  it('counts logins as succeeded, failed or throttled', async () => {
    const harness = await createAuthHarness()
    await signIn(harness, bob)
    await signIn(harness, { apiKey: harness.apiKey })
    expect(harness.counted).toEqual({ [`${LOGINS} succeeded`]: 2 })

    await codeOf(signIn(harness, { apiKey: 'x'.repeat(64) }))
    await codeOf(signIn(harness, { ...bob, credentials: md5Of('bob:wrong') }))
    await codeOf(signIn(harness, { ...bob, credentials: 'no digest' }))
    await harness.accounts.update('acme', { enabled: false })
    expect(await codeOf(signIn(harness, bob))).toBe('AccountLocked')
    expect(harness.counted).toEqual({ [`${LOGINS} succeeded`]: 2, [`${LOGINS} failed`]: 4 })

    const from = { address: '203.0.113.9' }
    const codes = []
    for (let i = 0; i < 30; i += 1) codes.push(await codeOf(signIn(harness, { apiKey: 'wrong' }, from)))
    const throttled = codes.filter((code) => code === 'TooManyLogins').length
    expect(throttled).toBeGreaterThan(0)
    expect(harness.counted).toEqual({
      [`${LOGINS} succeeded`]: 2,
      [`${LOGINS} failed`]: 4 + codes.length - throttled,
      [`${LOGINS} throttled`]: throttled,
    })
  })

  it('does not count malformed logins or logins that a store failure ended', async () => {
    const harness = await createAuthHarness()
    for (const input of [{}, { apiKey: 7 }, { credentials: 'x' }, null]) {
      expect(await codeOf(signIn(harness, input as unknown as SignInInput))).toBe('InvalidInput')
    }
    const failing = { ...harness, tokens: { issue: () => Promise.reject(new Error('the disk is full')) } }
    expect(await codeOf(signIn(failing, bob))).toMatch(/the disk is full/)
    expect(harness.counted).toEqual({})
  })
})

describe('the token lookup counter', () => {
  it('counts cached tokens as hits and others as misses', async () => {
    const harness = await createAuthHarness()
    const { token } = await signIn(harness, bob)
    for (let i = 0; i < 3; i += 1) await authenticate(harness, token)
    expect(harness.counted).toMatchObject({ [`${LOOKUPS} miss`]: 1, [`${LOOKUPS} hit`]: 2 })
    await harness.clock.advance(2_000)
    await authenticate(harness, token)
    await codeOf(authenticate(harness, 'a'.repeat(43)))
    expect(harness.counted).toMatchObject({ [`${LOOKUPS} miss`]: 3, [`${LOOKUPS} hit`]: 2 })
  })

  it('does not count malformed tokens', async () => {
    const harness = await createAuthHarness()
    for (const token of ['', 'a'.repeat(44), null] as string[]) await codeOf(authenticate(harness, token))
    expect(harness.counted).toEqual({})
  })
})
