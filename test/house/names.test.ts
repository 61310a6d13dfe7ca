import { describe, expect, it } from 'vitest'
import { code, sourceFiles } from './sources.js'

/** Where the wire's own spelling lives. */
const WIRE = [/^src\/wire\//, /^src\/delivery\/payload\.ts$/, /^adapters\/telephony\//]
/** Names of events, states and metrics are values, also where they are keys of a table. */
const VALUES =
  /^(channel_(create|answer|bridge|destroy|hold|unhold)|in_flight|webhook_disabled|blocked_address|no_response|own_fault|too_large|too_slow|hookswitch_\w+)$/

describe('snake_case property names live in the wire alone', () => {
  for (const path of sourceFiles('src', 'adapters')) {
    if (WIRE.some((pattern) => pattern.test(path))) continue
    it(path, () => {
      const text = code(path).replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''")
      const keys = [
        ...text.matchAll(
          /(?:[{,(]\s*|^\s*(?:readonly\s+)?|\.)([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\??\s*[:,})=]/gm,
        ),
      ]
      expect(keys.map((match) => match[1]!).filter((name) => !VALUES.test(name))).toEqual([])
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
