import { describe, expect, it } from 'vitest'
import { authenticate } from '../../src/auth/authenticate.js'
import { type SignInInput, signIn } from '../../src/auth/sign-in.js'
import { md5Of } from '../accounts/account-world.js'
import { authWorld, codeOf } from './auth-world.js'

const bob = { credentials: md5Of('bob:pw'), realm: 'acme.test' }
const LOGINS = 'hookswitch_logins_total'
const LOOKUPS = 'hookswitch_token_lookups_total'

describe('logins are counted', () => {
  it('as succeeded, failed or throttled', async () => {
    const world = await authWorld()
    await signIn(world, bob)
    await signIn(world, { apiKey: world.apiKey })
    expect(world.counted).toEqual({ [`${LOGINS} succeeded`]: 2 })

    await codeOf(signIn(world, { apiKey: 'x'.repeat(64) }))
    await codeOf(signIn(world, { ...bob, credentials: md5Of('bob:wrong') }))
    await codeOf(signIn(world, { ...bob, credentials: 'no digest' }))
    await world.accounts.update('acme', { enabled: false })
    expect(await codeOf(signIn(world, bob))).toBe('AccountLocked')
    expect(world.counted).toEqual({ [`${LOGINS} succeeded`]: 2, [`${LOGINS} failed`]: 4 })

    const from = { address: '203.0.113.9' }
    const codes = []
    for (let i = 0; i < 30; i += 1) codes.push(await codeOf(signIn(world, { apiKey: 'wrong' }, from)))
    const throttled = codes.filter((code) => code === 'TooManyLogins').length
    expect(throttled).toBeGreaterThan(0)
    expect(world.counted).toEqual({
      [`${LOGINS} succeeded`]: 2,
      [`${LOGINS} failed`]: 4 + codes.length - throttled,
      [`${LOGINS} throttled`]: throttled,
    })
  })

  it('but not what tried no login, or was never judged', async () => {
    const world = await authWorld()
    for (const input of [{}, { apiKey: 7 }, { credentials: 'x' }, null]) {
      expect(await codeOf(signIn(world, input as unknown as SignInInput))).toBe('InvalidInput')
    }
    const out = { ...world, tokens: { issue: () => Promise.reject(new Error('the disk is full')) } }
    expect(await codeOf(signIn(out, bob))).toMatch(/the disk is full/)
    expect(world.counted).toEqual({})
  })
})

describe('look-ups of tokens are counted', () => {
  it('as hits where memory knows them, as misses where the store is asked', async () => {
    const world = await authWorld()
    const { token } = await signIn(world, bob)
    for (let i = 0; i < 3; i += 1) await authenticate(world, token)
    expect(world.counted).toMatchObject({ [`${LOOKUPS} miss`]: 1, [`${LOOKUPS} hit`]: 2 })
    await world.clock.advance(2_000)
    await authenticate(world, token)
    await codeOf(authenticate(world, 'a'.repeat(43)))
    expect(world.counted).toMatchObject({ [`${LOOKUPS} miss`]: 3, [`${LOOKUPS} hit`]: 2 })
  })

  it('but not of what cannot be a token', async () => {
    const world = await authWorld()
    for (const token of ['', 'a'.repeat(44), null] as string[]) await codeOf(authenticate(world, token))
    expect(world.counted).toEqual({})
  })
})
