import { describe, expect, it } from 'vitest'
import { turns } from '../../src/accounts/turns.js'

describe('turns', () => {
  it('run one after the other under one key, and side by side under different ones', async () => {
    const inTurn = turns()
    const story: string[] = []
    let release = () => {}
    const slow = inTurn('a', async () => {
      story.push('first begins')
      await new Promise<void>((resolve) => {
        release = resolve
      })
      story.push('first ends')
    })
    const next = inTurn('a', async () => story.push('second'))
    await inTurn('b', async () => story.push('other key'))
    expect(story).toEqual(['first begins', 'other key'])
    release()
    await Promise.all([slow, next])
    expect(story).toEqual(['first begins', 'other key', 'first ends', 'second'])
  })

  it('come also after work that failed, whose failure only its own caller sees', async () => {
    const inTurn = turns()
    const failing = inTurn('a', () => Promise.reject(new Error('no')))
    const next = inTurn('a', async () => 'done')
    await expect(failing).rejects.toThrow('no')
    expect(await next).toBe('done')
  })
})
