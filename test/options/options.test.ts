import { constant, createHookswitch, errorCode, memoryStore } from 'hookswitch'
import { OPTION_DEFAULTS, POLICY_PRESETS } from 'hookswitch/adapter'
import { describe, expect, it } from 'vitest'
import { normalizeOptions } from '../../src/options/normalize.js'
import { resolveHealthRules } from '../../src/options/presets.js'
import { HEALTH_PRESETS } from '../../src/webhooks/health.js'

const make = (options: Record<string, unknown>) => () =>
  createHookswitch({ store: memoryStore(), ...options } as never)

describe('an invalid option', () => {
  it.each<[string, Record<string, unknown>]>([
    ['store', { store: undefined }],
    ['store', { store: {} }],
    ['tokenTtl', { tokenTtl: 5 }],
    ['__proto__x', { __proto__x: 5 }],
    ['toString', { toString: 5 }],
    ['tokenTtlSeconds', { tokenTtlSeconds: 0 }],
    ['tokenTtlSeconds', { tokenTtlSeconds: '86400' }],
    ['tokenTtlSeconds', { tokenTtlSeconds: 1.5 }],
    ['tokenInQuery', { tokenInQuery: 'same-origin' }],
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
    ['pauses', { pauses: 1 }],
    ['pauses', { pauses: 'false' }],
    ['pauses', { pauses: null }],
    ['pauses', { pauses: {} }],
    ['defaultRetries', { defaultRetries: 31 }],
    ['defaultRetries', { defaultRetries: -1 }],
    ['defaultRetries', { defaultRetries: 2.5 }],
    ['defaultRetries', { retryPolicy: 'patient', defaultRetries: 31 }],
    ['defaultMaxAgeSeconds', { defaultMaxAgeSeconds: 0 }],
    ['defaultMaxAgeSeconds', { defaultMaxAgeSeconds: Infinity }],
    ['defaultMaxAgeSeconds', { defaultMaxAgeSeconds: 2_147_483_648 }],
    ['defaultRateLimit', { defaultRateLimit: 0 }],
    ['defaultRateLimit', { defaultRateLimit: -1 }],
    ['defaultRateLimit', { defaultRateLimit: 0.000_9 }],
    ['defaultRateLimit', { defaultRateLimit: 10_000.1 }],
    ['defaultRateLimit', { defaultRateLimit: Infinity }],
    ['defaultRateLimit', { defaultRateLimit: Number.NaN }],
    ['defaultRateLimit', { defaultRateLimit: '1' }],
    ['defaultRateLimit', { defaultRateLimit: null }],
    ['orderingPatienceSeconds', { orderingPatienceSeconds: -1 }],
    ['orderingPatienceSeconds', { orderingPatienceSeconds: 0.5 }],
    ['orderingPatienceSeconds', { orderingPatienceSeconds: Infinity }],
    ['orderingPatienceSeconds', { orderingPatienceSeconds: '60' }],
    ['probeSockets', { probeSockets: 0 }],
    ['probeSockets', { probeSockets: 1.5 }],
    ['probeSockets', { probeSockets: 100_001 }],
    ['probeSockets', { probeSockets: null }],
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
  ])('%s throws at construction, and the error names it', (field, options) => {
    try {
      make(options)()
      expect.unreachable('it was accepted')
    } catch (thrown) {
      expect(errorCode(thrown)).toBe('InvalidOption')
      expect(thrown).toMatchObject({ field, message: expect.stringContaining(field) })
    }
  })

  it.each([
    [
      { retrypolicy: 'kazoo' },
      "createHookswitch(): unknown option 'retrypolicy' (did you mean 'retryPolicy'?)",
    ],
    [{ tokenTtl: 5 }, "createHookswitch(): unknown option 'tokenTtl' (did you mean 'tokenTtlSeconds'?)"],
    [{ pause: false }, "createHookswitch(): unknown option 'pause' (did you mean 'pauses'?)"],
    [
      { autoDisable: { kind: 'silent', aftrMs: 1, exhausted: 1 } },
      "createHookswitch(): unknown option 'autoDisable.aftrMs' (did you mean 'autoDisable.afterMs'?)",
    ],
    [{ tls: { certs: '' } }, "createHookswitch(): unknown option 'tls.certs' (did you mean 'tls.cert'?)"],
    [{ colour: 'red' }, "createHookswitch(): unknown option 'colour'"],
  ])('%j is unknown, and the message suggests the closest name', (options, message) => {
    expect(make(options)).toThrow(expect.objectContaining({ code: 'InvalidOption', message }))
  })

  it('does not appear in the message if it is a secret', () => {
    expect(make({ secret: 'hunter2' })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
    )
  })

  it('undefined selects the default', () => {
    expect(make({ tokenTtlSeconds: undefined, allow: undefined })).not.toThrow()
    expect(make({ pauses: undefined, autoDisable: undefined, defaultRateLimit: undefined })).not.toThrow()
  })
})

