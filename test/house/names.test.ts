import { describe, expect, it } from 'vitest'
import { code, sourceFiles } from './sources.js'

/** Where the wire's own spelling lives. */
const WIRE = [/^src\/wire\//, /^src\/delivery\/payload\.ts$/, /^adapters\/telephony\//]
/** Names of events, states and metrics are values, also where they are keys of a table. */
const VALUES =
  /^(channel_(create|answer|bridge|destroy|hold|unhold)|in_flight|webhook_disabled|event_refused|blocked_address|no_response|own_fault|too_large|too_slow|hookswitch_\w+)$/

/** What names outside of JavaScript are called there: settings of PostgreSQL, columns of SQLite's own pragmas. */
const OUTSIDE: readonly (readonly [RegExp, RegExp])[] = [
  [/^adapters\/storage\/postgres\/session-settings\.ts$/, /./],
  [/^adapters\/storage\/postgres\//, /^(application_name|\w+_timeout|idle_\w+|client_encoding)$/],
  [/^adapters\/storage\/sqlite\//, /^(user_version|application_id|journal_mode|quick_check|page_size)$/],
]

/** The text without the words of its template literals, SQL above all; what is inserted in them stays. */
function withoutTemplates(text: string): string {
  let kept = ''
  /** For every template that is open: how deep its insertion is; 0: in its words. */
  const open: number[] = []
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!
    const depth = open.at(-1)
    if (depth === 0) {
      if (char === '\\') at += 1
      else if (char === '`') open.pop()
      else if (char === '$' && text[at + 1] === '{') {
        open[open.length - 1] = 1
        at += 1
      }
      continue
    }
    if (char === '`') open.push(0)
    else if (depth !== undefined && char === '{') open[open.length - 1] = depth + 1
    else if (depth !== undefined && char === '}') open[open.length - 1] = depth - 1
    kept += char
  }
  return kept
}

describe('snake_case property names live in the wire alone', () => {
  for (const path of sourceFiles('src', 'adapters')) {
    if (WIRE.some((pattern) => pattern.test(path))) continue
    it(path, () => {
      const outside = OUTSIDE.find(([folder]) => folder.test(path))?.[1]
      const text = withoutTemplates(code(path)).replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''")
      const keys = [
        ...text.matchAll(
          /(?:[{,(]\s*|^\s*(?:readonly\s+)?|\.)([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\??\s*[:,})=]/gm,
        ),
      ]
      expect(
        keys.map((match) => match[1]!).filter((name) => !VALUES.test(name) && !outside?.test(name)),
      ).toEqual([])
    })
  }
})

describe('no file is a dumping ground', () => {
  const files = sourceFiles('src', 'adapters')
  const sizes = files.map((path) => ({ path, lines: code(path).length === 0 ? 0 : linesOf(path) }))

  function linesOf(path: string): number {
    return code(path).split('\n').length
  }

  it('has no file above 250 lines', () => {
    expect(sizes.filter(({ lines }) => lines > 250)).toEqual([])
  })

  it('has small files: the median is at most 100 lines', () => {
    const sorted = sizes.map(({ lines }) => lines).sort((a, b) => a - b)
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThanOrEqual(100)
  })

  it('has no file named after nothing', () => {
    expect(files.filter((path) => /\/(utils?|helpers?|common|misc|types)\.ts$/.test(path))).toEqual([])
  })
})
