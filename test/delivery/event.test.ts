import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkEvent, checkPayloadSize, hashEventBody, MAX_PAYLOAD_BYTES } from '../../src/delivery/event.js'
import { payloadOf } from '../../src/delivery/payload.js'
import { errorCode, type HookswitchError } from '../../src/errors.js'
import { hostileText } from '../support/hostile-text.js'
import { propertyRuns } from '../support/property-runs.js'

const NOW = 1_700_000_000_000
const base = { hook: 'channel_create', accountId: 'acc', callId: 'leg' }
const check = (input: unknown) => checkEvent(input, NOW, (hook) => hook.startsWith('channel_'))

function rejectionOf(input: unknown): HookswitchError {
  try {
    check(input)
  } catch (thrown) {
    expect(errorCode(thrown)).toBe('InvalidInput')
    return thrown as HookswitchError
  }
  throw new Error('the event was accepted')
}

/** Objects nested in this many levels. */
const nested = (levels: number): object => (levels <= 1 ? {} : { in: nested(levels - 1) })
const cycle: Record<string, unknown> = {}
cycle.self = cycle

describe('checkEvent', () => {
  it("gives an event with KAZOO's name of a kind the kind's own, unless the host registers that name", () => {
    const hookOf = (hook: string, ...registered: string[]) =>
      checkEvent({ hook, accountId: 'acc', callId: 'r' }, NOW, (id) =>
        ['device_registered', 'device_unregistered', ...registered].includes(id),
      ).hook
    expect(hookOf('register')).toBe('device_registered')
    expect(hookOf('deregister')).toBe('device_unregistered')
    expect(hookOf('register', 'register')).toBe('register')
    expect(() => hookOf('registers')).toThrow(/is not a registered event/)
  })

  it('requires hook, accountId and callId, and sets timestampMs to now by default', () => {
    expect(check(base)).toEqual({ ...base, timestampMs: NOW })
    expect(check({ ...base, timestampMs: 5 })).toEqual({ ...base, timestampMs: 5 })
  })

  it('requires the fields of a document of the kind object, in one error', () => {
    const document = { documentId: 'd', documentType: 'user', documentAction: 'doc_edited' as const }
    const publish = (event: object) => () =>
      checkEvent({ hook: 'object', accountId: 'acc', callId: 'd', ...event }, NOW, () => true)
    expect(publish(document)()).toMatchObject(document)
    expect(publish({})).toThrow(
      expect.objectContaining({
        code: 'InvalidInput',
        field: 'documentId',
        message:
          'documentId: Field is required but missing; documentType: Field is required but missing; ' +
          'documentAction: Field is required but missing',
      }),
    )
    expect(publish({ ...document, documentId: undefined, callId: undefined })).toThrow(
      expect.objectContaining({ message: 'documentId: Field is required but missing' }),
    )
    expect(publish({ ...document, documentId: '' })).toThrow(/^documentId: /)
  })

  it.each<[string, object, string]>([
    ['an unknown hook', { hook: 'fax' }, 'hook'],
    ['the hook all, which is no kind of event', { hook: 'all' }, 'hook'],
    ['a hook of the wrong type', { hook: 1 }, 'hook'],
    ['an unknown key', { callid: 'x' }, 'callid'],
    ['a payload name in snake_case', { caller_id_name: 'x' }, 'caller_id_name'],
    ['a lone surrogate', { from: 'a\ud800' }, 'from'],
    ['negative zero', { durationSeconds: -0 }, 'durationSeconds'],
    ['a number that is not finite', { customChannelVars: { a: [1, Number.NaN] } }, 'customChannelVars.a.1'],
    ['undefined in a list', { customChannelVars: { a: [undefined] } }, 'customChannelVars.a.0'],
    ['a function', { customChannelVars: { a: () => 1 } }, 'customChannelVars.a'],
    ['a big integer', { customChannelVars: { a: 1n } }, 'customChannelVars.a'],
    ['a date', { customChannelVars: { a: new Date(0) } }, 'customChannelVars.a'],
    ['a map', { customApplicationVars: { a: new Map() } }, 'customApplicationVars.a'],
    ['an object with toJSON', { customChannelVars: { a: { toJSON: () => 1 } } }, 'customChannelVars.a'],
    ['a lone surrogate in a key', { customChannelVars: { 'a\udc00': 1 } }, 'customChannelVars.a\ufffd'],
    ['a cycle', { customChannelVars: cycle }, `customChannelVars${'.self'.repeat(31)}`],
    ['33 levels', { customChannelVars: nested(32) }, `customChannelVars${'.in'.repeat(31)}`],
    ['a time before 1970', { timestampMs: -1 }, 'timestampMs'],
    ['a call id with a control character', { callId: 'a\nb' }, 'callId'],
    ['an empty idempotency key', { idempotencyKey: '' }, 'idempotencyKey'],
  ])('rejects %s and names the field', (_, change, field) => {
    const error = rejectionOf({ ...base, ...change })
    expect(error.field).toBe(field)
    expect(error.failures?.map(({ path }) => path)).toEqual([field])
    expect(error.message).toContain(field)
  })

  it('accepts 32 levels', () => {
    expect(() => check({ ...base, customChannelVars: nested(31) })).not.toThrow()
  })

  it('reports every broken rule at once', () => {
    const error = rejectionOf({ hook: '', callId: 'x', direction: 'up', extra: 1 })
    expect(new Set(error.failures?.map(({ path }) => path))).toEqual(
      new Set(['hook', 'accountId', 'direction', 'extra']),
    )
  })

  it.each([null, undefined, [], 'event', 7, () => 1])(
    'rejects a value that is not an object: %s',
    (input) => {
      expect(rejectionOf(input).field).toBe('event')
    },
  )

  it('rejects with a field, or accepts an event whose JSON payload equals it', () => {
    const vars = fc.dictionary(hostileText(), fc.anything({ withNullPrototype: true }), {
      maxKeys: 4,
    })
    const events = fc.record(
      {
        hook: fc.constantFrom('channel_create', 'channel_create', 'channel_create', 'other'),
        accountId: fc.constant('acc'),
        callId: fc.oneof(fc.constant('leg'), hostileText()),
        from: hostileText(),
        timestampMs: fc.oneof({ weight: 3, arbitrary: fc.nat() }, { weight: 1, arbitrary: fc.double() }),
        callForwarded: fc.oneof(fc.boolean(), fc.constant(undefined)),
        customChannelVars: fc.oneof(fc.jsonValue(), vars),
      },
      { requiredKeys: ['hook', 'accountId', 'callId'] },
    )
    let runs = 0
    let accepted = 0
    fc.assert(
      fc.property(events, (input) => {
        runs++
        let checked: ReturnType<typeof check>
        try {
          checked = check(input)
        } catch (thrown) {
          expect(errorCode(thrown)).toBe('InvalidInput')
          expect((thrown as HookswitchError).field).toBeTruthy()
          return
        }
        accepted++
        const payload = payloadOf(checked, 'e1')
        const read = JSON.parse(JSON.stringify(payload))
        expect(Object.keys(read)).toEqual(Object.keys(payload))
        expect(read.custom_channel_vars ?? {}).toStrictEqual(plain(checked.customChannelVars ?? {}))
        expect(read.from).toBe(checked.from)
      }),
      { numRuns: propertyRuns(500) },
    )
    // Otherwise the property would check rejections only.
    expect(accepted / runs).toBeGreaterThan(0.08)
  })
})

