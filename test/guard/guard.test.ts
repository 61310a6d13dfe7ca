import fc from 'fast-check'
import { compilePolicy } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { casesOf } from './cases.js'
import { isForbidden, isSame } from './ranges.js'
import { CLOSED, CLOSED_SIX, FOUR_SPELLINGS, OPEN, OPEN_SIX } from './spellings.js'
import { guard, isPossible } from './started.js'

describe('the address guard in a network where every address answers', { timeout: 120_000 }, () => {
  it.skipIf(!isPossible)('reaches nothing that is blocked', async () => {
    const { code, text } = await guard('--cases', '400')
    expect(text).toContain('Nothing that is blocked was reached.')
    expect(code).toBe(0)
  })
})

describe('what the runs call forbidden', () => {
  it('is what their lists say, in every spelling that embeds it', () => {
    for (const ip of [...CLOSED, ...CLOSED_SIX]) expect([ip, isForbidden(ip)]).toEqual([ip, true])
    for (const ip of [...OPEN, ...OPEN_SIX]) expect([ip, isForbidden(ip)]).toEqual([ip, false])
    const inSix = Object.values(FOUR_SPELLINGS).filter((spell) => spell('10.0.0.1').startsWith('['))
    expect(inSix.length).toBeGreaterThanOrEqual(11)
    const address = (host: string) => new URL(`http://${host}/`).hostname.slice(1, -1)
    for (const spell of inSix) expect(isForbidden(address(spell('10.0.0.1'))), spell('10.0.0.1')).toBe(true)
    expect(isForbidden(address('[::ffff:8.8.8.8]'))).toBe(false)
    expect(isSame('::ffff:808:808', '8.8.8.8')).toBe(true)
    expect(isSame('2606:4700::1', '2606:4700::2')).toBe(false)
  })

  it('is blocked by the policy too, for any address', () => {
    const closed = compilePolicy({ allowLocal: false, allow: [] })
    const inSix = Object.values(FOUR_SPELLINGS).filter((spell) => spell('10.0.0.1').startsWith('['))
    const embedded = fc
      .tuple(fc.constantFrom(...inSix), fc.oneof(fc.ipV4(), fc.constantFrom(...CLOSED)))
      .map(([spell, four]) => new URL(`http://${spell(four)}/`).hostname.slice(1, -1))
    const any = fc.oneof(fc.ipV4(), fc.ipV6(), embedded)
    fc.assert(
      fc.property(any, (ip) => {
        if (isForbidden(ip)) expect([ip, closed.judgeIp(ip).blocked]).toEqual([ip, true])
      }),
      { numRuns: 3_000 },
    )
  })
})

it('the cases of a seed are always the same, and no two are alike', () => {
  const cases = [...casesOf('1', 2_000)]
  expect(cases).toEqual([...casesOf('1', 2_000)])
  expect(cases).toHaveLength(2_000)
  const keys = cases.map(({ url, number, ...rest }) =>
    JSON.stringify([url.replaceAll(String(number), ''), rest]),
  )
  expect(new Set(keys).size).toBe(2_000)
})