describe('durations that contradict each other', () => {
  it.each([
    [
      { retryPolicy: 'patient', defaultMaxAgeSeconds: 5 },
      'defaultMaxAgeSeconds must be longer than the first delay of retryPolicy (5 s), or defaultRetries 0',
    ],
    [
      { retryPolicy: constant(86_400_000) },
      'defaultMaxAgeSeconds must be longer than the first delay of retryPolicy (86400 s), or defaultRetries 0',
    ],
  ])('are refused, naming both: %j', (options, message) => {
    expect(make(options)).toThrow(expect.objectContaining({ code: 'InvalidOption', message }))
  })

  it('are accepted where they do not, and where nothing is sent again', () => {
    const day = constant(86_400_000)
    for (const options of [
      { defaultMaxAgeSeconds: 6 },
      { retryPolicy: day, defaultRetries: 0 },
      { retryPolicy: { ...day, retriesCountTries: true }, defaultRetries: 1 },
    ])
      expect(make(options)).not.toThrow()
  })
})

describe('the retries and the age of a policy', () => {
  it.each([
    [{}, 5, 86_400],
    [{ preset: 'kazoo' }, 2, 86_400],
    [{ retryPolicy: 'kazoo' }, 2, 86_400],
    [{ retryPolicy: 'patient' }, 9, 345_600],
    [{ retryPolicy: POLICY_PRESETS.patient }, 9, 345_600],
    [{ retryPolicy: 'patient', preset: 'kazoo' }, 9, 345_600],
    [{ retryPolicy: constant(1) }, 5, 86_400],
    [{ retryPolicy: 'patient', defaultRetries: 30, defaultMaxAgeSeconds: 6 }, 30, 6],
    [{ retryPolicy: constant(60_000), defaultRetries: 0, defaultMaxAgeSeconds: 60 }, 0, 60],
    [{ defaultRetries: 0, defaultMaxAgeSeconds: undefined }, 0, 86_400],
  ])('with %j', (options, defaultRetries, defaultMaxAgeSeconds) => {
    const normalized = normalizeOptions({ store: memoryStore(), ...options } as never, undefined)
    expect(normalized).toMatchObject({ defaultRetries, defaultMaxAgeSeconds })
  })
})

describe('a valid option', () => {
  it.each([
    { pauses: false, autoDisable: false, recordSuccesses: false },
    { defaultRetries: 30, defaultMaxAgeSeconds: 2_147_483_647, probeSockets: 1 },
    { defaultRateLimit: 0.001, orderingPatienceSeconds: 0 },
    { defaultRateLimit: 10_000, orderingPatienceSeconds: 2_147_483_647, probeSockets: 100_000 },
    { autoDisable: { kind: 'silent', afterMs: 0, exhausted: 0 } },
    { autoDisable: { kind: 'burst', failures: 1, withinMs: 1 } },
    { preset: 'kazoo', pauses: true, autoDisable: false },
    { replayBurst: Number.POSITIVE_INFINITY, replayRefillPerSecond: 0.001 },
    { replayBurst: 1.5, inFlightPerOrigin: 1 },
  ])('is accepted: %j', (options) => {
    expect(make(options)).not.toThrow()
  })

  it('the rules of health are those of the preset unless an option says otherwise', () => {
    expect(resolveHealthRules({})).toEqual(HEALTH_PRESETS.standard)
    expect(resolveHealthRules({ preset: 'kazoo' })).toEqual(HEALTH_PRESETS.kazoo)
    expect(resolveHealthRules({ preset: 'kazoo', pauses: true })).toEqual({
      pauses: true,
      autoDisable: { kind: 'burst', failures: 6, withinMs: 60_000 },
    })
    expect(resolveHealthRules({ pauses: false, autoDisable: false })).toEqual({
      pauses: false,
      autoDisable: null,
    })
  })
})

