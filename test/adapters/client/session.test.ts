import fc from 'fast-check'
import { createClient } from 'hookswitch/client'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { sessionKeeper } from '../../../adapters/client/session.js'
import { propertyRuns } from '../../support/property-runs.js'

const MINUTE = 60_000

/** A keeper whose logins take a second; `fail` rejects them. */
function keeper(lifetimeMs: number) {
  const clock = manualClock()
  const state = { logins: 0, fail: false }
  const sessions = sessionKeeper(
    async () => {
      const token = `token-${++state.logins}`
      await clock.sleep(1_000)
      if (state.fail) throw new Error('login failed')
      return { token, accountId: 'a' }
    },
    lifetimeMs,
    clock,
  )
  const get = async () => {
    const session = sessions.get()
    session.catch(() => {})
    await clock.advance(1_000)
    return (await session).token
  }
  return { clock, state, sessions, get }
}

describe('the session', () => {
  it('renews in the background before the token expires, without delaying a call', async () => {
    const { clock, state, sessions, get } = keeper(10 * MINUTE)
    expect(await get()).toBe('token-1')
    await clock.advance(9 * MINUTE)
    expect((await sessions.get()).token).toBe('token-1')
    expect(state.logins).toBe(2)
    await clock.advance(1_000)
    expect((await sessions.get()).token).toBe('token-2')
  })

  it('keeps a valid token when its renewal fails, and tries again after a pause', async () => {
    const { clock, state, sessions, get } = keeper(10 * MINUTE)
    await get()
    state.fail = true
    await clock.advance(9 * MINUTE)
    for (let call = 0; call < 5; call++) {
      expect((await sessions.get()).token).toBe('token-1')
      await clock.advance(1_000)
    }
    expect(state.logins).toBe(2)
    await clock.advance(10_000)
    await sessions.get()
    expect(state.logins).toBe(3)
    await clock.advance(MINUTE)
    await expect(get()).rejects.toThrow('login failed')
  })

  it('a login that began before clear brings no session back', async () => {
    const { clock, sessions } = keeper(MINUTE)
    const before = sessions.get()
    sessions.clear()
    await clock.advance(1_000)
    expect((await before).token).toBe('token-1')
    expect(sessions.current()).toBeUndefined()
  })

  it('an invalidation of an old session does not drop the current one', async () => {
    const { clock, sessions, get } = keeper(MINUTE)
    await get()
    const old = sessions.current()!
    sessions.invalidate(old)
    await get()
    sessions.invalidate(old)
    expect(sessions.current()?.token).toBe('token-2')
    await clock.settle()
  })
})

/** A service in virtual time: tokens expire and are revoked, logins take time and fail. */
function virtualService(
  clock: ReturnType<typeof manualClock>,
  lifetimeMs: number,
  failures: readonly number[],
) {
  const state = { logins: 0, loginsInFlight: 0, maxLoginsInFlight: 0, unauthorized: 0, calls: 0 }
  const expiries = new Map<string, number>()
  const respond = (status: number, body: object) =>
    new Response(JSON.stringify({ ...body, status: status < 300 ? 'success' : 'error' }), {
      status,
      headers: { 'content-type': 'application/json' },
    })
  const fetch = (async (url: string, init: { headers: Record<string, string> }) => {
    if (url.endsWith('/api_auth')) {
      const nth = state.logins++
      state.loginsInFlight += 1
      state.maxLoginsInFlight = Math.max(state.maxLoginsInFlight, state.loginsInFlight)
      await clock.sleep(300)
      state.loginsInFlight -= 1
      if (failures.includes(nth)) return respond(401, { message: 'invalid_credentials', data: {} })
      const token = `token-${nth}`
      expiries.set(token, clock.monotonic() + lifetimeMs)
      return respond(201, { data: { account_id: 'a' }, auth_token: token })
    }
    state.calls += 1
    const isValid = () => clock.monotonic() < (expiries.get(init.headers['x-auth-token']!) ?? 0)
    const wasValid = isValid()
    await clock.sleep(100)
    if (wasValid) return respond(200, { data: [] })
    state.unauthorized += 1
    return respond(401, { message: 'invalid_credentials', data: {} })
  }) as unknown as typeof globalThis.fetch
  return { state, fetch, revokeAll: () => expiries.clear() }
}

describe('renewal under concurrency', () => {
  const schedule = fc.record({
    /** When calls start, in ms. */
    calls: fc.array(fc.integer({ min: 0, max: 60_000 }), { minLength: 1, maxLength: 40 }),
    revocations: fc.array(fc.integer({ min: 0, max: 60_000 }), { maxLength: 4 }),
    /** True lifetime of tokens, and what the client believes. */
    lifetimeMs: fc.integer({ min: 5_000, max: 100_000 }),
    believedMs: fc.integer({ min: 5_000, max: 100_000 }),
    failures: fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { maxLength: 3 }),
  })

  it('never logs in twice at once, repeats a call once, and fails only with a failed login or a second revocation', async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async ({ calls, revocations, lifetimeMs, believedMs, failures }) => {
        const clock = manualClock()
        const { state, fetch, revokeAll } = virtualService(clock, lifetimeMs, failures)
        const url = 'http://service.example'
        const client = createClient({
          url,
          apiKey: 'key',
          fetch,
          clock,
          tokenLifetimeMs: believedMs,
          maxRetries: 0,
        })
        const at = async <Result>(ms: number, action: () => Result) => {
          await clock.sleep(ms)
          return action()
        }
        const outcomes = Promise.allSettled(calls.map((ms) => at(ms, () => client.listWebhooks().page())))
        const revoked = revocations.map((ms) => at(ms, revokeAll))
        await clock.advance(70_000)
        const results = await outcomes
        await Promise.all(revoked)

        expect(state.maxLoginsInFlight).toBeLessThanOrEqual(1)
        expect(state.calls).toBeLessThanOrEqual(2 * calls.length)
        const failed = results.filter(({ status }) => status === 'rejected')
        if (failures.length === 0 && revocations.length < 2) expect(failed).toEqual([])
        for (const result of failed) {
          expect((result as PromiseRejectedResult).reason).toMatchObject({ code: 'invalid_credentials' })
        }
        // One login at first, one for each revocation or expiry, one for each failure, and renewals in the background.
        const lives = 70_000 / Math.min(lifetimeMs, 0.9 * believedMs)
        const failedLogins = failures.filter((nth) => nth < state.logins).length
        expect(state.logins).toBeLessThanOrEqual(2 + Math.ceil(lives) + revocations.length + 2 * failedLogins)
        expect(clock.sleepers().count).toBe(0)
      }),
      { numRuns: propertyRuns(500) },
    )
  })
})
