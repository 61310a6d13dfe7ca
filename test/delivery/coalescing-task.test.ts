import { describe, expect, it } from 'vitest'
import { createCoalescingTask } from '../../src/delivery/coalescing-task.js'

function countedTask() {
  const state = { runs: 0, running: 0, peak: 0, release: () => {} }
  const task = async () => {
    state.runs++
    state.peak = Math.max(state.peak, ++state.running)
    await new Promise<void>((resolve) => {
      state.release = resolve
    })
    state.running--
  }
  return { state, coalescing: createCoalescingTask(task) }
}
const microtasks = async (count = 10) => {
  for (let turn = 0; turn < count; turn++) await Promise.resolve()
}

describe('a coalescing task', () => {
  it('runs once for triggers before it begins, and once more for triggers during the run', async () => {
    const { state, coalescing } = countedTask()
    for (let count = 0; count < 5; count++) coalescing.trigger()
    await microtasks()
    expect(state.runs).toBe(1)
    for (let count = 0; count < 5; count++) coalescing.trigger()
    await microtasks()
    expect(state.runs).toBe(1)
    state.release()
    await microtasks()
    expect(state.runs).toBe(2)
    state.release()
    await coalescing.idle()
    expect(state).toMatchObject({ runs: 2, peak: 1, running: 0 })
  })

  it('loses no trigger at any moment around the end of a run', async () => {
    for (let delay = 0; delay < 12; delay++) {
      let runs = 0
      const coalescing = createCoalescingTask(async () => {
        runs++
      })
      coalescing.trigger()
      await microtasks(delay)
      const before = runs
      coalescing.trigger()
      await microtasks(20)
      expect(runs, `after ${delay} microtasks`).toBeGreaterThan(before === 0 ? 0 : before)
    }
  })

  it('is idle before the first trigger', async () => {
    await createCoalescingTask(async () => {}).idle()
  })
})