describe('arguments of hs.webhooks', () => {
  it('are rejected by name if invalid', async () => {
    const hs = createHookswitch({ store: memoryStore(), loginBurst: Number.POSITIVE_INFINITY })
    await hs.start()
    const { id } = await hs.accounts.create({ name: 'Acme', realm: 'acme.example' })
    const input = { name: 'w', uri: 'https://example.com', hook: 'all' } as const
    await expect(hs.webhooks.create('nope', input)).rejects.toMatchObject({ code: 'NotFound', id: 'nope' })
    await expect(hs.webhooks.create(id, undefined as never)).rejects.toMatchObject({ code: 'InvalidInput' })
    await expect(hs.webhooks.create(id, { ...input, retry: 5 } as never)).rejects.toMatchObject({
      field: 'retry',
    })
    await expect(hs.webhooks.attempts(id, undefined, { limit: -1 })).rejects.toMatchObject({ field: 'limit' })
    await hs.close()
  })

  it.each([1_000, 1_001, 10_000])('read at most 1,000 rows at once, not %i', async (limit) => {
    const hs = createHookswitch({ store: memoryStore() })
    await hs.start()
    const reads = [
      hs.webhooks.attempts('acme', undefined, { limit }),
      hs.webhooks.deliveries('acme', 'w', { limit }),
      hs.operator.search({ limit }),
      hs.operator.unhealthy({ limit }),
    ]
    for (const read of await Promise.allSettled(reads)) {
      if (limit === 1_000) expect(read.status).toBe('fulfilled')
      else
        expect(read).toMatchObject({
          reason: {
            code: 'InvalidInput',
            failures: [{ path: 'limit', rule: 'maximum', message: 'must be at most 1000', target: 1_000 }],
          },
        })
    }
    await hs.close()
  })
})

describe('OPTION_DEFAULTS', () => {
  it('are those of the specification and of KAZOO, and frozen', () => {
    expect(OPTION_DEFAULTS).toMatchObject({
      tokenTtlSeconds: 86_400,
      loginBurst: 100,
      loginRefillPerSecond: 10,
    })
    expect(Object.isFrozen(OPTION_DEFAULTS)).toBe(true)
  })
})

describe('an instance that is not running', () => {
  const event = { hook: 'channel_create', accountId: 'a', callId: 'c' } as const

  it('rejects calls before start() and names start()', async () => {
    const hs = createHookswitch({ store: memoryStore() })
    await expect(hs.publish(event)).rejects.toMatchObject({
      code: 'StoreUnavailable',
      message: expect.stringContaining('start()'),
    })
    const response = await hs.handle({
      method: 'PUT',
      url: '/v1/api_auth',
      headers: {},
      body: Buffer.from('{"data":{"api_key":"x"}}'),
    })
    expect(response.status).toBe(503)
    await hs.close()
  })

  it('rejects calls after close(), which may be called twice', async () => {
    const hs = createHookswitch({ store: memoryStore() })
    await hs.start()
    await Promise.all([hs.close(), hs.close()])
    await expect(hs.publish(event)).rejects.toMatchObject({ code: 'Closing' })
    await expect(hs.start()).rejects.toMatchObject({ code: 'Closing' })
  })

  it('rejects an invalid drainMs', async () => {
    const hs = createHookswitch({ store: memoryStore() })
    await expect(hs.close({ drainMs: Number.NaN })).rejects.toThrow('drainMs')
    await hs.close()
  })
})
