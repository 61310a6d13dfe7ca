import { createHookswitch, errorCode, memoryStore, OPTION_DEFAULTS } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { healthRulesOf } from '../src/option-values.js'
import { HEALTH_PRESETS } from '../src/webhooks/health.js'

const make = (options: Record<string, unknown>) => () =>
  createHookswitch({ store: memoryStore(), ...options } as never)

describe('an option that is wrong', () => {
  it.each<[string, Record<string, unknown>]>([
    ['store', { store: undefined }],
    ['store', { store: {} }],
    ['tokenTtl', { tokenTtl: 5 }],
    ['__proto__x', { __proto__x: 5 }],
    ['toString', { toString: 5 }],
    ['tokenTtlSeconds', { tokenTtlSeconds: 0 }],
    ['tokenTtlSeconds', { tokenTtlSeconds: '86400' }],
    ['tokenTtlSeconds', { tokenTtlSeconds: 1.5 }],
    ['loginBurst', { loginBurst: 0 }],
    ['attemptTimeoutMs', { attemptTimeoutMs: Number.NaN }],
    ['inFlight', { inFlight: 0 }],
    ['retryPolicy', { retryPolicy: 'often' }],
    ['retryPolicy', { retryPolicy: { kind: 'constant', delayMs: -1 } }],
    ['retryPolicy', { retryPolicy: { kind: 'custom', name: 'mine', jitter: 0, retryOn: 'failure' } }],
    ['policies.mine', { policies: { mine: 5 } }],
    ['preset', { preset: 'asterisk' }],
    ['defaultFormat', { defaultFormat: 'xml' }],
    ['hooks[0].id', { hooks: [{ id: 'all' }] }],
    ['hooks[0].sample', { hooks: [{ id: 'queue_joined', sample: { misspelt: true } }] }],
    ['allowLocal', { allowLocal: 'yes' }],
    ['allow', { allow: ['http://example.com/'] }],
    ['allow', { allow: 'example.com' }],
    ['trustProxy', { trustProxy: ['nowhere'] }],
    ['cors', { cors: 5 }],
    ['cors', { cors: '' }],
    ['cors', { cors: ['https://app.example.com/'] }],
    ['log', { log: {} }],
    ['log', { log: null }],
    ['clock', { clock: { now: () => 0 } }],
    ['directory', { directory: {} }],
    ['secret', { secret: 'short' }],
    ['secret', { secret: [] }],
    ['breaker', { breaker: true }],
    ['breaker', { breaker: null }],
    ['breaker', { breaker: [] }],
    ['breaker.failures', { breaker: { failures: 0 } }],
    ['breaker.failures', { breaker: { failures: 1.5 } }],
    ['breaker.pauseMs', { breaker: { pauseMs: Number.NaN } }],
    ['breaker.capMs', { breaker: { capMs: '600000' } }],
    ['breaker.capMs', { breaker: { capMs: 29_999 } }],
    ['breaker.capMs', { breaker: { pauseMs: 700_000 } }],
    ['breaker.failure', { breaker: { failure: 3 } }],
    ['breaker.toString', { breaker: { toString: 3 } }],
    ['autoDisable', { autoDisable: true }],
    ['autoDisable', { autoDisable: null }],
    ['autoDisable', { autoDisable: {} }],
    ['autoDisable', { autoDisable: { kind: 'loud', afterMs: 1, exhausted: 1 } }],
    ['autoDisable.afterMs', { autoDisable: { kind: 'silent', exhausted: 1 } }],
    ['autoDisable.afterMs', { autoDisable: { kind: 'silent', afterMs: -1, exhausted: 1 } }],
    ['autoDisable.exhausted', { autoDisable: { kind: 'silent', afterMs: 1 } }],
    ['autoDisable.exhausted', { autoDisable: { kind: 'silent', afterMs: 1, exhausted: '20' } }],
    ['autoDisable.failures', { autoDisable: { kind: 'burst', withinMs: 1 } }],
    ['autoDisable.failures', { autoDisable: { kind: 'burst', failures: 0, withinMs: 1 } }],
    ['autoDisable.withinMs', { autoDisable: { kind: 'burst', failures: 6 } }],
    ['autoDisable.withinMs', { autoDisable: { kind: 'burst', failures: 6, withinMs: Infinity } }],
    ['autoDisable.afterMs', { autoDisable: { kind: 'burst', failures: 6, withinMs: 1, afterMs: 1 } }],
    ['replayBurst', { replayBurst: 0 }],
    ['replayBurst', { replayBurst: Number.NaN }],
    ['replayBurst', { replayBurst: '20' }],
    ['replayBurst', { replayBurst: -Infinity }],
    ['replayBurst', { replayBurst: false }],
    ['replayRefillPerSecond', { replayRefillPerSecond: 0 }],
    ['replayRefillPerSecond', { replayRefillPerSecond: Infinity }],
    ['replayRefillPerSecond', { replayRefillPerSecond: null }],
    ['inFlightPerOrigin', { inFlightPerOrigin: 0 }],
    ['inFlightPerOrigin', { inFlightPerOrigin: 1.5 }],
    ['inFlightPerOrigin', { inFlightPerOrigin: Infinity }],
    ['inFlightPerOrigin', { inFlightPerOrigin: '100' }],
    ['recordSuccesses', { recordSuccesses: 0 }],
    ['recordSuccesses', { recordSuccesses: 'no' }],
    ['recordSuccesses', { recordSuccesses: null }],
  ])('%s throws at construction and is named', (field, options) => {
    try {
      make(options)()
      expect.unreachable('it was accepted')
    } catch (thrown) {
      expect(errorCode(thrown)).toBe('InvalidOption')
      expect(thrown).toMatchObject({ field, message: expect.stringContaining(field) })
    }
  })

  it('never shows a secret', () => {
    expect(make({ secret: 'hunter2' })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
    )
  })

  it('is undefined: its default holds', () => {
    expect(make({ tokenTtlSeconds: undefined, allow: undefined })).not.toThrow()
    expect(make({ breaker: undefined, autoDisable: undefined, replayBurst: undefined })).not.toThrow()
  })
})

