import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { authenticate } from '../../src/auth/authenticate.js'
import { signIn } from '../../src/auth/sign-in.js'
import { signOut } from '../../src/auth/sign-out.js'
import { md5Of } from '../accounts/account-harness.js'
import { propertyRuns } from '../support/property-runs.js'
import { codeOf, createAuthHarness, createAuthNode } from './auth-harness.js'

const bob = { credentials: md5Of('bob:pw'), realm: 'acme.test' }

/** Events that affect the tokens of a small tree of accounts. */
const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('key' as const), of: fc.constantFrom('acme', 'sub') }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('user' as const), of: fc.constant('acme') }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 4_000 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('jump' as const), ms: fc.integer({ min: -9_000, max: 9_000 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('revoke' as const), token: fc.nat(30), node: fc.nat(1) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('enable' as const),
        of: fc.constantFrom('acme', 'sub'),
        enabled: fc.boolean(),
        node: fc.nat(1),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('rotate' as const),
        of: fc.constantFrom('acme', 'sub'),
        node: fc.nat(1),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('password' as const),
        of: fc.constant('acme'),
        node: fc.nat(1),
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({ do: fc.constant('check' as const), token: fc.nat(30), node: fc.nat(1) }),
    },
  ),
  { minLength: 5, maxLength: 60 },
)

/** The expected state of a token, derived only from the steps. */
interface ModelToken {
  readonly token: string
  readonly of: string
  readonly holder: 'key' | 'user'
  readonly version: number
  readonly expiresMs: number
  revoked: boolean
}

describe('a token', () => {
  it('is valid iff unexpired, unrevoked, its account enabled and its credential current, with any cache size', async () => {
    const TTL_MS = 8_000
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(1, 2, 3, 10_000), async (history, max) => {
        const harness = await createAuthHarness({ max, tokenTtlMs: TTL_MS })
        const nodes = [
          harness,
          createAuthNode(harness.accountDeps, harness.tokens, { max, tokenTtlMs: TTL_MS }),
        ]
        const keys = { acme: harness.apiKey, sub: await harness.accounts.readApiKey('sub') } as Record<
          string,
          string
        >
        const tokens: ModelToken[] = []
        const disabled = new Set<string>()
        const versions: Record<string, number> = {}
        // When the other node last changed something: for 2 s afterwards a node's cache may be stale.
        const changedMs = [-Infinity, -Infinity]
        let password = 'pw'

        for (const step of history) {
          if (step.do === 'wait') await harness.clock.advance(step.ms)
          else if (step.do === 'jump') harness.clock.jumpWall(step.ms)
          else if (step.do === 'key' || step.do === 'user') {
            const login =
              step.do === 'key'
                ? { apiKey: keys[step.of]! }
                : { ...bob, credentials: md5Of(`bob:${password}`) }
            const signing = signIn(nodes[0]!, login)
            if (disabled.has(step.of)) expect(await codeOf(signing)).toBe('AccountLocked')
            else {
              const version = versions[`${step.of} ${step.do}`] ?? 0
              const { token, expiresMs } = await signing
              tokens.push({ token, of: step.of, holder: step.do, version, expiresMs, revoked: false })
            }
          } else if (step.do === 'check') {
            const issued = tokens[step.token % Math.max(1, tokens.length)]
            if (!issued) continue
            const isUnexpired = harness.clock.now() < issued.expiresMs
            const isCurrent = issued.version === (versions[`${issued.of} ${issued.holder}`] ?? 0)
            const isValid = isUnexpired && isCurrent && !issued.revoked && !disabled.has(issued.of)
            const result = await codeOf(authenticate(nodes[step.node]!, issued.token))
            const mayBeStale = isUnexpired && harness.clock.monotonic() - changedMs[step.node]! < 2_000
            if (isValid || !mayBeStale) expect(result).toBe(isValid ? 'resolved' : 'InvalidCredentials')
            else expect(['resolved', 'InvalidCredentials']).toContain(result)
          } else {
            const node = nodes[step.node]!
            changedMs[1 - step.node] = harness.clock.monotonic()
            if (step.do === 'revoke') {
              const issued = tokens[step.token % Math.max(1, tokens.length)]
              if (!issued) continue
              await signOut(node, issued.token)
              issued.revoked = true
            } else if (step.do === 'enable') {
              await node.accounts.update(step.of, { enabled: step.enabled })
              if (step.enabled) disabled.delete(step.of)
              else disabled.add(step.of)
            } else if (step.do === 'rotate') {
              keys[step.of] = await node.accounts.rotateApiKey(step.of)
              versions[`${step.of} key`] = (versions[`${step.of} key`] ?? 0) + 1
            } else {
              password += 'x'
              await node.accounts.setPassword(step.of, 'bob', password)
              versions[`${step.of} user`] = (versions[`${step.of} user`] ?? 0) + 1
            }
          }
          expect(nodes[0]!.tokenCache.size()).toBeLessThanOrEqual(max)
        }
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('is invalid for every check that starts after its revocation, in any interleaving with store reads', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.constantFrom('signOut', 'rotate', 'disable'),
        fc.integer({ min: 1, max: 5 }),
        async (scheduler, change, checkers) => {
          const harness = await createAuthHarness({ max: 2 })
          const { token } = await signIn(harness, { apiKey: harness.apiKey })
          const tokens = {
            ...harness.tokens,
            read: scheduler.scheduleFunction(harness.tokens.read),
            revoke: scheduler.scheduleFunction(harness.tokens.revoke),
          }
          const node = { ...harness, tokens }
          let isRevoked = false
          const check = async () => {
            const isAfterRevocation = isRevoked
            const result = await codeOf(authenticate(node, token))
            if (isAfterRevocation) expect(result).toBe('InvalidCredentials')
          }
          const revoke = async () => {
            if (change === 'signOut') await signOut(node, token)
            else if (change === 'rotate') await harness.accounts.rotateApiKey('acme')
            else await harness.accounts.update('acme', { enabled: false })
            isRevoked = true
          }
          const checking = Array.from({ length: checkers }, () =>
            scheduler.schedule(Promise.resolve()).then(check),
          )
          const revoking = scheduler.schedule(Promise.resolve()).then(revoke)
          await scheduler.waitFor(Promise.all([...checking, revoking]))
          await scheduler.waitFor(check())
        },
      ),
      { numRuns: propertyRuns(300) },
    )
  })
})
