import * as fc from 'fast-check'
import { compileAddressPolicy, seededRandom } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { errorCode, type HookswitchError } from '../../src/errors.js'
import { createSecretCipher } from '../../src/values/encryption.js'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import {
  createSigningSecret,
  type EncryptSettingsDeps,
  encryptSettings,
  MAX_EXTRA_BYTES,
} from '../../src/webhooks/encrypt-settings.js'
import { SETTINGS_DEFAULTS } from '../../src/webhooks/settings.js'
import { parseSigningSecret } from '../../src/webhooks/signing-secret.js'
import { encryptionPurpose } from '../../src/webhooks/view.js'
import { propertyRuns } from '../support/property-runs.js'

const base = { name: 'n', uri: 'https://example.com/', hook: 'all' }
const customRequestHeaders = { Authorization: 'Bearer hidden-in-a-header', 'X-Plain': 'b' }

/** Dependencies that record the random bytes they draw. */
function createDeps() {
  const random = seededRandom('encrypt-settings')
  const drawn: Uint8Array[] = []
  const deps: EncryptSettingsDeps = {
    random: {
      ...random,
      bytes(count) {
        const bytes = random.bytes(count)
        drawn.push(bytes)
        return bytes
      },
    },
    cipher: createSecretCipher(['the secret of the service']),
    rules: {
      catalogue: catalogueOf(),
      addressPolicy: compileAddressPolicy({ allowLocal: false, allow: [] }),
      defaultFormat: 'json',
    },
  }
  return { deps, drawn }
}

const encrypt = (settings: object, extra?: Readonly<Record<string, unknown>>) =>
  encryptSettings(createDeps().deps, 'w', { settings: { ...base, ...settings }, ...(extra && { extra }) })

function rejectionOf(settings: object, extra?: Readonly<Record<string, unknown>>): HookswitchError {
  try {
    encrypt(settings, extra)
  } catch (thrown) {
    expect(errorCode(thrown)).toBe('InvalidInput')
    return thrown as HookswitchError
  }
  throw new Error('the settings were accepted')
}

/** Objects nested in this many levels. */
const nested = (levels: number): Record<string, unknown> => (levels <= 1 ? {} : { in: nested(levels - 1) })

/** The bytes of a ciphertext, without its version. */
const bytesOf = (sealed: string) => Buffer.from(sealed.slice(sealed.indexOf('.') + 1), 'base64url')