describe('an option that is right', () => {
  it.each([
    { breaker: false, autoDisable: false, recordSuccesses: false },
    { breaker: {} },
    { breaker: { failures: 1, pauseMs: 1, capMs: 1 } },
    { breaker: { capMs: 30_000 } },
    { autoDisable: { kind: 'silent', afterMs: 0, exhausted: 0 } },
    { autoDisable: { kind: 'burst', failures: 1, withinMs: 1 } },
    { preset: 'kazoo', breaker: { failures: 3 }, autoDisable: false },
    { replayBurst: Number.POSITIVE_INFINITY, replayRefillPerSecond: 0.001 },
    { replayBurst: 1.5, inFlightPerOrigin: 1 },
  ])('is taken: %j', (options) => {
    expect(make(options)).not.toThrow()
  })

  it('what of a breaker is left out is as by default, also under the preset kazoo', () => {
    expect(healthRulesOf({ breaker: { failures: 3 } }).breaker).toEqual({
      failures: 3,
      pauseMs: 30_000,
      capMs: 600_000,
    })
    expect(healthRulesOf({ preset: 'kazoo', breaker: {} })).toEqual({
      breaker: { failures: 10, pauseMs: 30_000, capMs: 600_000 },
      autoDisable: { kind: 'burst', failures: 6, withinMs: 60_000 },
    })
    expect(healthRulesOf({ breaker: false, autoDisable: false })).toEqual({
      breaker: null,
      autoDisable: null,
    })
    expect(healthRulesOf({})).toEqual(HEALTH_PRESETS.standard)
  })
})

describe('what a host says of webhooks', () => {
  it('is refused by name where it makes no sense', async () => {
    const hs = createHookswitch({ store: memoryStore(), loginBurst: Number.POSITIVE_INFINITY })
    await hs.start()
    const { id } = await hs.accounts.create({ name: 'Acme', realm: 'acme.example' })
    const wish = { name: 'w', uri: 'https://example.com', hook: 'all' } as const
    await expect(hs.webhooks.create('nope', wish)).rejects.toMatchObject({ code: 'NotFound', id: 'nope' })
    await expect(hs.webhooks.create(id, undefined as never)).rejects.toMatchObject({ code: 'InvalidInput' })
    await expect(hs.webhooks.create(id, { ...wish, retry: 5 } as never)).rejects.toMatchObject({
      field: 'retry',
    })
    await expect(hs.webhooks.attempts(id, undefined, { limit: -1 })).rejects.toMatchObject({ field: 'limit' })
    await hs.close()
  })
})

describe('the defaults', () => {
  it('are those of the specification and of KAZOO', () => {
    expect(OPTION_DEFAULTS).toMatchObject({
      tokenTtlSeconds: 86_400,
      loginBurst: 100,
      loginRefillPerSecond: 10,
    })
    expect(Object.isFrozen(OPTION_DEFAULTS)).toBe(true)
  })
})

describe('an instance that is not open', () => {
  const event = { hook: 'channel_create', accountId: 'a', callId: 'c' }

  it('says so before the start', async () => {
    const hs = createHookswitch({ store: memoryStore() })
    await expect(hs.publish(event)).rejects.toMatchObject({
      code: 'StoreUnavailable',
      message: expect.stringContaining('start()'),
    })
    const answer = await hs.handle({
      method: 'PUT',
      url: '/v1/api_auth',
      headers: {},
      body: Buffer.from('{"data":{"api_key":"x"}}'),
    })
    expect(answer.status).toBe(503)
    await hs.close()
  })

  it('says so after the close, which may be asked for twice', async () => {
    const hs = createHookswitch({ store: memoryStore() })
    await hs.start()
    await Promise.all([hs.close(), hs.close()])
    await expect(hs.publish(event)).rejects.toMatchObject({ code: 'Closing' })
    await expect(hs.start()).rejects.toMatchObject({ code: 'Closing' })
  })

  it('refuses a limit to draining that is none', async () => {
    const hs = createHookswitch({ store: memoryStore() })
    await expect(hs.close({ drainMs: Number.NaN })).rejects.toThrow('drainMs')
    await hs.close()
  })
})
