import { describe, expect, it } from 'vitest'
import { guard, isPossible } from './start-guard.js'

describe('the address guard self-test', { timeout: 120_000 }, () => {
  it.skipIf(!isPossible).each([
    ['unchecked answers', /, which no allowed answer contained: case/],
    ['unchecked literals', /! a connection to 169\.254\.169\.254: case/],
  ])('notices %s', async (policy, sentence) => {
    const { code, text } = await guard('--cases', '200', '--seed', '1', '--policy', policy)
    expect(text).toMatch(sentence)
    expect(text).toContain('The guard failed')
    expect(code).toBe(1)
  })
})
