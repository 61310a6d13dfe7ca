import { describe, expect, it } from 'vitest'
import { authenticate } from '../../src/auth/authenticate.js'
import { signIn } from '../../src/auth/sign-in.js'
import { signOut } from '../../src/auth/sign-out.js'
import { md5Of } from '../accounts/account-world.js'
import { authWorld, codeOf } from './auth-world.js'

const bob = { credentials: md5Of('bob:pw'), realm: 'acme.test' }

describe('authenticating', () => {
  it('asks store and directory once in two seconds for a token in use', async () => {
    const world = await authWorld()
    const { token } = await signIn(world, bob)
    world.heard.length = 0
    for (let i = 0; i < 3; i += 1) await authenticate(world, token)
    const once = world.heard.map((call) => (call as [string])[0])
    expect(once).toEqual(['read', 'lineage', 'user'])
    await world.clock.advance(1_999)
    await authenticate(world, token)
    expect(world.heard).toHaveLength(3)
    await world.clock.advance(1)
    await Promise.all([authenticate(world, token), authenticate(world, token), authenticate(world, token)])
    expect(world.heard).toHaveLength(6)
  })

  it('asks nobody about what cannot be a token, and each time about one that is unknown', async () => {
    const world = await authWorld()
    for (const token of ['', 'undefined', 'a'.repeat(44), null, 7, ['x']] as string[]) {
      expect(await codeOf(authenticate(world, token))).toBe('InvalidCredentials')
    }
    expect(world.heard).toEqual([])
    for (let i = 0; i < 2; i += 1) {
      expect(await codeOf(authenticate(world, 'a'.repeat(43)))).toBe('InvalidCredentials')
    }
    expect(world.heard).toHaveLength(2)
    expect(world.live.size()).toBe(0)
  })

  it('ends with the token’s time to the millisecond, in the cache as out of it', async () => {
    const world = await authWorld({ tokenTtlMs: 1_000 })
    const { token } = await signIn(world, bob)
    await world.clock.advance(999)
    expect(await codeOf(authenticate(world, token))).toBe('resolved')
    await world.clock.advance(1)
    expect(world.live.size()).toBe(1)
    expect(await codeOf(authenticate(world, token))).toBe('InvalidCredentials')
  })

  it('says the same for every cause', async () => {
    const world = await authWorld({ tokenTtlMs: 10_000 })
    const [expired, revoked, rotated, removed, disabled] = await Promise.all([
      signIn(world, { apiKey: await world.accounts.readApiKey('other') }),
      signIn(world, bob),
      signIn(world, { apiKey: world.apiKey }),
      signIn(world, bob),
      signIn(world, { apiKey: await world.accounts.readApiKey('sub') }),
    ])
    const refusal = (token: string) =>
      authenticate(world, token).then(
        () => 'resolved',
        (thrown: Error) => JSON.stringify({ ...thrown, message: thrown.message }),
      )
    await signOut(world, revoked!.token)
    await world.accounts.rotateApiKey('acme')
    const refusals = [await refusal(revoked!.token), await refusal(rotated!.token), await refusal('x')]
    await world.accounts.update('sub', { enabled: false })
    refusals.push(await refusal(disabled!.token))
    await world.accounts.removeUser('acme', 'u1')
    refusals.push(await refusal(removed!.token))
    await authenticate(world, expired!.token)
    await world.clock.advance(10_000)
    refusals.push(await refusal(expired!.token))
    expect(new Set(refusals)).toEqual(
      new Set(['{"code":"InvalidCredentials","name":"HookswitchError","message":"invalid credentials"}']),
    )
  })
})
