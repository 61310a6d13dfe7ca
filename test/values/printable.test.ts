import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { printable, printableJson, printableLine, textParts } from '../../src/values/printable.js'

describe('text from elsewhere', () => {
  it('shows what turns its direction, hides in it or moves the cursor', () => {
    expect(printable('abc\u202Egnp.exe')).toBe('abc\\u{202E}gnp.exe')
    expect(printable('a\u0000\u001b[31m\u200b\ufeff\u2066\u00ad\u{e0041}\u180e\u034f')).toBe(
      'a\\u{0}\\u{1B}[31m\\u{200B}\\u{FEFF}\\u{2066}\\u{AD}\\u{E0041}\\u{180E}\\u{34F}',
    )
    expect(printable('\ud800')).toBe('\\u{D800}')
    expect(printable('two\nlines\tand\r')).toBe('two\nlines\tand\\u{D}')
    expect(printableLine('two\nlines\t')).toBe('two\\u{A}lines\\u{9}')
  })

  it('leaves ordinary text of every script as it is', () => {
    for (const text of [
      ...['plain', 'Grüße', '日本語', 'שלום', 'مرحبا', '😀', 'a\u0301', '', 'no-break\u00a0space'],
      // Emoji of several characters: joiners, selectors, skin, flags, keycaps.
      ...['👨‍👩‍👧‍👦', '❤️', '❤️‍🔥', '👩🏽‍⚕️', '🏳️‍🌈', '🏴‍☠️', '🇩🇪', '1️⃣', '☎︎'],
      // Words with joiners, and numbers with a sign in front.
      ...['می‌خواهم', 'क्‍ष', 'ශ්‍රී', '\u0600\u0661', 'مرحبا (hello) שלום 123'],
    ]) {
      expect(printable(text)).toBe(text)
    }
  })

  it.each([
    ['overrides and isolates of direction', '\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'],
    ['marks of direction', '\u200e\u200f\u061c'],
    ['control characters', '\u0000\u0007\u0008\u000d\u001b\u007f\u0080\u009b\u009f'],
    ['separators', '\u2028\u2029'],
    ['zero width', '\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u180e'],
    ['what is drawn as nothing', '\u115f\u1160\u3164\uffa0\u2800\u17b4\u{e0100}\ufe0f'],
    ['tags', '\u{e0001}\u{e0041}\u{e007f}'],
    ['lone surrogates', '\ud800'],
    ['lone surrogates', '\udfff'],
  ])('shows %s', (_, hidden) => {
    for (const character of hidden) {
      const escaped = `\\u{${character.codePointAt(0)!.toString(16).toUpperCase()}}`
      expect(printableLine(`a${character}b`)).toBe(`a${escaped}b`)
      expect(printableLine(character)).toBe(escaped)
    }
  })

  it('shows joiners and selectors that belong to no emoji and no word', () => {
    expect(printable('pay\u200dpal')).toBe('pay\\u{200D}pal')
    expect(printable('😀\u200da')).toBe('😀\\u{200D}a')
    expect(printable('😀\ufe0f\ufe0f')).toBe('😀\ufe0f\\u{FE0F}')
    expect(printable('ا\u200c')).toBe('ا\\u{200C}')
    expect(printable('ا\u200c\u200cا')).toBe('ا\\u{200C}\\u{200C}ا')
    // A flag of tags could carry any text.
    expect(printable('🏴\u{e0067}\u{e007f}')).toBe('🏴\\u{E0067}\\u{E007F}')
  })

  it('is the same value as JSON, and shows the same', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string({ unit: 'binary' })), (value) => {
        const text = printableJson(value)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(text).toBe(printable(text))
      }),
    )
    expect(printableJson({ a: 'x\u202ey\u{e0041}\u009b👨‍👩‍👧' })).toBe(
      '{"a":"x\\u202ey\\udb40\\udc41\\u009b👨‍👩‍👧"}',
    )
    expect(printableJson(undefined)).toBe('null')
  })

  it('takes time in proportion to its length', () => {
    for (const unit of ['😀\u200d', '👩🏽', '1\ufe0f', 'ا\u200c', '\u202e', '\ufe0f', 'a']) {
      const text = unit.repeat(200_000 / unit.length)
      expect(printable(text).length).toBeGreaterThanOrEqual(text.length)
      expect(printable(`${text}\u202e`)).toMatch(/\\u\{202E\}$/)
    }
  })

  it('has no hidden character left, and its parts are the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = printableLine(text)
        expect(shown).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/u)
        expect(
          textParts(text)
            .map((part) => part.text)
            .join(''),
        ).toBe(printable(text))
      }),
    )
  })

  it('marks the escaped parts', () => {
    expect(textParts('a\u202eb')).toEqual([
      { text: 'a', isEscaped: false },
      { text: '\\u{202E}', isEscaped: true },
      { text: 'b', isEscaped: false },
    ])
  })
})
