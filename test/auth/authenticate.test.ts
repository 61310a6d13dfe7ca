import { describe, expect, it } from 'vitest'
import { authenticate } from '../../src/auth/authenticate.js'
import { signIn } from '../../src/auth/sign-in.js'
import { signOut } from '../../src/auth/sign-out.js'
import { md5Of } from '../accounts/account-harness.js'
import { codeOf, createAuthHarness } from './auth-harness.js'

const bob = { credentials: md5Of('bob:pw'), realm: 'acme.test' }

describe('authenticate', () => {
  it('queries store and directory once every two seconds for a token in use', async () => {
    const harness = await createAuthHarness()
    const { token } = await signIn(harness, bob)
    harness.calls.length = 0
    for (let i = 0; i < 3; i += 1) await authenticate(harness, token)
    const queries = harness.calls.map((call) => (call as [string])[0])
    expect(queries).toEqual(['read', 'lineage', 'user', 'user'])
    await harness.clock.advance(1_999)
    await authenticate(harness, token)
    expect(harness.calls).toHaveLength(4)
    await harness.clock.advance(1)
    await Promise.all([
      authenticate(harness, token),
      authenticate(harness, token),
      authenticate(harness, token),
    ])
    expect(harness.calls).toHaveLength(8)
  })

  it('queries nothing for a malformed token, and the store every time for an unknown one', async () => {
    const harness = await createAuthHarness()
    for (const token of ['', 'undefined', 'a'.repeat(44), null, 7, ['x']] as string[]) {
      expect(await codeOf(authenticate(harness, token))).toBe('InvalidCredentials')
    }
    expect(harness.calls).toEqual([])
    for (let i = 0; i < 2; i += 1) {
      expect(await codeOf(authenticate(harness, 'a'.repeat(43)))).toBe('InvalidCredentials')
    }
    expect(harness.calls).toHaveLength(2)
    expect(harness.tokenCache.size()).toBe(0)
  })

  it('rejects a token from the millisecond it expires, cached or not', async () => {
    const harness = await createAuthHarness({ tokenTtlMs: 1_000 })
    const { token } = await signIn(harness, bob)
    await harness.clock.advance(999)
    expect(await codeOf(authenticate(harness, token))).toBe('resolved')
    await harness.clock.advance(1)
    expect(harness.tokenCache.size()).toBe(1)
    expect(await codeOf(authenticate(harness, token))).toBe('InvalidCredentials')
  })

  it('reports the same error for every cause', async () => {
    const harness = await createAuthHarness({ tokenTtlMs: 10_000 })
    const [expired, revoked, rotated, removed, disabled] = await Promise.all([
      signIn(harness, { apiKey: await harness.accounts.readApiKey('other') }),
      signIn(harness, bob),
      signIn(harness, { apiKey: harness.apiKey }),
      signIn(harness, bob),
      signIn(harness, { apiKey: await harness.accounts.readApiKey('sub') }),
    ])
    const errorOf = (token: string) =>
      authenticate(harness, token).then(
        () => 'resolved',
        (thrown: Error) => JSON.stringify({ ...thrown, message: thrown.message }),
      )
    await signOut(harness, revoked!.token)
    await harness.accounts.rotateApiKey('acme')
    const errors = [await errorOf(revoked!.token), await errorOf(rotated!.token), await errorOf('x')]
    await harness.accounts.update('sub', { enabled: false })
    errors.push(await errorOf(disabled!.token))
    await harness.accounts.removeUser('acme', 'u1')
    errors.push(await errorOf(removed!.token))
    await authenticate(harness, expired!.token)
    await harness.clock.advance(10_000)
    errors.push(await errorOf(expired!.token))
    expect(new Set(errors)).toEqual(
      new Set(['{"code":"InvalidCredentials","name":"HookswitchError","message":"invalid credentials"}']),
    )
  })
})
