import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import de from '../../../adapters/portal/app/locales/de.json'
import en from '../../../adapters/portal/app/locales/en.json'
import { EXPLANATION_CODES } from '../../../src/delivery/explain.js'
import { UNMATCHED_REASONS } from '../../../src/delivery/why.js'
import { FAILURE_CAUSES } from '../../../src/values/failure-cause.js'
import { ROOT, read, sourceFiles } from '../../house/sources.js'

const APP = 'adapters/portal/app'
const sources = readdirSync(join(ROOT, APP), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => read(join(APP, name)))
  .join('\n')

/** Keys that the code makes from a name: `state.${name}`. */
const MADE =
  /^((state|failure|cause|kind|change|stream|range|match|tab|rule|type|event|explain|result|found|unit|first\.use|form\.unit)\.|replay\.(cancelled|delivered|exhausted|expired)$)/

describe('the translations', () => {
  it('have the same keys in the same order, and the same placeholders', () => {
    expect(Object.keys(de)).toEqual(Object.keys(en))
    const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort()
    for (const [key, text] of Object.entries(en)) {
      expect(placeholders(de[key as keyof typeof de]), key).toEqual(placeholders(text))
    }
  })

  it('explain every state of a delivery with what the service says of it', () => {
    const explained = Object.keys(en)
      .filter((key) => key.startsWith('explain.'))
      .map((key) => key.replace(/^explain\.|_(one|other|unsent)$/g, ''))
    expect([...new Set(explained)].sort()).toEqual([...EXPLANATION_CODES].sort())
    for (const [key, text] of Object.entries(en).filter(([key]) => key.startsWith('explain.'))) {
      const unknown = (text.match(/\{\w+\}/g) ?? []).filter((name) => !['{count}', '{time}'].includes(name))
      expect([key, unknown]).toEqual([key, []])
    }
  })

  it('name every cause of a failure', () => {
    const failures = Object.keys(de).filter((key) => key.startsWith('failure.'))
    expect(failures.map((key) => key.slice('failure.'.length)).sort()).toEqual(
      Object.keys(FAILURE_CAUSES).sort(),
    )
  })

  it('have a text for every reason why a webhook has no delivery of an event', () => {
    for (const reason of UNMATCHED_REASONS) expect(en).toHaveProperty([`match.${reason}`])
  })

  it('have no key that nothing shows', () => {
    const unused = Object.keys(en)
      .filter((key) => !MADE.test(key))
      .map((key) => key.replace(/_(one|other)$/, ''))
      .filter((key) => !sources.includes(`'${key}'`))
    expect(unused).toEqual([])
  })

  it('have no key made of a name that neither the page nor the service knows', () => {
    const service = sourceFiles('src').map(read).join('\n')
    const isKnown = (name: string) =>
      [sources, service].some((text) => text.includes(`'${name}'`) || new RegExp(`\\b${name}:`).test(text))
    const unknown = Object.keys(en)
      .filter((key) => MADE.test(key))
      .filter((key) => {
        const whole = key.replace(/_(one|other)$/, '')
        const name = whole.split('.').at(-1)!
        if (sources.includes(`'${whole}'`)) return false
        return ![name, name.replace(/(_unsent|Text|Dative)$/, '')].some(isKnown)
      })
    expect(unknown).toEqual([])
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
