import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bodyHash, checkEvent, checkPayloadSize, MAX_PAYLOAD_BYTES } from '../../src/delivery/event.js'
import { payloadOf } from '../../src/delivery/payload.js'
import { errorCode, type HookswitchError } from '../../src/errors.js'
import { anyText } from '../texts.js'

const NOW = 1_700_000_000_000
const base = { hook: 'channel_create', accountId: 'acc', callId: 'leg' }
const check = (input: unknown) => checkEvent(input, NOW, (hook) => hook.startsWith('channel_'))

function refusalOf(input: unknown): HookswitchError {
  try {
    check(input)
  } catch (thrown) {
    expect(errorCode(thrown)).toBe('InvalidInput')
    return thrown as HookswitchError
  }
  throw new Error('was accepted')
}

/** So many levels of objects, the outermost counted. */
const nested = (levels: number): object => (levels <= 1 ? {} : { in: nested(levels - 1) })
const cycle: Record<string, unknown> = {}
cycle.self = cycle

describe('an event that is published', () => {
  it('needs a hook, an account and a call, and happened now unless it says otherwise', () => {
    expect(check(base)).toEqual({ ...base, timestampMs: NOW })
    expect(check({ ...base, timestampMs: 5 })).toEqual({ ...base, timestampMs: 5 })
  })

  it.each<[string, object, string]>([
    ['an unknown hook', { hook: 'fax' }, 'hook'],
    ['all, which is no kind', { hook: 'all' }, 'hook'],
    ['a hook of the wrong type', { hook: 1 }, 'hook'],
    ['an unknown key', { callid: 'x' }, 'callid'],
    ['a name as receivers get it', { caller_id_name: 'x' }, 'caller_id_name'],
    ['a lone surrogate', { from: 'a\ud800' }, 'from'],
    ['negative zero', { durationSeconds: -0 }, 'durationSeconds'],
    ['a number that is not finite', { customChannelVars: { a: [1, Number.NaN] } }, 'customChannelVars.a.1'],
    ['undefined in a list', { customChannelVars: { a: [undefined] } }, 'customChannelVars.a.0'],
    ['a function', { customChannelVars: { a: () => 1 } }, 'customChannelVars.a'],
    ['a big integer', { customChannelVars: { a: 1n } }, 'customChannelVars.a'],
    ['a date', { customChannelVars: { a: new Date(0) } }, 'customChannelVars.a'],
    ['a map', { customApplicationVars: { a: new Map() } }, 'customApplicationVars.a'],
    [
      'an object that writes itself',
      { customChannelVars: { a: { toJSON: () => 1 } } },
      'customChannelVars.a',
    ],
    ['a lone surrogate in a key', { customChannelVars: { 'a\udc00': 1 } }, 'customChannelVars.a\ufffd'],
    ['a cycle', { customChannelVars: cycle }, `customChannelVars${'.self'.repeat(31)}`],
    ['33 levels', { customChannelVars: nested(32) }, `customChannelVars${'.in'.repeat(31)}`],
    ['a time before 1970', { timestampMs: -1 }, 'timestampMs'],
    ['a call id that cannot be printed', { callId: 'a\nb' }, 'callId'],
    ['an empty idempotency key', { idempotencyKey: '' }, 'idempotencyKey'],
  ])('is refused for %s, which is named', (_, change, field) => {
    const refusal = refusalOf({ ...base, ...change })
    expect(refusal.field).toBe(field)
    expect(refusal.failures?.map(({ path }) => path)).toEqual([field])
    expect(refusal.message).toContain(field)
  })

  it('may have 32 levels', () => {
    expect(() => check({ ...base, customChannelVars: nested(31) })).not.toThrow()
  })

  it('is refused with every broken rule at once', () => {
    const refusal = refusalOf({ hook: '', callId: 'x', direction: 'up', extra: 1 })
    expect(new Set(refusal.failures?.map(({ path }) => path))).toEqual(
      new Set(['hook', 'accountId', 'direction', 'extra']),
    )
  })

  it.each([null, undefined, [], 'event', 7, () => 1])('is refused when it is no object: %s', (input) => {
    expect(refusalOf(input).field).toBe('event')
  })

  it('is accepted or refused with a field, and arrives as JSON equal to it when it was accepted', () => {
    const vars = fc.dictionary(anyText(), fc.anything({ withNullPrototype: true }), {
      maxKeys: 4,
    })
    const events = fc.record(
      {
        hook: fc.constantFrom('channel_create', 'other'),
        accountId: fc.constant('acc'),
        callId: fc.oneof(fc.constant('leg'), anyText()),
        from: anyText(),
        timestampMs: fc.oneof(fc.nat(), fc.double()),
        callForwarded: fc.oneof(fc.boolean(), fc.constant(undefined)),
        customChannelVars: fc.oneof(fc.jsonValue(), vars),
      },
      { requiredKeys: ['hook', 'accountId', 'callId'] },
    )
    let accepted = 0
    fc.assert(
      fc.property(events, (input) => {
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
      { numRuns: 500 },
    )
    expect(accepted).toBeGreaterThan(20)
  })
})

/** The same value of ordinary objects: JSON does not tell what has no prototype. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]))
}

describe('the hash of a body', () => {
  it('is the same whatever the order of keys, and whatever the key of the event', () => {
    const one = { ...base, customChannelVars: { a: 1, b: 2 }, idempotencyKey: 'k' }
    const other = { customChannelVars: { b: 2, a: 1 }, ...base, idempotencyKey: 'l', from: undefined }
    expect(bodyHash(one)).toBe(bodyHash(other as unknown as typeof one))
  })

  it('differs when anything else does', () => {
    expect(bodyHash({ ...base, from: 'a' })).not.toBe(bodyHash({ ...base, to: 'a' }))
    expect(bodyHash({ ...base, timestampMs: 1 })).not.toBe(bodyHash(base))
  })
})

describe('the size of a payload', () => {
  it.each([
    ['a', MAX_PAYLOAD_BYTES, true],
    ['a', MAX_PAYLOAD_BYTES + 1, false],
    ['é', MAX_PAYLOAD_BYTES / 2, true],
    ['é', MAX_PAYLOAD_BYTES / 2 + 1, false],
    ['€', Math.floor(MAX_PAYLOAD_BYTES / 3), true],
    ['€', Math.ceil(MAX_PAYLOAD_BYTES / 3), false],
  ])('counts bytes: %s × %i', (character, count, fits) => {
    const size = () => checkPayloadSize(character.repeat(count))
    if (fits) expect(size).not.toThrow()
    else expect(size).toThrow('65536')
  })
})
