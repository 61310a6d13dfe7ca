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

  it('keeps the order of work that is added while earlier work runs', async () => {
    const mutex = keyedMutex()
    const trace: string[] = []
    const run = (name: string, work: () => Promise<void>) =>
      mutex('a', async () => {
        trace.push(`${name} starts`)
        await work()
        trace.push(`${name} ends`)
      })
    let release = () => {}
    const first = run('first', async () => {})
    const second = run('second', () => new Promise((resolve) => (release = resolve)))
    await first
    while (trace.length < 3) await Promise.resolve()
    const third = run('third', async () => {})
    await new Promise(setImmediate)
    expect(trace).toEqual(['first starts', 'first ends', 'second starts'])
    release()
    await Promise.all([second, third])
    expect(trace.slice(3)).toEqual(['second ends', 'third starts', 'third ends'])
  })

  it('runs work after failed work, whose error only its own caller receives', async () => {
    const mutex = keyedMutex()
    const failing = mutex('a', () => Promise.reject(new Error('no')))
    const next = mutex('a', async () => 'done')
    await expect(failing).rejects.toThrow('no')
    expect(await next).toBe('done')
  })
})
