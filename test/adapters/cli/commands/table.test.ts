import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ageText,
  type Column,
  displayWidth,
  formatDetails,
  formatTable,
  shorten,
  textOf,
} from '../../../../adapters/cli/commands/table.js'
import { propertyRuns } from '../../../support/property-runs.js'

const COLUMNS: readonly Column[] = [
  { title: 'ID', value: 'id', isWhole: true },
  { title: 'NAME', value: 'name' },
  { title: 'URI', value: (item) => item.uri },
]

describe('a table', () => {
  it('aligns columns under their titles', () => {
    const items = [
      { id: 'a1', name: 'Calls', uri: 'https://a.example/' },
      { id: 'b22', name: 'x', uri: true },
      { id: 'c' },
    ]
    expect(formatTable(items, COLUMNS, 80)).toBe(
      ['ID   NAME   URI', 'a1   Calls  https://a.example/', 'b22  x      true', 'c', ''].join('\n'),
    )
    expect(formatTable([], COLUMNS, 80)).toBe('')
    expect(formatTable([{ id: 'a' }], COLUMNS, 80, { hasHead: false })).toBe('a\n')
  })

  it('shortens the widest columns to the width, and never an id', () => {
    const item = { id: 'i'.repeat(32), name: 'n'.repeat(20), uri: 'u'.repeat(60) }
    const [, line = ''] = formatTable([item], COLUMNS, 60).split('\n')
    expect(line).toBe(`${'i'.repeat(32)}  ${'n'.repeat(11)}…  ${'u'.repeat(11)}…`)
    expect(formatTable([item], COLUMNS, 10)).toContain('i'.repeat(32))
  })

  it('puts columns for which there is no room on further lines of the row, so that no line is too long', () => {
    const columns: Column[] = [
      { title: 'ACCOUNT', value: 'account', isWhole: true },
      ...COLUMNS,
      { title: 'STATE', value: 'state' },
      { title: 'TEXT', value: 'text' },
    ]
    const item = {
      account: 'a'.repeat(32),
      id: 'i'.repeat(32),
      name: 'Calls',
      uri: 'u'.repeat(60),
      state: 'given up',
      text: 't'.repeat(90),
    }
    const table = formatTable([item, { account: 'b', id: 'c', name: 'x' }], columns, 80)
    expect(table.split('\n')).toEqual([
      `ACCOUNT${' '.repeat(27)}ID${' '.repeat(32)}NAME`,
      `    URI${' '.repeat(31)}STATE     TEXT`,
      `${item.account}  ${item.id}  Calls`,
      `    ${'u'.repeat(31)}…  given up  ${'t'.repeat(31)}…`,
      `b${' '.repeat(33)}c${' '.repeat(33)}x`,
      '',
    ])
    for (const width of [40, 60, 70, 80, 100, 120])
      for (const line of formatTable([item], columns, width).split('\n'))
        expect(displayWidth(line)).toBeLessThanOrEqual(width)
  })

  it('shortens URLs in the middle: their host and their end stay', () => {
    expect(shorten('https://crm.example.com/hooks/calls', 20, true)).toBe('https://cr…oks/calls')
    expect(shorten('https://crm.example.com/', 24, true)).toBe('https://crm.example.com/')
    expect(displayWidth(shorten('通話記録通話記録', 9, true))).toBeLessThanOrEqual(9)
    const item = { uri: `https://crm.example.com/${'x'.repeat(60)}/end` }
    const table = formatTable([item], [{ title: 'URI', value: 'uri', isCutInMiddle: true }], 40)
    expect(table.split('\n')[1]).toBe(`https://crm.example.…${'x'.repeat(15)}/end`)
  })

  it('shows times as ages, where it is given the time', () => {
    const now = Date.parse('2030-01-15T12:00:00Z')
    const texts = [
      ['2030-01-15T11:59:23.500Z', '36 s ago'],
      ['2030-01-15T11:57:00Z', '3 min ago'],
      ['2030-01-15T14:30:00Z', 'in 2 h'],
      ['2030-01-13T12:00:01Z', '47 h ago'],
      ['2030-01-10T12:00:00Z', '5 days ago'],
      ['', ''],
    ] as const
    for (const [time, age] of texts) expect(ageText(time, now)).toBe(age)
    const columns: Column[] = [{ title: 'AT', value: 'at', isTime: true }]
    const items = [{ at: '2030-01-15T11:57:00Z' }]
    expect(formatTable(items, columns, 80, { nowMs: now })).toBe('AT\n3 min ago\n')
    expect(formatTable(items, columns, 80)).toBe('AT\n2030-01-15T11:57:00Z\n')
    expect(formatTable(items, columns, 8, { nowMs: now })).toBe('AT\n3 min ago\n')
  })

  it('counts wide characters as two columns', () => {
    expect(displayWidth('通話 ok')).toBe(7)
    expect(displayWidth('é 👍🏽')).toBe(4)
    expect(shorten('通話記録', 6)).toBe('通話…')
    const lines = formatTable(
      [
        { id: '通話', name: 'x' },
        { id: 'abcd', name: 'y' },
      ],
      COLUMNS,
      80,
    ).split('\n')
    expect(lines.slice(1, 3)).toEqual(['通話  x', 'abcd  y'])
  })

  it('never prints a control character, a second line or a change of direction', () => {
    const hostile = fc.string({
      unit: fc.constantFrom('a', '\x1b[31m', '\n', '\r', '\u202e', '\u2028', '\x9b', '通', '\t'),
    })
    fc.assert(
      fc.property(hostile, fc.integer({ min: 1, max: 60 }), (text, width) => {
        const item = { id: 'a', name: text, uri: { [text]: text } }
        const table = formatTable([item], COLUMNS, width, { hasHead: false })
        const details = formatDetails({ [`x${text}`]: text, nested: { deep: [text] } }, width)
        expect(table.split('\n').length).toBeLessThanOrEqual(4)
        expect(table.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202e]/u)
        for (const line of details.split('\n')) expect(line).toMatch(/^(x|nested\.deep {2}|\s{13}|$)/)
        expect(details.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202e]/u)
        expect(displayWidth(shorten(text.replace(/\p{Cc}/gu, ''), width))).toBeLessThanOrEqual(width)
      }),
      { numRuns: propertyRuns(500) },
    )
  })

  it('shows objects as JSON in a cell, and by dotted names in a document', () => {
    expect(textOf({ list: [1, { a: 2 }] }, { value: 'list' })).toBe('[1,{"a":2}]')
    expect(textOf({}, { value: 'missing' })).toBe('')
    const document = { id: 'a', custom_data: { crm: 7, deep: { x: null } }, empty: {}, list: ['x'] }
    expect(formatDetails(document, 80)).toBe(
      'id                  a\ncustom_data.crm     7\ncustom_data.deep.x\nempty               {}\nlist                ["x"]\n',
    )
    expect(formatDetails({ id: 'a', n: 1 }, undefined)).toBe('id\ta\nn\t1\n')
  })
})
