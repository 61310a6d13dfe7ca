import { describe, expect, it } from 'vitest'
import { code, sourceFiles } from './sources.js'

/** Files that define the wire format. */
const WIRE = [
  /^src\/wire\//,
  /^src\/delivery\/payload\.ts$/,
  /^src\/values\/failure-cause\.ts$/,
  /^adapters\/telephony\//,
  /^adapters\/(blackhole|client|cli\/commands|portal\/app)\//,
]
/** Names of events, states, metrics and the id of an event in a payload are values, even as keys. */
const VALUES =
  /^(channel_(create|answer|bridge|destroy|hold|unhold|transferee|transferor|dtmf)|voicemail_new|missed_call|queue_(join|leave|agent_offer|agent_answer)|in_flight|retries_exhausted|crash_looped|webhook_(paused|resumed|failing|disabled|backlog_full)|delivery_exhausted|event_refused|blocked_address|no_response|own_fault|event_id|too_large|too_slow|hookswitch_\w+)$/

/** Names defined elsewhere: settings of PostgreSQL, columns of SQLite pragmas, figures of V8. */
const FOREIGN: readonly (readonly [RegExp, RegExp])[] = [
  [/^adapters\/storage\/postgres\//, /^(application_name|\w+_timeout|idle_\w+|client_encoding)$/],
  [/^adapters\/cli\/program-gauges\.ts$/, /^heap_size_limit$/],
  [
    /^adapters\/storage\/sqlite\//,
    /^(user_version|application_id|journal_mode|auto_vacuum|quick_check|page_size)$/,
  ],
]

/** Removes the text of template literals (mostly SQL) and keeps the expressions inside `${}`. */
function withoutTemplates(text: string): string {
  let result = ''
  /** One entry per open template: the brace depth inside its `${}`, or 0 while in its text. */
  const open: number[] = []
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index]!
    const depth = open.at(-1)
    if (depth === 0) {
      if (char === '\\') index += 1
      else if (char === '`') open.pop()
      else if (char === '$' && text[index + 1] === '{') {
        open[open.length - 1] = 1
        index += 1
      }
      continue
    }
    if (char === '`') open.push(0)
    else if (depth !== undefined && char === '{') open[open.length - 1] = depth + 1
    else if (depth !== undefined && char === '}') open[open.length - 1] = depth - 1
    result += char
  }
  return result
}

describe('names', () => {
  it('snake_case property names occur only in the wire format', () => {
    const violations = sourceFiles('src', 'adapters')
      .filter((path) => !WIRE.some((pattern) => pattern.test(path)))
      .flatMap((path) => {
        const foreign = FOREIGN.find(([folder]) => folder.test(path))?.[1]
        const text = withoutTemplates(code(path)).replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''")
        const keys = text.matchAll(
          /(?:[{,(]\s*|^\s*(?:readonly\s+)?|\.)([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\??\s*[:,})=]/gm,
        )
        return [...keys]
          .map((match) => match[1]!)
          .filter((name) => !VALUES.test(name) && !foreign?.test(name))
          .map((name) => `${path}: ${name}`)
      })
    expect(violations).toEqual([])
  })

  it('`one` is no name of a variable', () => {
    const declared =
      /(?:\b(?:const|let)\s+(?:[[{][^=\n]*?[[{,:]\s*)?|[(,[] ?(?:\w+: )?)one\b(?=\s*(?:[,)\]=]|\??: |of\b))/
    const violations = sourceFiles('src', 'adapters', 'test').flatMap((path) =>
      withoutTemplates(code(path))
        .replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''")
        .split('\n')
        .filter((line) => declared.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    )
    expect(violations).toEqual([])
  })

  it('no file has a name that says nothing about its contents', () => {
    const vague = /\/(utils?|helpers?|common|misc|types)\.ts$/
    expect(sourceFiles('src', 'adapters').filter((path) => vague.test(path))).toEqual([])
  })
})
