import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import de from '../../../adapters/portal/app/locales/de.json'
import en from '../../../adapters/portal/app/locales/en.json'
import { ROOT, read } from '../../house/sources.js'

const APP = 'adapters/portal/app'
const sources = readdirSync(join(ROOT, APP), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => read(join(APP, name)))
  .join('\n')

/** Keys that the code makes from a name: `state.${name}`. */
const MADE = /^(state|kind|change|stream|range|match|tab)\./

describe('the translations', () => {
  it('have the same keys in the same order, and the same placeholders', () => {
    expect(Object.keys(de)).toEqual(Object.keys(en))
    const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort()
    for (const [key, text] of Object.entries(en)) {
      expect(placeholders(de[key as keyof typeof de]), key).toEqual(placeholders(text))
    }
  })

  it('have no key that nothing shows', () => {
    const unused = Object.keys(en)
      .filter((key) => !MADE.test(key))
      .map((key) => key.replace(/_(one|other)$/, ''))
      .filter((key) => !sources.includes(`'${key}'`))
    expect(unused).toEqual([])
  })

  it('are the only place with text for users', () => {
    const shown = readdirSync(join(ROOT, APP), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.tsx'))
      .flatMap((name) =>
        [...readFileSync(join(ROOT, APP, name), 'utf8').matchAll(/^\s+([A-Z][a-z]+ [a-z ]{3,})$/gm)].map(
          ([, text]) => `${name}: ${text}`,
        ),
      )
    expect(shown).toEqual([])
  })
})
