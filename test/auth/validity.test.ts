import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { authenticate } from '../../src/auth/authenticate.js'
import { signIn } from '../../src/auth/sign-in.js'
import { signOut } from '../../src/auth/sign-out.js'
import { md5Of } from '../accounts/account-world.js'
import { authNode, authWorld, codeOf } from './auth-world.js'

const bob = { credentials: md5Of('bob:pw'), realm: 'acme.test' }

/** What may happen to the tokens of a small house of accounts. */
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

/** A token as it ought to be, told from what was done alone. */
interface Modelled {
  readonly token: string
  readonly of: string
  readonly holder: 'key' | 'user'
  readonly version: number
  readonly expiresMs: number
  revoked: boolean
}

describe('a token', () => {
  it('is valid iff unexpired, unrevoked, its account enabled and its credential current, whatever the cache holds', async () => {
    const TTL_MS = 8_000
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(1, 2, 3, 10_000), async (history, max) => {
        const world = await authWorld({ max, tokenTtlMs: TTL_MS })
        const nodes = [world, authNode(world.stored, world.tokens, { max, tokenTtlMs: TTL_MS })]
        const keys = { acme: world.apiKey, sub: await world.accounts.readApiKey('sub') } as Record<
          string,
          string
        >
        const tokens: Modelled[] = []
        const disabled = new Set<string>()
        const versions: Record<string, number> = {}
        // When each node's counterpart last changed something: until 2 s later its own cache may be late.
        const changedMs = [-Infinity, -Infinity]
        let password = 'pw'

        for (const step of history) {
          if (step.do === 'wait') await world.clock.advance(step.ms)
          else if (step.do === 'jump') world.clock.jumpWall(step.ms)
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
            const one = tokens[step.token % Math.max(1, tokens.length)]
            if (!one) continue
            const live = world.clock.now() < one.expiresMs
            const current = one.version === (versions[`${one.of} ${one.holder}`] ?? 0)
            const valid = live && current && !one.revoked && !disabled.has(one.of)
            const answer = await codeOf(authenticate(nodes[step.node]!, one.token))
            const mayBeLate = live && world.clock.monotonic() - changedMs[step.node]! < 2_000
            if (valid || !mayBeLate) expect(answer).toBe(valid ? 'resolved' : 'InvalidCredentials')
            else expect(['resolved', 'InvalidCredentials']).toContain(answer)
          } else {
            const node = nodes[step.node]!
            changedMs[1 - step.node] = world.clock.monotonic()
            if (step.do === 'revoke') {
              const one = tokens[step.token % Math.max(1, tokens.length)]
              if (!one) continue
              await signOut(node, one.token)
              one.revoked = true
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
          expect(nodes[0]!.live.size()).toBeLessThanOrEqual(max)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('is dead for whoever asks after its revocation, in every interleaving with reads of the store', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.constantFrom('signOut', 'rotate', 'disable'),
        fc.integer({ min: 1, max: 5 }),
        async (scheduler, change, askers) => {
          const world = await authWorld({ max: 2 })
          const { token } = await signIn(world, { apiKey: world.apiKey })
          const tokens = {
            ...world.tokens,
            read: scheduler.scheduleFunction(world.tokens.read),
            revoke: scheduler.scheduleFunction(world.tokens.revoke),
          }
          const node = { ...world, tokens }
          let dead = false
          const ask = async () => {
            const late = dead
            const answer = await codeOf(authenticate(node, token))
            if (late) expect(answer).toBe('InvalidCredentials')
          }
          const end = async () => {
            if (change === 'signOut') await signOut(node, token)
            else if (change === 'rotate') await world.accounts.rotateApiKey('acme')
            else await world.accounts.update('acme', { enabled: false })
            dead = true
          }
          const asking = Array.from({ length: askers }, () => scheduler.schedule(Promise.resolve()).then(ask))
          const ending = scheduler.schedule(Promise.resolve()).then(end)
          await scheduler.waitFor(Promise.all([...asking, ending]))
          await scheduler.waitFor(ask())
        },
      ),
      { numRuns: 300 },
    )
  })
})
