import { describe, expect, it } from 'vitest'
import { storedDirectory } from '../../src/accounts/stored-directory.js'
import { accountVerbs } from '../../src/auth/account-verbs.js'
import { authenticate } from '../../src/auth/authenticate.js'
import { signIn } from '../../src/auth/sign-in.js'
import { signOut } from '../../src/auth/sign-out.js'
import { HookswitchError } from '../../src/errors.js'
import { md5Of } from '../accounts/account-world.js'
import { authWorld, codeOf } from './auth-world.js'

/** A world where tokens of all kinds are in the cache. */
async function signedIn() {
  const world = await authWorld()
  const byKey = (await signIn(world, { apiKey: world.apiKey })).token
  const byUser = (await signIn(world, { credentials: md5Of('bob:pw'), realm: 'acme.test' })).token
  const subKey = await world.accounts.readApiKey('sub')
  const ofSub = (await signIn(world, { apiKey: subKey })).token
  const states = async () => ({
    byKey: await codeOf(authenticate(world, byKey)),
    byUser: await codeOf(authenticate(world, byUser)),
    ofSub: await codeOf(authenticate(world, ofSub)),
  })
  expect(await states()).toEqual({ byKey: 'resolved', byUser: 'resolved', ofSub: 'resolved' })
  return { world, byKey, byUser, ofSub, states }
}

const dead = 'InvalidCredentials'
const alive = 'resolved'

describe('tokens end at once on the node where', () => {
  it('they are signed out, one by one', async () => {
    const { world, byKey, states } = await signedIn()
    await signOut(world, byKey)
    expect(await states()).toEqual({ byKey: dead, byUser: alive, ofSub: alive })
    await signOut(world, byKey)
    await signOut(world, 'no token')
    expect(await states()).toEqual({ byKey: dead, byUser: alive, ofSub: alive })
  })

  it('the API key is rotated: those of the key, not those of users', async () => {
    const { world, states } = await signedIn()
    await world.accounts.rotateApiKey('acme')
    expect(await states()).toEqual({ byKey: dead, byUser: alive, ofSub: alive })
  })

  it('a password is set: those of that user', async () => {
    const { world, states } = await signedIn()
    await world.accounts.setPassword('acme', 'bob', 'new')
    expect(await states()).toEqual({ byKey: alive, byUser: dead, ofSub: alive })
  })

  it('the user is removed, also when one of the same id, name and password comes after', async () => {
    const { world, states } = await signedIn()
    await world.accounts.removeUser('acme', 'u1')
    expect(await states()).toEqual({ byKey: alive, byUser: dead, ofSub: alive })
    await world.accounts.addUser('acme', { id: 'u1', username: 'Bob', password: 'pw' })
    expect(await states()).toEqual({ byKey: alive, byUser: dead, ofSub: alive })
  })

  it('the account is disabled, but not those of accounts below it; enabling it revives what is not over', async () => {
    const { world, states } = await signedIn()
    await world.accounts.update('acme', { enabled: false })
    expect(await states()).toEqual({ byKey: dead, byUser: dead, ofSub: alive })
    await world.accounts.update('acme', { enabled: true })
    expect(await states()).toEqual({ byKey: alive, byUser: alive, ofSub: alive })
  })

  it('the account is removed, also when one of the same id and key comes after', async () => {
    const { world, states } = await signedIn()
    const apiKey = await world.accounts.readApiKey('sub')
    await world.accounts.remove('sub')
    expect(await states()).toEqual({ byKey: alive, byUser: alive, ofSub: dead })
    await world.accounts.create({ id: 'sub', name: 'Sub', realm: 'sub.test', apiKey })
    expect(await states()).toEqual({ byKey: alive, byUser: alive, ofSub: dead })
  })

  it('a list of accounts that is ensured disables one or changes a password, even if it fails later on', async () => {
    const { world, states } = await signedIn()
    const acme = { id: 'acme', name: 'Acme Telecom', realm: 'acme.test' }
    await world.accounts.ensure([{ ...acme, users: [{ username: 'bob', password: 'new' }] }])
    expect(await states()).toEqual({ byKey: alive, byUser: dead, ofSub: alive })
    const failing = world.accounts.ensure([
      { ...acme, enabled: false },
      { name: 'B', realm: 'acme.test', id: 'b' },
    ])
    expect(await codeOf(failing)).toBe('Conflict')
    expect(await states()).toEqual({ byKey: dead, byUser: dead, ofSub: alive })
  })

  it('the host says that an account of its directory has changed', async () => {
    const { world, states } = await signedIn()
    const account = (await world.stored.accounts.lineage('acme'))[0]!
    await world.stored.accounts.update({ ...account, enabled: false })
    expect(await states()).toEqual({ byKey: alive, byUser: alive, ofSub: alive })
    world.accounts.changed('acme')
    expect(await states()).toEqual({ byKey: dead, byUser: dead, ofSub: alive })
  })
})

describe('a change whose answer is lost', () => {
  it.each(['rotateApiKey', 'setPassword'] as const)(
    'by %s ends tokens as if it had been heard',
    async (verb) => {
      const { world, byKey, byUser } = await signedIn()
      const lost = new HookswitchError('StoreUnavailable', 'connection lost during commit')
      const losing =
        <Given extends unknown[]>(call: (...given: Given) => Promise<void>) =>
        async (...given: Given) => {
          await call(...given)
          throw lost
        }
      const { accounts } = world.stored
      const stored = {
        ...world.stored,
        accounts: { ...accounts, putApiKey: losing(accounts.putApiKey), putUser: losing(accounts.putUser) },
      }
      const verbs = accountVerbs({ ...world, stored, directory: storedDirectory(stored) })
      const change =
        verb === 'rotateApiKey' ? verbs.rotateApiKey('acme') : verbs.setPassword('acme', 'u1', 'new')
      expect(await codeOf(change)).toBe('StoreUnavailable')
      expect(await codeOf(authenticate(world, verb === 'rotateApiKey' ? byKey : byUser))).toBe(dead)
    },
  )

  it('is told as done when only the tidying of its tokens fails', async () => {
    const { world, byKey } = await signedIn()
    const tokens = { ...world.tokens, revokeAll: () => Promise.reject(new Error('down')) }
    const verbs = accountVerbs({ ...world, tokens, stored: world.stored })
    const next = await verbs.rotateApiKey('acme')
    expect(await world.accounts.readApiKey('acme')).toBe(next)
    expect(await codeOf(authenticate(world, byKey))).toBe(dead)
  })

  it('leaves a token that could not be revoked valid, and says so', async () => {
    const { world, byKey } = await signedIn()
    const tokens = {
      ...world.tokens,
      revoke: () => Promise.reject(new HookswitchError('StoreUnavailable', 'down')),
    }
    expect(await codeOf(signOut({ ...world, tokens }, byKey))).toBe('StoreUnavailable')
    expect(await codeOf(authenticate(world, byKey))).toBe(alive)
  })
})
