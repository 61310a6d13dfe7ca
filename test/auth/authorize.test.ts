import { describe, expect, it } from 'vitest'
import { authorize } from '../../src/auth/authorize.js'
import { authorizeToken } from '../../src/auth/authorize-token.js'
import { signIn } from '../../src/auth/sign-in.js'
import { signOut } from '../../src/auth/sign-out.js'
import { deferred } from '../support/deferred.js'
import { codeOf, createAuthHarness, createAuthNode } from './auth-harness.js'

describe('authorize', () => {
  it('allows the account itself and those below it, and rejects all others with the same error', async () => {
    const harness = await createAuthHarness()
    const acme = { accountId: 'acme' }
    await authorize(harness, acme, 'acme')
    await authorize(harness, acme, 'sub')
    const errors = await Promise.all(
      ['other', 'missing', 'not an id', '', '../acme'].map((id) =>
        authorize(harness, acme, id).catch((thrown: Error) => ({ ...thrown, message: thrown.message })),
      ),
    )
    for (const error of errors) expect(error).toEqual(errors[0])
    expect(errors[0]).toMatchObject({ code: 'Forbidden', message: 'forbidden' })
    expect(await codeOf(authorize(harness, { accountId: 'sub' }, 'acme'))).toBe('Forbidden')
  })

  it('reflects a move in the tree, and a new account, at once', async () => {
    const harness = await createAuthHarness()
    const acme = { accountId: 'acme' }
    expect(await codeOf(authorize(harness, acme, 'sub'))).toBe('resolved')
    await harness.accounts.update('sub', { parentId: 'other' })
    expect(await codeOf(authorize(harness, acme, 'sub'))).toBe('Forbidden')
    expect(await codeOf(authorize(harness, acme, 'new'))).toBe('Forbidden')
    await harness.accounts.create({ id: 'new', name: 'New', realm: 'new.test', parentId: 'acme' })
    expect(await codeOf(authorize(harness, acme, 'new'))).toBe('resolved')
    expect(await harness.accounts.descendants('acme')).toEqual(['new'])
    await harness.accounts.ensure([{ id: 'new', name: 'New', realm: 'new.test', parentId: 'other' }])
    expect(await codeOf(authorize(harness, acme, 'new'))).toBe('Forbidden')
  })

  it('allows a new account while a load that found it missing is still in progress', async () => {
    const harness = await createAuthHarness()
    const { promise: loading, resolve: finishLoad } = deferred()
    const slowDirectory = {
      ...harness.directory,
      lineage: async (id: string) => {
        const lineage = await harness.directory.lineage(id)
        if (lineage.length === 0) await loading
        return lineage
      },
    }
    const node = createAuthNode(harness.accountDeps, harness.tokens, { directory: slowDirectory })
    const before = codeOf(authorize(node, { accountId: 'acme' }, 'new'))
    await node.accounts.create({ id: 'new', name: 'New', realm: 'new.test', parentId: 'acme' })
    expect(await codeOf(authorize(node, { accountId: 'acme' }, 'new'))).toBe('resolved')
    finishLoad()
    expect(await before).toBe('Forbidden')
  })

  it("reflects changes in the host's directory within two seconds, or at once after accounts.changed", async () => {
    const harness = await createAuthHarness()
    const acme = { accountId: 'acme' }
    const move = async (parentId: string) => {
      const account = (await harness.accountDeps.accounts.lineage('sub'))[0]!
      await harness.accountDeps.accounts.update({ ...account, parentId })
    }
    expect(await codeOf(authorize(harness, acme, 'sub'))).toBe('resolved')
    await move('other')
    await harness.clock.advance(2_000)
    expect(await codeOf(authorize(harness, acme, 'sub'))).toBe('Forbidden')
    await move('acme')
    harness.accounts.changed('sub')
    expect(await codeOf(authorize(harness, acme, 'sub'))).toBe('resolved')
  })
})

describe('authorizeToken', () => {
  it('returns the caller of a token that may read the account', async () => {
    const harness = await createAuthHarness()
    const { token } = await signIn(harness, { apiKey: harness.apiKey })
    for (const account of ['acme', 'sub'])
      expect(await authorizeToken(harness, token, account)).toMatchObject({ accountId: 'acme', token })
  })

  it('rejects every other token and account', async () => {
    const harness = await createAuthHarness()
    const { token } = await signIn(harness, { apiKey: harness.apiKey })
    for (const account of ['other', 'missing', '', '*'])
      expect(await codeOf(authorizeToken(harness, token, account)), account).toBe('Forbidden')
    for (const wrong of ['', 'x', 'f'.repeat(64)])
      expect(await codeOf(authorizeToken(harness, wrong, 'acme')), wrong).toBe('InvalidCredentials')
    await signOut(harness, token)
    expect(await codeOf(authorizeToken(harness, token, 'acme'))).toBe('InvalidCredentials')
  })

  it('rejects an account that does not exist also for an operator', async () => {
    const harness = await createAuthHarness()
    const { token } = await signIn(harness, { apiKey: harness.apiKey })
    const deps = { ...harness, authority: { operators: ['acme'], restrictUsers: true } }
    expect(await codeOf(authorizeToken(deps, token, 'other'))).toBe('resolved')
    expect(await codeOf(authorizeToken(deps, token, 'missing'))).toBe('Forbidden')
  })
})
