import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import de from '../../../adapters/portal/app/locales/de.json'
import en from '../../../adapters/portal/app/locales/en.json'
import { EXPLANATION_CODES } from '../../../src/delivery/explain.js'
import { FAILURE_CAUSES } from '../../../src/values/failure-cause.js'
import { ROOT, read } from '../../house/sources.js'

const APP = 'adapters/portal/app'
const sources = readdirSync(join(ROOT, APP), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => read(join(APP, name)))
  .join('\n')

/** Keys that the code makes from a name: `state.${name}`. */
const MADE = /^(state|failure|cause|kind|change|disabled|stream|range|match|tab|rule|type|event)\./
/** In English the sentence of the service is shown. */
const isExplanation = (key: string) => key.startsWith('explain.')

describe('the translations', () => {
  it('have the same keys in the same order, and the same placeholders', () => {
    expect(Object.keys(de).filter((key) => !isExplanation(key))).toEqual(Object.keys(en))
    const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort()
    for (const [key, text] of Object.entries(en)) {
      expect(placeholders(de[key as keyof typeof de]), key).toEqual(placeholders(text))
    }
  })

  it('explain every state of a delivery', () => {
    const explained = Object.keys(de)
      .filter(isExplanation)
      .map((key) => key.replace(/^explain\.|_(one|other)$/g, ''))
    expect([...new Set(explained)].sort()).toEqual([...EXPLANATION_CODES].sort())
    for (const [key, text] of Object.entries(de).filter(([key]) => isExplanation(key))) {
      const placeholders: readonly string[] = text.match(/\{\w+\}/g) ?? []
      const unknown = placeholders.filter((name) => !['{count}', '{seconds}', '{reason}'].includes(name))
      expect([key, unknown]).toEqual([key, []])
      // The form of the number is chosen by its value.
      expect([key, placeholders.includes('{count}')]).toEqual([key, /_(one|other)$|in_flight$/.test(key)])
    }
  })

  it('name every cause of a failure', () => {
    const failures = Object.keys(de).filter((key) => key.startsWith('failure.'))
    expect(failures.map((key) => key.slice('failure.'.length)).sort()).toEqual(
      Object.keys(FAILURE_CAUSES).sort(),
    )
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
