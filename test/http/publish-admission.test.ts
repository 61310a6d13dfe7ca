/** How much of the publishes of one account is held, and who waits for it. */
import fc from 'fast-check'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { createPublishAdmission } from '../../src/http/publish-admission.js'

const KIB = 1_024
const MIB = 1_048_576

interface Entered {
  /** `undefined`: it waits. */
  isAdmitted: boolean | undefined
  leave(): void
}

function createHarness() {
  const clock = manualClock()
  const admission = createPublishAdmission(clock)
  return {
    clock,
    admission,
    /** A publish whose body was read. */
    enter(bytes: number, accountId = 'a', token = 't'): Entered {
      const entered: Entered = { isAdmitted: undefined, leave() {} }
      void admission.enter(accountId, token, bytes).then((leave) => {
        entered.isAdmitted = leave !== undefined
        if (leave) entered.leave = leave
      })
      return entered
    },
    /** A publish whose body is about to be read. */
    arrive(bytes: number, accountId = 'a', token = 't') {
      const place = admission.beforeReading(accountId, token, bytes)
      const arrived = { waits: place !== undefined, mayRead: undefined as boolean | undefined, end() {} }
      if (place) arrived.end = place.end
      void place?.ready.then((mayRead) => {
        arrived.mayRead = mayRead
      })
      return arrived
    },
  }
}

const statesOf = (all: readonly Entered[]) => all.map(({ isAdmitted }) => isAdmitted)

describe('publishes of one account', () => {
  it('are worked on together up to 1 MiB, and the others wait in order', async () => {
    const { clock, enter } = createHarness()
    const all = [enter(512 * KIB), enter(512 * KIB), enter(17 * KIB), enter(600 * KIB), enter(17 * KIB)]
    await clock.settle()
    expect(statesOf(all)).toEqual([true, true, undefined, undefined, undefined])
    all[0]!.leave()
    await clock.settle()
    // The second that waits is too large, and nobody passes it.
    expect(statesOf(all)).toEqual([true, true, true, undefined, undefined])
    all[1]!.leave()
    await clock.settle()
    expect(statesOf(all)).toEqual([true, true, true, true, true])
  })

  it('do not wait for those of another account', async () => {
    const { clock, enter } = createHarness()
    const all = [enter(MIB), enter(MIB), enter(MIB, 'b'), enter(MIB, 'b')]
    await clock.settle()
    expect(statesOf(all)).toEqual([true, undefined, true, undefined])
  })

  it('up to 16 KiB do not wait for larger ones, and have the same bound', async () => {
    const { clock, enter } = createHarness()
    const large = [enter(MIB), enter(17 * KIB)]
    const small = Array.from({ length: 65 }, () => enter(16 * KIB))
    await clock.settle()
    expect(statesOf(large)).toEqual([true, undefined])
    expect(statesOf(small)).toEqual([...Array(64).fill(true), undefined])
    small[0]!.leave()
    await clock.settle()
    expect(small[64]!.isAdmitted).toBe(true)
  })

  it('wait up to 8 MiB, above which one is refused at once', async () => {
    const { clock, enter } = createHarness()
    const [running, ...waiting] = Array.from({ length: 9 }, () => enter(MIB))
    const above = Array.from({ length: 80 }, () => enter(17 * KIB))
    const others = [enter(MIB, 'b'), enter(MIB, 'b')]
    await clock.settle()
    expect(statesOf(waiting)).toEqual(Array(8).fill(undefined))
    expect(statesOf(above)).toEqual(Array(80).fill(false))
    expect(statesOf(others)).toEqual([true, undefined])
    running!.leave()
    const next = enter(MIB)
    const after = enter(17 * KIB)
    await clock.settle()
    expect(statesOf([waiting[0]!, next, after])).toEqual([true, undefined, false])
  })

  it('wait up to 64 MiB in all, above which each account may have one that waits', async () => {
    const { clock, enter } = createHarness()
    const ids = Array.from({ length: 8 }, (_, index) => `full-${index}`)
    const full = ids.flatMap((id) => Array.from({ length: 9 }, () => enter(MIB, id)))
    const late = ['b', 'c'].map((id) => Array.from({ length: 3 }, () => enter(MIB, id)))
    await clock.settle()
    expect(statesOf(full)).not.toContain(false)
    for (const account of late) expect(statesOf(account)).toEqual([true, undefined, false])
    const stillAbove = enter(MIB, 'b')
    await clock.settle()
    expect(stillAbove.isAdmitted).toBe(false)
    for (const { leave } of full) leave()
    await clock.settle()
    const below = enter(MIB, 'b')
    await clock.settle()
    expect(below.isAdmitted).toBe(undefined)
  })

  it('wait for 10 s', async () => {
    const { clock, enter } = createHarness()
    const first = enter(MIB)
    const second = enter(MIB)
    await clock.advance(1_000)
    const third = enter(MIB)
    await clock.advance(8_999)
    expect(statesOf([first, second, third])).toEqual([true, undefined, undefined])
    await clock.advance(1)
    expect(statesOf([first, second, third])).toEqual([true, false, undefined])
    first.leave()
    await clock.advance(0)
    expect(third.isAdmitted).toBe(true)
    third.leave()
    await clock.settle()
    expect(clock.sleepers().count).toBe(0)
  })

  it('are never above their bounds, and all are answered', async () => {
    const step = fc.oneof(
      fc.record({ bytes: fc.integer({ min: 1, max: MIB }), accountId: fc.constantFrom('a', 'b') }),
      fc.record({ leave: fc.nat() }),
      fc.record({ advanceMs: fc.integer({ min: 0, max: 11_000 }) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { clock, enter } = createHarness()
        const all: { bytes: number; line: string; entered: Entered; isOver: boolean }[] = []
        const running = (line?: string) =>
          all.filter(
            (item) => item.entered.isAdmitted === true && !item.isOver && (line ?? item.line) === item.line,
          )
        const leave = (item: (typeof all)[number]) => {
          item.isOver = true
          item.entered.leave()
        }
        for (const each of steps) {
          if ('bytes' in each)
            all.push({
              bytes: each.bytes,
              line: `${each.accountId}${each.bytes > 16 * KIB}`,
              entered: enter(each.bytes, each.accountId),
              isOver: false,
            })
          else if ('leave' in each) {
            const open = running()
            if (open.length > 0) leave(open[each.leave % open.length]!)
          } else await clock.advance(each.advanceMs)
          await clock.settle()
          for (const line of new Set(all.map((item) => item.line))) {
            const sum = running(line).reduce((total, { bytes }) => total + bytes, 0)
            expect(sum).toBeLessThanOrEqual(MIB)
            const waiting = all.filter((item) => item.line === line && item.entered.isAdmitted === undefined)
            // Nobody waits for nothing.
            if (waiting.length > 0) expect(sum + waiting[0]!.bytes).toBeGreaterThan(MIB)
          }
        }
        while (running().length > 0) {
          leave(running()[0]!)
          await clock.settle()
        }
        expect(all.every(({ entered }) => entered.isAdmitted !== undefined)).toBe(true)
        expect(clock.sleepers().count).toBe(0)
      }),
      { numRuns: 60 },
    )
  })
})

