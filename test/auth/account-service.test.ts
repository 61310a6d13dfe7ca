import { describe, expect, it } from 'vitest'
import type { Directory } from '../../src/accounts/directory.js'
import { storeDirectory } from '../../src/accounts/store-directory.js'
import { accountService } from '../../src/auth/account-service.js'
import { authenticate } from '../../src/auth/authenticate.js'
import { signIn } from '../../src/auth/sign-in.js'
import { codeOf, createAuthHarness, createAuthNode } from './auth-harness.js'

describe('two concurrent changes of one account', () => {
  it('both take effect: a rename does not undo a disabling', async () => {
    const harness = await createAuthHarness()
    await Promise.all([
      harness.accounts.update('acme', { name: 'New name' }),
      harness.accounts.update('acme', { enabled: false }),
    ])
    expect(await harness.accounts.get('acme')).toMatchObject({ name: 'New name', enabled: false })
  })

  it('cannot make two accounts the parents of each other', async () => {
    const harness = await createAuthHarness()
    const codes = await Promise.all([
      codeOf(harness.accounts.update('sub', { parentId: 'other' })),
      codeOf(harness.accounts.update('other', { parentId: 'sub' })),
    ])
    expect(codes).toEqual(['resolved', 'InvalidInput'])
  })

  it('cannot restore a user that one of them removes', async () => {
    const harness = await createAuthHarness()
    await Promise.all([
      harness.accounts.removeUser('acme', 'u1'),
      codeOf(harness.accounts.setPassword('acme', 'u1', 'new')),
    ])
    expect((await harness.accounts.get('acme')).users).toEqual([])
  })
})

describe('removing an account', () => {
  it('rejects with NotFound and the id for an unknown account', async () => {
    const harness = await createAuthHarness()
    await expect(harness.accounts.remove('x')).rejects.toMatchObject({ code: 'NotFound', id: 'x' })
  })
})

describe("with the host's own directory", () => {
  async function hosted() {
    const own = await createAuthHarness()
    const { rotateApiKey: _, ...host } = storeDirectory(own.accountDeps)
    const node = createAuthNode(own.accountDeps, own.tokens, { directory: host })
    return { own, node, host: host as Directory, accounts: accountService(node) }
  }

  it("logins, tokens and keys work as with the store's directory", async () => {
    const { own, node, accounts } = await hosted()
    const { token } = await signIn(node, { apiKey: own.apiKey })
    expect(await authenticate(node, token)).toMatchObject({ accountId: 'acme' })
    expect(await accounts.readApiKey('acme')).toBe(own.apiKey)
  })

  it("operations that manage the store's own accounts are unsupported and name the option", async () => {
    const { accounts } = await hosted()
    for (const operation of [
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
      await expect(operation()).rejects.toMatchObject({ code: 'Unsupported', field: 'directory' })
    }
  })

  it('an unknown key is NotFound, and a failing directory fails only that request', async () => {
    const { own, host } = await hosted()
    let down = false
    const flaky: Directory = {
      ...host,
      readApiKey: async () => undefined,
      lineage: (id) => (down ? Promise.reject(new Error('db down')) : host.lineage(id)),
    }
    const node = createAuthNode(own.accountDeps, own.tokens, { directory: flaky })
    expect(await codeOf(node.accounts.readApiKey('acme'))).toBe('NotFound')
    const { token } = await signIn(node, { apiKey: own.apiKey })
    down = true
    expect(await codeOf(authenticate(node, token))).toBe('StoreUnavailable')
    down = false
    expect(await codeOf(authenticate(node, token))).toBe('resolved')
  })
})
