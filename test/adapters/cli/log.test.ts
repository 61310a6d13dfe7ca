import { describe, expect, it } from 'vitest'
import { jsonLine, lineLog, prettyLine } from '../../../adapters/cli/log.js'

const NOW = Date.UTC(2026, 10, 20, 12, 34, 56, 789)

describe('lineLog', () => {
  it('writes JSON with time, level and message first, then the fields', () => {
    expect(jsonLine(NOW, 'info', { url: 'http://x', error: new Error('why') }, 'listening')).toBe(
      '{"time":"2026-11-20T12:34:56.789Z","level":"info","message":"listening","url":"http://x","error":"why"}\n',
    )
  })

  it('writes JSON in which no field replaces time, level and message, and none of both is lost', () => {
    expect(JSON.parse(jsonLine(NOW, 'warn', { level: 'fake', time: 0, message: 'fake' }, 'real'))).toEqual({
      time: '2026-11-20T12:34:56.789Z',
      level: 'warn',
      message: 'real',
      time_: 0,
      level_: 'fake',
      message_: 'fake',
    })
  })

  it('writes readable text with the time of day and the fields that have a value', () => {
    expect(prettyLine(NOW, 'warn', { port: 8000, name: 'two words', none: undefined }, 'careful')).toBe(
      '12:34:56.789 WARN  careful  port=8000  name="two words"\n',
    )
  })

  it.each([jsonLine, prettyLine])('writes one line, whatever characters the fields contain', (line) => {
    const text = line(NOW, 'error', { who: 'a\nb\u001b[2J\u2028c', big: 1n }, 'first\r\nsecond\u001b[31m')
    expect(text.slice(0, -1)).not.toMatch(/[\r\n\u001b]/)
    expect(text.endsWith('\n')).toBe(true)
  })

  it.each([jsonLine, prettyLine])('writes a line for fields that cannot be serialised as JSON', (line) => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    expect(line(NOW, 'info', { circle }, 'round')).toContain('round')
  })

  it('escapes hidden characters, so that no text is another one on the screen', () => {
    const text = 'a\u202eb\u009b\u2028c'
    const json = jsonLine(NOW, 'info', { [text]: text }, text)
    expect(json).toContain('"message":"a\\u202eb\\u009b\\u2028c"')
    expect(JSON.parse(json)).toMatchObject({ message: text, [text]: text })
    expect(prettyLine(NOW, 'info', { name: text, [text]: 1 }, text)).toBe(
      '12:34:56.789 INFO  a\\u{202E}b\\u{9B}\\u{2028}c  name="a\\u202eb\\u009b\\u2028c"  a\\u{202E}b\\u{9B}\\u{2028}c=1\n',
    )
  })

  it('omits level debug', () => {
    const lines: string[] = []
    const log = lineLog(
      'json',
      (line) => lines.push(line),
      () => NOW,
    )
    log.debug({}, 'detail')
    log.error({}, 'bad')
    expect(lines.map((line) => JSON.parse(line).message)).toEqual(['bad'])
  })
})
