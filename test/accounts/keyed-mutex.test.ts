import { describe, expect, it } from 'vitest'
import { keyedMutex } from '../../src/accounts/keyed-mutex.js'

describe('keyedMutex', () => {
  it('serialises work under one key and runs different keys concurrently', async () => {
    const mutex = keyedMutex()
    const trace: string[] = []
    let release = () => {}
    const slow = mutex('a', async () => {
      trace.push('first starts')
      await new Promise<void>((resolve) => {
        release = resolve
      })
      trace.push('first ends')
    })
    const next = mutex('a', async () => trace.push('second'))
    await mutex('b', async () => trace.push('other key'))
    expect(trace).toEqual(['first starts', 'other key'])
    release()
    await Promise.all([slow, next])
    expect(trace).toEqual(['first starts', 'other key', 'first ends', 'second'])
  })

  it('runs work after failed work, whose error only its own caller receives', async () => {
    const mutex = keyedMutex()
    const failing = mutex('a', () => Promise.reject(new Error('no')))
    const next = mutex('a', async () => 'done')
    await expect(failing).rejects.toThrow('no')
    expect(await next).toBe('done')
  })
})
