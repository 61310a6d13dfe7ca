import * as fc from 'fast-check'
import { seededRandom } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { equalInConstantTime, hmacSha256, md5, sha1, sha256 } from '../../src/values/digest.js'
import { fromGregorian, toGregorian } from '../../src/values/greg-time.js'
import { idMaker, isId, timedIdMaker } from '../../src/values/ids.js'
import { secretBox } from '../../src/values/seal.js'

const text = fc.string({ unit: 'grapheme' })
const nonces = fc.uint8Array({ minLength: 12, maxLength: 12 })

describe('digests', () => {
  it('are those of the standards', () => {
    expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(md5('abc')).toBe('900150983cd24fb0d6963f7d28e17f72')
    expect(sha1('abc')).toBe('a9993e364706816aba3e25717850c26c9cd0d89d')
    // RFC 4231, test case 2
    const mac = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
    expect(hmacSha256('Jefe', 'what do ya want ', 'for nothing?').toString('hex')).toBe(mac)
  })

  it('compare as strings do', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(equalInConstantTime(a, b)).toBe(a === b)
        expect(equalInConstantTime(a, a)).toBe(true)
      }),
    )
  })
})

describe('Gregorian seconds', () => {
  it('count from year 0, rounded down', () => {
    expect(toGregorian(0)).toBe(62_167_219_200)
    expect(toGregorian(999)).toBe(62_167_219_200)
    expect(toGregorian(-1)).toBe(62_167_219_199)
    expect(toGregorian(Date.UTC(2024, 1, 29, 12))).toBe(63_876_427_200)
  })

  it('come back as the start of their second', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 8e15 }), (ms) => {
        expect(fromGregorian(toGregorian(ms))).toBe(Math.floor(ms / 1000) * 1000)
      }),
    )
  })
})

describe('an id', () => {
  it('that we make is 32 lower-case hex digits, each other than the last', () => {
    const newId = idMaker(seededRandom('ids').bytes)
    const made = Array.from({ length: 1000 }, newId)
    for (const id of made) expect(id).toMatch(/^[0-9a-f]{32}$/)
    expect(new Set(made).size).toBe(1000)
    expect(made.every(isId)).toBe(true)
    const digits = new Set(made.join(''))
    expect(digits.size).toBe(16)
  })

  it('of what comes with every event begins with its time, and is an id like the others', () => {
    let ms = Date.UTC(2026, 0, 1)
    const newId = timedIdMaker(seededRandom('ids').bytes, () => ms)
    const made = Array.from({ length: 1000 }, () => {
      ms += 1.5
      return newId()
    })
    for (const id of made) expect(id).toMatch(/^[0-9a-f]{32}$/)
    expect(made.toSorted()).toEqual(made)
    expect(Number.parseInt(made[999]!.slice(0, 12), 16)).toBe(ms)
    expect(new Set(made.map((id) => id.slice(12))).size).toBe(1000)
    for (const odd of [-1, 0, 2 ** 48, 8.64e15]) {
      ms = odd
      expect(newId()).toMatch(/^[0-9a-f]{32}$/)
    }
  })

  it.each(['a', 'A-Z_9', 'x'.repeat(64)])('may be %s', (id) => {
    expect(isId(id)).toBe(true)
  })

  it.each(['', 'x'.repeat(65), 'a b', 'a.b', 'a/b', 'é', 'a\n', '%41'])('may not be %j', (id) => {
    expect(isId(id)).toBe(false)
  })
})

describe('a secret box', () => {
  const box = secretBox(['first secret of many', 'the secret before it'])

  it('opens what it sealed, for the same purpose only', () => {
    fc.assert(
      fc.property(text, text, text, nonces, (plain, purpose, other, nonce) => {
        const sealed = box.seal(plain, purpose, nonce)
        expect(box.open(sealed, purpose)).toBe(plain)
        if (other !== purpose) expect(box.open(sealed, other)).toBeUndefined()
      }),
    )
  })

  it('opens what an earlier secret sealed, and not what a foreign one did', () => {
    const nonce = new Uint8Array(12)
    const older = secretBox(['the secret before it']).seal('x', 'p', nonce)
    expect(box.open(older, 'p')).toBe('x')
    expect(secretBox(['the secret before it']).open(box.seal('x', 'p', nonce), 'p')).toBeUndefined()
    expect(box.open(secretBox(['a foreign secret']).seal('x', 'p', nonce), 'p')).toBeUndefined()
  })

  it('opens nothing that was changed or made up, and never throws', () => {
    const made = fc.oneof(
      text,
      text.map((rest) => `v1.${rest}`),
      fc.base64String().map((rest) => `v1.${rest}`),
    )
    fc.assert(
      fc.property(made, (sealed) => {
        expect(box.open(sealed, 'p')).toBeUndefined()
      }),
    )
    fc.assert(
      fc.property(text, nonces, fc.nat(), fc.integer({ min: 1, max: 255 }), (plain, nonce, place, by) => {
        const bytes = Buffer.from(box.seal(plain, 'p', nonce).slice(3), 'base64url')
        bytes[place % bytes.length]! ^= by
        expect(box.open(`v1.${bytes.toString('base64url')}`, 'p')).toBeUndefined()
      }),
    )
  })

  it('shows nothing of what it sealed', () => {
    const sealed = box.seal('plain-text-in-here', 'p', new Uint8Array(12))
    expect(Buffer.from(sealed.slice(3), 'base64url').includes('plain-text')).toBe(false)
    expect(box.seal('x', 'p', new Uint8Array(12).fill(1))).not.toBe(box.seal('x', 'p', new Uint8Array(12)))
  })

  it('recognises what it has seen under any of its secrets, the first one first', () => {
    const [first, second, ...none] = box.fingerprints('user:password')
    expect(none).toEqual([])
    expect(secretBox(['first secret of many']).fingerprints('user:password')).toEqual([first])
    expect(secretBox(['the secret before it']).fingerprints('user:password')).toEqual([second])
    expect(first).toMatch(/^[0-9a-f]{64}$/)
    expect(box.fingerprints('user:passwort')[0]).not.toBe(first)
  })
})
