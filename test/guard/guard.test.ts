import fc from 'fast-check'
import { compileAddressPolicy } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { propertyRuns } from '../support/property-runs.js'
import { casesOf } from './cases.js'
import { isForbidden, isSame } from './ranges.js'
import { CLOSED, CLOSED_SIX, FOUR_SPELLINGS, OPEN, OPEN_SIX } from './spellings.js'
import { guard, isPossible } from './start-guard.js'

describe('the address guard in a network where every address answers', { timeout: 120_000 }, () => {
  it.skipIf(!isPossible)('reaches no blocked address', async () => {
    const { code, text } = await guard('--cases', '400')
    expect(text).toContain('No blocked address was reached.')
    expect(code).toBe(0)
  })
})

describe('the independent list of forbidden addresses', () => {
  it('covers every closed address in every embedding spelling and no open one', () => {
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

  it('is a subset of what the address policy blocks', () => {
    const closed = compileAddressPolicy({ allowLocal: false, allow: [] })
    const inSix = Object.values(FOUR_SPELLINGS).filter((spell) => spell('10.0.0.1').startsWith('['))
    const embedded = fc
      .tuple(fc.constantFrom(...inSix), fc.oneof(fc.ipV4(), fc.constantFrom(...CLOSED)))
      .map(([spell, four]) => new URL(`http://${spell(four)}/`).hostname.slice(1, -1))
    const any = fc.oneof(fc.ipV4(), fc.ipV6(), embedded)
    fc.assert(
      fc.property(any, (ip) => {
        if (isForbidden(ip)) expect([ip, closed.checkAddress(ip).blocked]).toEqual([ip, true])
      }),
      { numRuns: propertyRuns(3_000) },
    )
  })
})

it('a seed always makes the same cases, all distinct', () => {
  const cases = [...casesOf('1', 2_000)]
  expect(cases).toEqual([...casesOf('1', 2_000)])
  expect(cases).toHaveLength(2_000)
  const keys = cases.map(({ url, number, ...rest }) =>
    JSON.stringify([url.replaceAll(String(number), ''), rest]),
  )
  expect(new Set(keys).size).toBe(2_000)
})
