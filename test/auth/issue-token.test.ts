import { describe, expect, it } from 'vitest'
import { authenticate } from '../../src/auth/authenticate.js'
import { issueToken, type TokenRequest } from '../../src/auth/issue-token.js'
import { signOut } from '../../src/auth/sign-out.js'
import { codeOf, createAuthHarness, createAuthNode, DAY_MS } from './auth-harness.js'

const forAcme: TokenRequest = { accountId: 'acme', role: 'admin', ttlSeconds: 60 }
const forBob: TokenRequest = { ...forAcme, userId: 'u1' }

describe('issuing a token', () => {
  it('is as a login of the account or the user, for as long as requested', async () => {
    const harness = await createAuthHarness()
    const issued = await issueToken(harness, forBob)
    const expiresMs = harness.clock.now() + 60_000
    expect(issued).toEqual({
      token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      expiresMs,
      account: expect.objectContaining({ id: 'acme', name: 'Acme Telecom' }),
      userId: 'u1',
    })
    expect(await authenticate(harness, issued.token)).toEqual({
      accountId: 'acme',
      userId: 'u1',
      token: issued.token,
      expiresMs,
    })
    const { token } = await issueToken(harness, { ...forAcme, role: 'read' })
    expect(await authenticate(harness, token)).toEqual({ accountId: 'acme', token, expiresMs, role: 'read' })
    await harness.clock.advance(59_999)
    expect(await codeOf(authenticate(harness, token))).toBe('resolved')
    await harness.clock.advance(1)
    expect(await codeOf(authenticate(harness, token))).toBe('InvalidCredentials')
  })

  it('stores the hash of the token alone', async () => {
    const harness = await createAuthHarness()
    const { token } = await issueToken(harness, forAcme)
    expect(JSON.stringify(harness.calls)).not.toContain(token)
  })

  it('lets no token live longer than that of a login', async () => {
    const harness = await createAuthHarness()
    const seconds = DAY_MS / 1_000
    expect(await codeOf(issueToken(harness, { ...forAcme, ttlSeconds: seconds }))).toBe('resolved')
    await expect(issueToken(harness, { ...forAcme, ttlSeconds: seconds + 1 })).rejects.toMatchObject({
      code: 'InvalidInput',
      failures: [{ path: 'ttlSeconds', rule: 'maximum', target: seconds }],
    })
  })

  it.each<[string, object | undefined, readonly [path: string, rule: string][]]>([
    [
      'nothing',
      {},
      [
        ['accountId', 'required'],
        ['role', 'required'],
        ['ttlSeconds', 'required'],
      ],
    ],
    ['no object', undefined, [['', 'type']]],
    ['a lifetime of 0', { ...forAcme, ttlSeconds: 0 }, [['ttlSeconds', 'minimum']]],
    ['a fraction', { ...forAcme, ttlSeconds: 1.5 }, [['ttlSeconds', 'type']]],
    ['no number', { ...forAcme, ttlSeconds: 'x' }, [['ttlSeconds', 'type']]],
    ['infinity', { ...forAcme, ttlSeconds: Number.POSITIVE_INFINITY }, [['ttlSeconds', 'type']]],
    ['another role', { ...forAcme, role: 'operator' }, [['role', 'enum']]],
    ['a misspelt field', { ...forAcme, userID: 'u1' }, [['userID', 'additionalProperties']]],
    [
      'ids that are no text',
      { ...forAcme, accountId: 5, userId: [] },
      [
        ['accountId', 'type'],
        ['userId', 'type'],
      ],
    ],
  ])('names every wrong field: %s', async (_, request, failures) => {
    const harness = await createAuthHarness()
    await expect(issueToken(harness, request as TokenRequest)).rejects.toMatchObject({
      code: 'InvalidInput',
      failures: failures.map(([path, rule]) => ({ path, rule })),
    })
    expect(harness.calls).toEqual([])
  })

  it('rejects accounts and users that do not exist or are disabled', async () => {
    const harness = await createAuthHarness()
    const errorOf = (request: TokenRequest) => issueToken(harness, request).catch((thrown: Error) => thrown)
    for (const accountId of ['nobody', 'no id', '']) {
      expect(await errorOf({ ...forAcme, accountId })).toMatchObject({ code: 'NotFound', id: accountId })
    }
    for (const userId of ['nobody', 'no id', '', 'Bob']) {
      expect(await errorOf({ ...forBob, userId })).toMatchObject({ code: 'NotFound', id: userId })
    }
    // A user of another account.
    expect(await errorOf({ ...forBob, accountId: 'sub' })).toMatchObject({ code: 'NotFound', id: 'u1' })
    await harness.accounts.update('acme', { enabled: false })
    expect(await errorOf(forAcme)).toMatchObject({ code: 'AccountLocked' })
  })

  it('ends with what it was issued for', async () => {
    const ends: Readonly<
      Record<
        string,
        (harness: Awaited<ReturnType<typeof createAuthHarness>>, token: string) => Promise<unknown>
      >
    > = {
      'sign-out': (harness, token) => signOut(harness, token),
      'the removal of the user': ({ accounts }) => accounts.removeUser('acme', 'u1'),
      'a new password': ({ accounts }) => accounts.setPassword('acme', 'u1', 'new'),
      'the account being disabled': ({ accounts }) => accounts.update('acme', { enabled: false }),
      'the removal of the account': async ({ accounts }) => {
        await accounts.remove('sub')
        await accounts.remove('acme')
      },
    }
    for (const [name, end] of Object.entries(ends)) {
      const harness = await createAuthHarness()
      const { token } = await issueToken(harness, forBob)
      expect(await codeOf(authenticate(harness, token)), name).toBe('resolved')
      await end(harness, token)
      expect(await codeOf(authenticate(harness, token)), name).toBe('InvalidCredentials')
    }
    const harness = await createAuthHarness()
    const { token } = await issueToken(harness, forAcme)
    await harness.accounts.rotateApiKey('acme')
    expect(await codeOf(authenticate(harness, token))).toBe('InvalidCredentials')
  })

  it("gives a token of a directory of the host, which knows the account's credential", async () => {
    const harness = await createAuthHarness()
    const versions: Record<string, string | undefined> = { acme: 'v1' }
    const directory = {
      ...harness.directory,
      credentialVersion: async (accountId: string) => versions[accountId],
    }
    const node = createAuthNode(harness.accountDeps, harness.tokens, { directory })
    const { token } = await issueToken(node, forAcme)
    expect(await codeOf(authenticate(node, token))).toBe('resolved')
    expect(await codeOf(issueToken(node, { ...forAcme, accountId: 'sub' }))).toBe('NotFound')
  })
})
