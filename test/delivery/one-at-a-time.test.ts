import { describe, expect, it } from 'vitest'
import { oneAtATime } from '../../src/delivery/one-at-a-time.js'

function countedWork() {
  const state = { runs: 0, under: 0, most: 0, release: () => {} }
  const work = async () => {
    state.runs++
    state.most = Math.max(state.most, ++state.under)
    await new Promise<void>((resolve) => {
      state.release = resolve
    })
    state.under--
  }
  return { state, one: oneAtATime(work) }
}
const turns = async (count = 10) => {
  for (let turn = 0; turn < count; turn++) await Promise.resolve()
}

describe('work that many wish for', () => {
  it('runs once for wishes before it begins, and once more for those that came meanwhile', async () => {
    const { state, one } = countedWork()
    for (let wish = 0; wish < 5; wish++) one.soon()
    await turns()
    expect(state.runs).toBe(1)
    for (let wish = 0; wish < 5; wish++) one.soon()
    await turns()
    expect(state.runs).toBe(1)
    state.release()
    await turns()
    expect(state.runs).toBe(2)
    state.release()
    await one.rest()
    expect(state).toMatchObject({ runs: 2, most: 1, under: 0 })
  })

  it('loses no wish that comes at any moment around its end', async () => {
    for (let delay = 0; delay < 12; delay++) {
      let runs = 0
      const one = oneAtATime(async () => {
        runs++
      })
      one.soon()
      await turns(delay)
      const before = runs
      one.soon()
      await turns(20)
      expect(runs, `after ${delay} turns`).toBeGreaterThan(before === 0 ? 0 : before)
    }
  })

  it('is at rest when nothing was wished for', async () => {
    await oneAtATime(async () => {}).rest()
  })
})
