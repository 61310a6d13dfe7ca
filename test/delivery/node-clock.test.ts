import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { checkDeviation, deviationOf, type ReportedDeviation } from '../../src/delivery/clock-deviation.js'
import { createNodeClock } from '../../src/delivery/node-clock.js'

const HOUR_MS = 3_600_000

/** A node whose machine is `aheadMs` ahead of a store, which answers `sync` after `answerMs`. */
function createHarness(aheadMs = 0) {
  const machine = manualClock({ nowMs: 1_000_000_000 + aheadMs })
  const state = { storeMs: 1_000_000_000 - machine.monotonic() }
  const lines: string[] = []
  const write = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level} ${JSON.stringify(fields)} ${message}`)
  const clock = createNodeClock(machine, { info: write('info'), warn: write('warn') })
  return {
    machine,
    clock,
    lines,
    store: { now: () => state.storeMs + machine.monotonic(), jump: (ms: number) => (state.storeMs += ms) },
    /** @param answersAfterMs time from the moment when the store reads its clock to the answer */
    async sync(reachedAfterMs = 0, answersAfterMs = 0) {
      const end = clock.beginSync()
      await machine.advance(reachedAfterMs)
      const clockMs = state.storeMs + machine.monotonic()
      await machine.advance(answersAfterMs)
      end(clockMs)
    },
  }
}

describe('the clock of a node', () => {
  it('is that of the machine where the store states no other', async () => {
    const { machine, clock } = createHarness()
    machine.jumpWall(HOUR_MS)
    await machine.advance(5)
    expect(clock.now()).toBe(machine.now())
    expect(clock.machineNow()).toBe(machine.now())
    expect(clock.deviationMs()).toBe(0)
  })

  it('shows the time of day of the store, also after jumps of both', async () => {
    const { machine, clock, store, sync } = createHarness(HOUR_MS)
    await sync()
    expect(clock.now()).toBe(store.now())
    machine.jumpWall(-5 * HOUR_MS)
    await machine.advance(9_000)
    expect(clock.now()).toBe(store.now())
    expect(clock.machineNow()).toBe(store.now() - 4 * HOUR_MS)
    store.jump(-HOUR_MS)
    await sync()
    expect(clock.now()).toBe(store.now())
    store.jump(2 * HOUR_MS)
    await sync()
    expect(clock.now()).toBe(store.now())
  })

  it('takes the nearest time that a slow answer allows', async () => {
    const { clock, store, sync } = createHarness(HOUR_MS)
    await sync(400, 0)
    expect(clock.now() - store.now()).toBe(400)
    await sync(300, 100)
    expect(clock.now() - store.now()).toBe(300)
    await sync(8_000, 9_000)
    expect(clock.now() - store.now()).toBe(300)
  })

  it('reports a deviation of more than 30 seconds once, its change, every hour again, and its end', async () => {
    const { machine, clock, lines, sync } = createHarness(30_000)
    await sync()
    expect(lines).toEqual([])
    expect(clock.deviationMs()).toBe(30_000)
    machine.jumpWall(1_000)
    await sync()
    const sentence = "the clock of this machine is wrong, or the store's is: they differ by more than 30 s"
    expect(lines).toEqual([`warn {"deviationSeconds":31} ${sentence}`])
    for (let renewals = 0; renewals < 359; renewals++) {
      await machine.advance(10_000)
      await sync()
    }
    expect(lines).toHaveLength(1)
    await machine.advance(10_000)
    await sync()
    expect(lines).toHaveLength(2)
    machine.jumpWall(-2 * HOUR_MS)
    await sync()
    await sync()
    expect(lines.slice(2)).toEqual([`warn {"deviationSeconds":-7169} ${sentence}`])
    machine.jumpWall(2 * HOUR_MS - 31_000)
    await sync()
    await sync()
    expect(lines.slice(3)).toEqual([
      `info {"deviationSeconds":0} the clock of this machine agrees with the store's again`,
    ])
    expect(clock.deviationMs()).toBe(0)
  })

  it('takes no slow answer for a deviation', async () => {
    const { clock, lines, sync } = createHarness()
    await sync(0, 50_000)
    await sync(50_000, 0)
    await sync(40_000, 40_000)
    expect(clock.deviationMs()).toBe(0)
    expect(lines).toEqual([])
  })

  it('takes no suspended machine for a deviation: its monotonic clock stood still', async () => {
    const { machine, clock, lines, store } = createHarness()
    const end = clock.beginSync()
    const clockMs = store.now()
    machine.jumpWall(HOUR_MS)
    end(clockMs)
    expect(clock.deviationMs()).toBe(0)
    expect(lines).toEqual([])
  })
})

describe('checkDeviation', () => {
  it('does not report a clock at the limit again and again', () => {
    let reported: ReportedDeviation | undefined
    const reports: string[] = []
    for (let round = 0; round < 100; round++) {
      const check = checkDeviation(reported, round % 2 === 0 ? 30_001 : 29_999, round * 10_000)
      reported = check.reported
      if (check.report) reports.push(check.report)
    }
    expect(reports).toEqual(['deviates'])
    expect(checkDeviation(reported, -24_999, 1_000_000).report).toBe('agrees')
  })

  it('measures from the nearest time that the other clock may show', () => {
    expect(deviationOf(1_000, 1_000, 0)).toBe(0)
    expect(deviationOf(1_400, 1_000, 500)).toBe(0)
    expect(deviationOf(1_600, 1_000, 500)).toBe(100)
    expect(deviationOf(900, 1_000, 500)).toBe(-100)
  })
})
