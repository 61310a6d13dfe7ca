import { describe, expect, it } from 'vitest'
import { guard, isPossible } from './started.js'

describe('the address guard in a network where every address answers', { timeout: 120_000 }, () => {
  it.skipIf(!isPossible).each([
    ['answers unjudged', /, which no good answer had: case/],
    ['literals unjudged', /! a connection to 169\.254\.169\.254: case/],
  ])('is seen to fail with %s', async (policy, sentence) => {
    const { code, text } = await guard('--cases', '200', '--seed', '1', '--policy', policy)
    expect(text).toMatch(sentence)
    expect(text).toContain('The guard let through')
    expect(code).toBe(1)
  })
})