/** The same value with ordinary objects: JSON does not preserve a missing prototype. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]))
}

describe('hashEventBody', () => {
  it('ignores the order of keys and the idempotency key', () => {
    const original = { ...base, customChannelVars: { a: 1, b: 2 }, idempotencyKey: 'k' }
    const other = { customChannelVars: { b: 2, a: 1 }, ...base, idempotencyKey: 'l', from: undefined }
    expect(hashEventBody(original)).toBe(hashEventBody(other as unknown as typeof original))
  })

  it('differs when any other field differs', () => {
    expect(hashEventBody({ ...base, from: 'a' })).not.toBe(hashEventBody({ ...base, to: 'a' }))
    expect(hashEventBody({ ...base, timestampMs: 1 })).not.toBe(hashEventBody(base))
  })
})

describe('checkPayloadSize', () => {
  it.each([
    ['a', MAX_PAYLOAD_BYTES, true],
    ['a', MAX_PAYLOAD_BYTES + 1, false],
    ['é', MAX_PAYLOAD_BYTES / 2, true],
    ['é', MAX_PAYLOAD_BYTES / 2 + 1, false],
    ['€', Math.floor(MAX_PAYLOAD_BYTES / 3), true],
    ['€', Math.ceil(MAX_PAYLOAD_BYTES / 3), false],
  ])('counts UTF-8 bytes: %s × %i', (character, count, fits) => {
    const size = () => checkPayloadSize(character.repeat(count))
    if (fits) expect(size).not.toThrow()
    else expect(size).toThrow('65536')
  })
})