describe('a body', () => {
  it('is read at once unless publishes of its account and client wait', async () => {
    const { clock, enter, arrive } = createHarness()
    expect(arrive(MIB).waits).toBe(false)
    enter(MIB)
    await clock.settle()
    expect(arrive(MIB).waits).toBe(false)
    enter(MIB)
    expect(arrive(17 * KIB).waits).toBe(true)
    expect(arrive(16 * KIB).waits).toBe(false)
    expect(arrive(MIB, 'a', 'another token').waits).toBe(false)
    expect(arrive(MIB, 'b').waits).toBe(false)
  })

  it('that waits is read when less than 1 MiB of others waits or is read, in order', async () => {
    const { clock, enter, arrive } = createHarness()
    const running = [enter(MIB), enter(700 * KIB)]
    await clock.settle()
    const unread = [arrive(600 * KIB), arrive(500 * KIB), arrive(17 * KIB)]
    const mayRead = () => unread.map((arrived) => arrived.mayRead)
    running[0]!.leave()
    await clock.settle()
    expect(mayRead()).toEqual([true, undefined, undefined])
    // One that comes now waits behind them, although no body waits to be parsed.
    expect(arrive(17 * KIB).waits).toBe(true)
    unread[0]!.end()
    await clock.settle()
    expect(mayRead()).toEqual([true, true, true])
  })

  it('that waits is refused after 10 s', async () => {
    const { clock, enter, arrive } = createHarness()
    enter(MIB)
    const waiting = enter(MIB)
    await clock.advance(5_000)
    const unread = arrive(MIB)
    await clock.advance(5_000)
    expect([waiting.isAdmitted, unread.mayRead]).toEqual([false, true])
    enter(MIB)
    const late = arrive(MIB)
    await clock.advance(9_999)
    expect(late.mayRead).toBe(undefined)
    await clock.advance(1)
    expect(late.mayRead).toBe(false)
    // Both have given up their places.
    late.end()
    unread.end()
  })

  it('whose client has gone gives up its place', async () => {
    const { clock, enter, arrive } = createHarness()
    const running = enter(MIB)
    enter(MIB)
    await clock.settle()
    const gone = arrive(MIB)
    const next = arrive(MIB)
    gone.end()
    await clock.settle()
    expect(gone.mayRead).toBe(false)
    running.leave()
    const goneWhileReady = arrive(MIB)
    goneWhileReady.end()
    await clock.settle()
    expect(next.mayRead).toBe(true)
    next.end()
    next.end()
    await clock.settle()
    expect(arrive(MIB).waits).toBe(false)
  })

  it('is refused at once if 500 wait', async () => {
    const { clock, enter, arrive } = createHarness()
    const running = enter(MIB)
    enter(MIB)
    await clock.settle()
    const unread = Array.from({ length: 500 }, () => arrive(MIB))
    const above = Array.from({ length: 10 }, () => arrive(MIB))
    await clock.settle()
    expect(unread.some(({ mayRead }) => mayRead !== undefined)).toBe(false)
    expect(above.map(({ mayRead }) => mayRead)).toEqual(Array(10).fill(false))
    running.leave()
    await clock.settle()
    expect(unread[0]!.mayRead).toBe(true)
    unread[0]!.end()
    await clock.settle()
    expect(arrive(MIB).mayRead).toBe(undefined)
  })
})
