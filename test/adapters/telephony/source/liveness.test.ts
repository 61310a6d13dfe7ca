import fc from 'fast-check'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { watchLiveness } from '../../../../adapters/telephony/source/liveness.js'
import { propertyRuns } from '../../../support/property-runs.js'

const SILENCE_MS = 20_000

/** One idle connection whose switch answers a probe after the given milliseconds; `undefined`: never. */
function connect(answerAfterMs: (probe: number) => number | undefined = () => undefined) {
  const clock = manualClock()
  const over = new AbortController()
  const probes: number[] = []
  const signs: number[] = []
  let isPaused = false
  let dead: { readonly atMs: number; readonly reason: string } | undefined
  const receive = () => {
    if (isPaused) return
    signs.push(clock.monotonic())
    liveness.onSignOfLife()
  }
  const liveness = watchLiveness({
    clock,
    silenceMs: SILENCE_MS,
    signal: over.signal,
    isPaused: () => isPaused,
    probe() {
      probes.push(clock.monotonic())
      const afterMs = answerAfterMs(probes.length - 1)
      if (afterMs !== undefined) void clock.sleep(afterMs, over.signal).then(receive)
    },
    onDead(reason) {
      dead = { atMs: clock.monotonic(), reason }
      over.abort()
    },
  })
  return {
    clock,
    over,
    probes,
    signs,
    receive,
    dead: () => dead,
    pause() {
      isPaused = true
    },
    resume() {
      if (!isPaused) return
      isPaused = false
      liveness.onSignOfLife()
    },
  }
}

describe('the liveness of a connection', () => {
  it('stays when the last data came just after the connection began', async () => {
    const { clock, receive, probes, dead } = connect(() => 5)
    await clock.advance(1)
    receive()
    await clock.advance(900_000)
    expect(dead()).toBeUndefined()
    expect(probes.slice(0, 3)).toEqual([20_001, 40_006, 60_011])
  })

  it('ends when a probe goes unanswered for its full time', async () => {
    const { clock, receive, dead } = connect((probe) => (probe === 0 ? 19_999 : undefined))
    await clock.advance(1)
    receive()
    await clock.advance(79_998)
    expect(dead()).toBeUndefined()
    await clock.advance(1)
    expect(dead()).toEqual({ atMs: 80_000, reason: 'no sign of life for 40 s' })
    expect(clock.sleepers().count).toBe(0)
  })

  it('reads what arrived in a busy process before it decides', async () => {
    const clock = manualClock()
    const over = new AbortController()
    const probes: number[] = []
    const dead: string[] = []
    const unread: (() => void)[] = []
    const liveness = watchLiveness({
      // Node reads sockets after the timers that are due, and before it resumes who yields.
      clock: { ...clock, yield: () => clock.yield().then(() => unread.shift()?.()) },
      silenceMs: SILENCE_MS,
      probe: () => probes.push(clock.monotonic()),
      onDead: (reason) => dead.push(reason),
      signal: over.signal,
    })
    await clock.advance(20_000)
    unread.push(liveness.onSignOfLife)
    await clock.advance(39_999)
    expect([probes, dead]).toEqual([[20_000], []])
    over.abort()
  })

  it('does not watch a connection that is over', async () => {
    const { clock, over, probes, dead } = connect()
    over.abort()
    await clock.advance(100_000)
    expect([probes, dead(), clock.sleepers().count]).toEqual([[], undefined, 0])
  })

  it('ends only after an unanswered probe, whatever the traffic, the answers and the pauses', async () => {
    const step = fc.record({
      waitMs: fc.oneof(
        fc.integer({ min: 0, max: 50_000 }),
        fc.constantFrom(1, 19_999, 20_000, 20_001, 40_000),
      ),
      act: fc.constantFrom('data', 'data', 'pause', 'resume'),
    })
    const answer = fc.option(
      fc.oneof(fc.integer({ min: 0, max: 25_000 }), fc.constantFrom(0, 19_999, 20_000, 20_001)),
      { nil: undefined, freq: 4 },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 30 }),
        fc.array(answer, { minLength: 1, maxLength: 10 }),
        async (steps, answers) => {
          const connection = connect((probe) => answers[probe % answers.length])
          const { clock, probes, signs, dead, over } = connection
          const pauses: { readonly fromMs: number; toMs: number }[] = []
          for (const { waitMs, act } of steps) {
            await clock.advance(waitMs)
            if (dead()) break
            if (act === 'data') connection.receive()
            if (act === 'pause' && pauses.at(-1)?.toMs !== Number.POSITIVE_INFINITY) {
              connection.pause()
              pauses.push({ fromMs: clock.monotonic(), toMs: Number.POSITIVE_INFINITY })
            }
            if (act === 'resume') {
              connection.resume()
              const last = pauses.at(-1)
              if (last && last.toMs === Number.POSITIVE_INFINITY) last.toMs = clock.monotonic()
            }
          }
          over.abort()
          const endMs = dead()?.atMs ?? clock.monotonic()
          /** Whether nothing was received in this time although the connection was being read. */
          const isSilent = (fromMs: number, toMs: number) =>
            !signs.some((atMs) => atMs > fromMs && atMs < toMs) &&
            !pauses.some((pause) => pause.fromMs < toMs && pause.toMs > fromMs)
          if (dead()) {
            const sentMs = probes.at(-1) as number
            expect(endMs - sentMs).toBe(SILENCE_MS)
            expect(isSilent(sentMs, endMs)).toBe(true)
          }
          // No silence stays without a probe, and no dead switch stays connected.
          const starts = [0, ...signs, ...pauses.map(({ toMs }) => toMs)].filter(Number.isFinite)
          for (const fromMs of starts) {
            if (fromMs + SILENCE_MS < endMs && isSilent(fromMs, fromMs + SILENCE_MS + 1))
              expect(probes).toContain(fromMs + SILENCE_MS)
            if (isSilent(fromMs, fromMs + 2 * SILENCE_MS + 1))
              expect(endMs).toBeLessThanOrEqual(fromMs + 2 * SILENCE_MS)
          }
        },
      ),
      { numRuns: propertyRuns(1_000) },
    )
  })
})
