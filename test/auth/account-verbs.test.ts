import { describe, expect, it } from 'vitest'
import type { Directory } from '../../src/accounts/directory.js'
import { storedDirectory } from '../../src/accounts/stored-directory.js'
import { accountVerbs } from '../../src/auth/account-verbs.js'
import { authenticate } from '../../src/auth/authenticate.js'
import { signIn } from '../../src/auth/sign-in.js'
import { authNode, authWorld, codeOf } from './auth-world.js'

describe('two changes of one account at a time', () => {
  it('both count: a rename does not undo a disabling', async () => {
    const world = await authWorld()
    await Promise.all([
      world.accounts.update('acme', { name: 'New name' }),
      world.accounts.update('acme', { enabled: false }),
    ])
    expect(await world.accounts.get('acme')).toMatchObject({ name: 'New name', enabled: false })
  })

  it('cannot put two accounts below each other', async () => {
    const world = await authWorld()
    const codes = await Promise.all([
      codeOf(world.accounts.update('sub', { parentId: 'other' })),
      codeOf(world.accounts.update('other', { parentId: 'sub' })),
    ])
    expect(codes).toEqual(['resolved', 'InvalidInput'])
  })

  it('cannot bring a user back that one of them removes', async () => {
    const world = await authWorld()
    await Promise.all([
      world.accounts.removeUser('acme', 'u1'),
      codeOf(world.accounts.setPassword('acme', 'u1', 'new')),
    ])
    expect((await world.accounts.get('acme')).users).toEqual([])
  })
})

describe('with a directory of the host', () => {
  async function hosted() {
    const home = await authWorld()
    const { rotateApiKey: _, ...host } = storedDirectory(home.stored)
    const { stored: __, ...node } = { ...authNode(home.stored, home.tokens, { directory: host }), stored: 0 }
    return { home, node, host: host as Directory, accounts: accountVerbs(node) }
  }

  it('logins, tokens and keys work as with the store’s own', async () => {
    const { home, node, accounts } = await hosted()
    const { token } = await signIn(node, { apiKey: home.apiKey })
    expect(await authenticate(node, token)).toMatchObject({ accountId: 'acme' })
    expect(await accounts.readApiKey('acme')).toBe(home.apiKey)
  })

  it('the verbs that would manage the store’s own accounts are unsupported, by the name of the option', async () => {
    const { accounts } = await hosted()
    for (const verb of [
      () => accounts.create({ name: 'A', realm: 'a' }),
      () => accounts.get('acme'),
      () => accounts.list(),
      () => accounts.update('acme', {}),
      () => accounts.remove('acme'),
      () => accounts.addUser('acme', { username: 'a', password: 'b' }),
      () => accounts.removeUser('acme', 'u1'),
      () => accounts.setPassword('acme', 'u1', 'x'),
      () => accounts.ensure([]),
      () => accounts.rotateApiKey('acme'),
    ]) {
      await expect(verb()).rejects.toMatchObject({ code: 'Unsupported', field: 'directory' })
    }
  })

  it('an unknown key is NotFound, and a directory that is down is a 503 for that request alone', async () => {
    const { home, host } = await hosted()
    let down = false
    const flaky: Directory = {
      ...host,
      readApiKey: async () => undefined,
      lineage: (id) => (down ? Promise.reject(new Error('db down')) : host.lineage(id)),
    }
    const node = authNode(home.stored, home.tokens, { directory: flaky })
    expect(await codeOf(node.accounts.readApiKey('acme'))).toBe('NotFound')
    const { token } = await signIn(node, { apiKey: home.apiKey })
    down = true
    expect(await codeOf(authenticate(node, token))).toBe('StoreUnavailable')
    down = false
    expect(await codeOf(authenticate(node, token))).toBe('resolved')
  })
})
