import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shellQuote } from '../../src/values/shell-quote.js'
import { propertyRuns } from '../support/property-runs.js'

describe('shellQuote', () => {
  it('makes one word of any text, for a real shell', () => {
    // A shell has no NUL in its words.
    const text = fc
      .string({ unit: 'binary', maxLength: 60 })
      .map((value) => value.replaceAll('\0', '').toWellFormed())
    const hostile = fc.constantFrom(
      "'",
      "'\\''",
      '$(id)',
      '`id`',
      '"$HOME"',
      '\n',
      '\\',
      '*',
      '-n',
      '!',
      '$',
      '',
    )
    fc.assert(
      fc.property(
        fc.array(fc.oneof(text, hostile), { minLength: 1, maxLength: 200, size: 'max' }),
        (words) => {
          const script = `printf '%s\\036' ${words.map(shellQuote).join(' ')}`
          const printed = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' })
          expect(printed).toBe(words.map((word) => `${word}\u001e`).join(''))
        },
      ),
      { numRuns: propertyRuns(5) },
    )
  })
})