describe('encryptSettings', () => {
  it('fills in the defaults and stores no more than the settings', () => {
    expect(encrypt({ unknown: 'ignored' })).toEqual({ settings: { ...base, ...SETTINGS_DEFAULTS } })
    expect(Object.keys(encrypt({}))).toEqual(['settings'])
  })

  it('stores the request headers as ciphertext only', () => {
    const encrypted = encrypt({ customRequestHeaders, customData: { plain: 'shown' } })
    expect(encrypted.settings).toEqual({ ...base, ...SETTINGS_DEFAULTS, customData: { plain: 'shown' } })
    expect(JSON.stringify(encrypted)).not.toMatch(/hidden|Authorization/)
    expect(bytesOf(encrypted.sealedHeaders!).includes('hidden')).toBe(false)
  })

  it('binds the ciphertext to the webhook and the field', () => {
    const { deps } = createDeps()
    const { sealedHeaders } = encryptSettings(deps, 'w', { settings: { ...base, customRequestHeaders } })
    expect(JSON.parse(deps.cipher.decrypt(sealedHeaders!, encryptionPurpose.headers('w'))!)).toEqual(
      customRequestHeaders,
    )
    expect(deps.cipher.decrypt(sealedHeaders!, encryptionPurpose.headers('other'))).toBeUndefined()
    expect(deps.cipher.decrypt(sealedHeaders!, encryptionPurpose.secret('w'))).toBeUndefined()
  })

  it('draws a nonce of 12 bytes for every encryption, and none without headers', () => {
    const { deps, drawn } = createDeps()
    const sealed = [1, 2].map(
      () => encryptSettings(deps, 'w', { settings: { ...base, customRequestHeaders } }).sealedHeaders!,
    )
    expect(drawn.map(({ length }) => length)).toEqual([12, 12])
    expect(sealed.map((text) => bytesOf(text).subarray(0, 12))).toEqual(drawn.map((b) => Buffer.from(b)))
    expect(sealed[0]).not.toBe(sealed[1])
    encryptSettings(deps, 'w', { settings: base })
    expect(drawn).toHaveLength(2)
  })

  it('encrypts an empty set of headers too', () => {
    const { deps } = createDeps()
    const { sealedHeaders } = encryptSettings(deps, 'w', { settings: { ...base, customRequestHeaders: {} } })
    expect(deps.cipher.decrypt(sealedHeaders!, encryptionPurpose.headers('w'))).toBe('{}')
  })

  it('loses none of the headers', () => {
    const { deps } = createDeps()
    const letters = fc.string({ unit: fc.constantFrom(...'abcxyz0189-_~'), maxLength: 20 })
    const headers = fc.dictionary(
      letters.map((name) => `x-my-${name}`),
      fc.string({ unit: 'grapheme-ascii', maxLength: 40 }),
      { maxKeys: 8 },
    )
    fc.assert(
      fc.property(headers, fc.uuid(), (given, id) => {
        const { sealedHeaders } = encryptSettings(deps, id, {
          settings: { ...base, customRequestHeaders: given },
        })
        const text = deps.cipher.decrypt(sealedHeaders!, encryptionPurpose.headers(id))
        expect(JSON.parse(text!)).toEqual({ ...given })
      }),
      { numRuns: propertyRuns(100) },
    )
  })

  it('rejects invalid settings with every violated rule, before it draws a nonce', () => {
    const { deps, drawn } = createDeps()
    const settings = { ...base, name: '', retries: 31, customRequestHeaders }
    expect(() => encryptSettings(deps, 'w', { settings })).toThrow(/name: .*; retries: /)
    expect(drawn).toEqual([])
    const { failures, field } = rejectionOf({ name: '', retries: 31, hook: 'fax' })
    expect(failures?.map(({ path, rule }) => `${path} ${rule}`)).toEqual([
      'name minLength',
      'retries maximum',
      'hook enum',
    ])
    expect(field).toBe('name')
  })

  it.each([
    ['with a line break', { Authorization: 'hidden\r\nX: y' }],
    ['of a forbidden name', { Host: 'hidden' }],
    ['above the limit', { Authorization: 'hidden'.repeat(1000) }],
    ['beside one of the wrong type', { Authorization: 'hidden', a: 5 }],
  ])('does not show the value of a header %s in its error', (_, invalid) => {
    const error = rejectionOf({ customRequestHeaders: invalid })
    expect(error.field).toMatch(/^customRequestHeaders/)
    expect(error.message + JSON.stringify(error.failures)).not.toContain('hidden')
  })

  it('keeps the unknown keys of the client, and omits an empty object', () => {
    const extra = { x: { list: [1, null, 'a'] }, flag: false }
    expect(encrypt({}, extra).extra).toEqual(extra)
    expect(encrypt({}, {})).not.toHaveProperty('extra')
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['undefined', { a: undefined }, 'a'],
    ['a number that is not finite', { a: [1, Infinity] }, 'a.1'],
    ['negative zero', { a: -0 }, 'a'],
    ['a lone surrogate', { a: { b: '\ud800' } }, 'a.b'],
    ['a function', { a: () => 1 }, 'a'],
    ['a date', { a: new Date(0) }, 'a'],
  ])('rejects unknown keys with %s and names the path', (_, extra, path) => {
    const { failures } = rejectionOf({}, extra)
    expect(failures).toHaveLength(1)
    expect(failures![0]).toMatchObject({ path, rule: 'error' })
    expect(failures![0]!.message).not.toBe('')
  })

  it('accepts unknown keys of 32 levels and rejects 33', () => {
    expect(encrypt({}, nested(32)).extra).toEqual(nested(32))
    expect(rejectionOf({}, nested(33)).failures).toEqual([
      { path: Array(32).fill('in').join('.'), rule: 'error', message: 'is nested too deeply' },
    ])
  })

  it('limits the unknown keys to 64 KiB of JSON, counted in bytes', () => {
    const frame = '{"a":""}'.length
    const largest = { a: 'x'.repeat(MAX_EXTRA_BYTES - frame) }
    expect(MAX_EXTRA_BYTES).toBe(65_536)
    expect(encrypt({}, largest).extra).toEqual(largest)
    for (const tooLarge of [`${largest.a}x`, 'é'.repeat((MAX_EXTRA_BYTES - frame) / 2 + 1)]) {
      const { failures, message } = rejectionOf({}, { a: tooLarge })
      expect(failures).toMatchObject([{ path: '', rule: 'maxSize', target: MAX_EXTRA_BYTES }])
      expect(message).toContain('65536 bytes')
      expect(message.length).toBeLessThan(200)
    }
  })

  it('reports the settings first when the unknown keys are invalid too', () => {
    expect(rejectionOf({ name: '' }, { a: undefined }).failures?.map(({ path }) => path)).toEqual(['name'])
  })
})

describe('createSigningSecret', () => {
  it('returns a key of 32 random bytes in clear, and the same text encrypted', () => {
    const { deps, drawn } = createDeps()
    const { text, secret } = createSigningSecret(deps, 'w')
    expect(text).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(drawn.map(({ length }) => length)).toEqual([32, 12])
    expect(Buffer.from(parseSigningSecret(text)!)).toEqual(Buffer.from(drawn[0]!))
    expect(deps.cipher.decrypt(secret.sealed, encryptionPurpose.secret('w'))).toBe(text)
  })

  it('binds the stored form to the webhook and the field', () => {
    const { deps } = createDeps()
    const { sealed } = createSigningSecret(deps, 'w').secret
    expect(deps.cipher.decrypt(sealed, encryptionPurpose.secret('other'))).toBeUndefined()
    expect(deps.cipher.decrypt(sealed, encryptionPurpose.headers('w'))).toBeUndefined()
  })

  it('stores neither the text nor an expiry', () => {
    const { deps, drawn } = createDeps()
    const { text, secret } = createSigningSecret(deps, 'w')
    expect(Object.keys(secret)).toEqual(['sealed'])
    const stored = bytesOf(secret.sealed)
    for (const clear of [text, text.slice('whsec_'.length), Buffer.from(drawn[0]!)]) {
      expect(stored.includes(clear)).toBe(false)
    }
  })

  it('never returns the same secret twice', () => {
    const { deps } = createDeps()
    const texts = Array.from({ length: 50 }, () => createSigningSecret(deps, 'w').text)
    expect(new Set(texts).size).toBe(50)
  })
})
