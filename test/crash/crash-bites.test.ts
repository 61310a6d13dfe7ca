import { describe, expect, it } from 'vitest'
import { crash } from './started.js'

describe('the crash runs', { timeout: 120_000 }, () => {
  it('say so when a store keeps nothing', async () => {
    const { code, text } = await crash('--store', 'memory', '--cycles', '2', '--seed', '1')
    expect(text).toMatch(/was acknowledged, should have reached account-\d\/., and never did/)
    expect(text).toContain('The promise was broken')
    expect(code).toBe(1)
  })
})
