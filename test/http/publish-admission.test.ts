/** How much of the publishes of one client is held, and who waits for it. */
import fc from 'fast-check'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { createPublishAdmission } from '../../src/http/publish-admission.js'

const KIB = 1_024
const MIB = 1_048_576

interface Entered {
  /** `undefined`: it waits. */
  isAdmitted: boolean | undefined
  /** Of a refusal. */
  afterMs: number | undefined
  leave(): void
}

function createHarness() {
  const clock = manualClock()
  const admission = createPublishAdmission(clock)
  return {
    clock,
    enter(bytes: number, accountId = 'a', clientId = accountId): Entered {
      const entered: Entered = { isAdmitted: undefined, afterMs: undefined, leave() {} }
      void admission(clientId, accountId, bytes).then((result) => {
        entered.isAdmitted = result.leave !== undefined
        if (result.leave) entered.leave = result.leave
        else entered.afterMs = result.afterMs
      })
      return entered
    },
  }
}

const statesOf = (all: readonly Entered[]) => all.map(({ isAdmitted }) => isAdmitted)
const times = <Item>(count: number, create: (index: number) => Item) =>
  Array.from({ length: count }, (_, index) => create(index))

describe('publishes in one account', () => {
  it('are worked on together up to 256 KiB, and the others wait in order', async () => {
    const { clock, enter } = createHarness()
    const all = [enter(128 * KIB), enter(128 * KIB), enter(17 * KIB), enter(200 * KIB), enter(17 * KIB)]
    await clock.settle()
    expect(statesOf(all)).toEqual([true, true, undefined, undefined, undefined])
    all[0]!.leave()
    await clock.settle()
    // The second that waits is too large, and nobody passes it.
    const last = enter(17 * KIB)
    await clock.settle()
    expect(statesOf([...all, last])).toEqual([true, true, true, undefined, undefined, undefined])
    all[1]!.leave()
    await clock.settle()
    expect(statesOf([...all, last])).toEqual([true, true, true, true, true, true])
  })

  it('do not wait for those in another account, of this client or another', async () => {
    const { clock, enter } = createHarness()
    const all = [enter(MIB), enter(MIB), enter(MIB, 'b', 'a'), enter(MIB, 'b'), enter(MIB, 'b')]
    await clock.settle()
    expect(statesOf(all)).toEqual([true, undefined, true, true, undefined])
  })

  it('up to 16 KiB do not wait for larger ones, and are worked on together up to 1 MiB', async () => {
    const { clock, enter } = createHarness()
    const large = [enter(MIB), enter(16 * KIB + 1)]
    const small = times(65, () => enter(16 * KIB))
    await clock.settle()
    expect(statesOf(large)).toEqual([true, undefined])
    expect(statesOf(small)).toEqual([...Array(64).fill(true), undefined])
    small[0]!.leave()
    await clock.settle()
    expect(small[64]!.isAdmitted).toBe(true)
  })

  it('wait up to 8 MiB, above which one is refused at once', async () => {
    const { clock, enter } = createHarness()
    const [running, ...waiting] = times(9, () => enter(MIB))
    const above = times(80, () => enter(17 * KIB))
    const others = [enter(MIB, 'b'), enter(MIB, 'b'), enter(MIB, 'c', 'a'), enter(MIB, 'c', 'a')]
    await clock.settle()
    expect(statesOf(waiting)).toEqual(Array(8).fill(undefined))
    expect(statesOf(above)).toEqual(Array(80).fill(false))
    expect(statesOf(others)).toEqual([true, undefined, true, undefined])
    running!.leave()
    await clock.settle()
    const next = enter(MIB)
    const after = enter(17 * KIB)
    await clock.settle()
    expect(statesOf([waiting[0]!, next, after])).toEqual([true, undefined, false])
  })

  it('wait for 10 s', async () => {
    const { clock, enter } = createHarness()
    const first = enter(200 * KIB)
    const second = enter(MIB)
    await clock.advance(1_000)
    const third = enter(50 * KIB)
    await clock.advance(8_999)
    expect(statesOf([first, second, third])).toEqual([true, undefined, undefined])
    await clock.advance(1)
    // The third fits beside the first.
    expect(statesOf([first, second, third])).toEqual([true, false, true])
    for (const _ of times(3, String)) {
      const waiting = times(8, () => enter(MIB))
      await clock.advance(9_999)
      expect(statesOf(waiting)).toEqual(Array(8).fill(undefined))
      await clock.advance(1)
      expect(statesOf(waiting)).toEqual(Array(8).fill(false))
    }
    expect(clock.sleepers().count).toBe(0)
  })
})

describe('publishes of one client', () => {
  it('are worked on together up to 4 MiB, and its accounts take turns', async () => {
    const { clock, enter } = createHarness()
    const running = times(4, (index) => enter(MIB, `r${index}`, 'client'))
    const waiting = ['a', 'a', 'a', 'b', 'b', 'c'].map((id) => enter(200 * KIB, id, 'client'))
    const other = enter(MIB, 'a', 'other')
    await clock.settle()
    expect(statesOf([...running, other])).toEqual(Array(5).fill(true))
    expect(statesOf(waiting)).toEqual(Array(6).fill(undefined))
    running[0]!.leave()
    await clock.settle()
    // One of each account: the next of a and b wait for their accounts.
    expect(statesOf(waiting)).toEqual([true, undefined, undefined, true, undefined, true])
    waiting[0]!.leave()
    await clock.settle()
    expect(statesOf(waiting)).toEqual([true, true, undefined, true, undefined, true])
  })

  it('that are large are not passed while they wait for other accounts of the client', async () => {
    const { clock, enter } = createHarness()
    const running = times(7, (index) => enter(500 * KIB, `r${index}`, 'client'))
    const large = enter(MIB, 'large', 'client')
    const small = enter(50 * KIB, 'small', 'client')
    await clock.settle()
    expect(statesOf([large, small])).toEqual([undefined, undefined])
    running[0]!.leave()
    await clock.settle()
    expect(statesOf([large, small])).toEqual([true, true])
    const next = [enter(MIB, 'large', 'client'), enter(17 * KIB, 'other', 'client')]
    await clock.settle()
    // The second of an account waits for the first, and nobody of another account for it.
    expect(statesOf(next)).toEqual([undefined, true])
  })

  it('in one account that is busy do not hold up those in others', async () => {
    const { clock, enter } = createHarness()
    enter(200 * KIB, 'busy', 'client')
    times(3, (index) => enter(MIB, `r${index}`, 'client'))
    const last = enter(600 * KIB, 'last', 'client')
    const busy = enter(200 * KIB, 'busy', 'client')
    const other = enter(500 * KIB, 'other', 'client')
    await clock.settle()
    expect(statesOf([busy, other])).toEqual([undefined, undefined])
    last.leave()
    await clock.settle()
    expect(statesOf([busy, other])).toEqual([undefined, true])
  })

  it('wait up to 32 MiB, above which each account may have 256 KiB, or one body', async () => {
    const { clock, enter } = createHarness()
    const waiting = times(5, (index) => times(9, () => enter(MIB, `a${index}`, 'client')))
    await clock.settle()
    const states = waiting.flatMap(statesOf)
    // The fifth account has one that waits.
    expect(states.filter((state) => state === undefined).length).toBe(33)
    expect(states.filter((state) => state === true).length).toBe(4)
    const innocent = ['b', 'c'].map((id) => times(5, () => enter(64 * KIB, id, 'client')))
    const large = times(2, () => enter(MIB, 'd', 'client'))
    const others = [enter(MIB, 'e'), enter(MIB, 'e')]
    await clock.settle()
    for (const account of innocent) expect(statesOf(account)).toEqual([...Array(4).fill(undefined), false])
    expect(statesOf(large)).toEqual([undefined, false])
    expect(statesOf(others)).toEqual([true, undefined])
  })

  it('wait in one account while 64 MiB of all wait, up to 128 MiB, small ones apart', async () => {
    const { clock, enter } = createHarness()
    const full = times(8, (index) => times(9, () => enter(MIB, `full-${index}`))).flat()
    const late = ['b', 'c'].map((id) => [enter(MIB, id), enter(MIB, id), enter(17 * KIB, id)])
    const small = times(600, () => enter(2_000, 'd'))
    await clock.settle()
    expect(statesOf(full)).not.toContain(false)
    for (const account of late) expect(statesOf(account)).toEqual([true, undefined, false])
    expect(statesOf(small)).not.toContain(false)
    const many = times(70, (index) => times(2, () => enter(MIB, `many-${index}`)))
    await clock.settle()
    expect(many.filter(([, second]) => second!.isAdmitted === undefined).length).toBe(62)
    expect(many.filter(([, second]) => second!.isAdmitted === false).length).toBe(8)
    for (const { leave } of [...full, ...many.flat()]) leave()
    await clock.settle()
    const below = [enter(17 * KIB, 'b'), enter(17 * KIB, 'b')]
    await clock.settle()
    expect(statesOf(below)).toEqual([undefined, undefined])
  })
})

it('publishes are never above their bounds, and all are answered', async () => {
  const step = fc.oneof(
    fc.record({
      bytes: fc.oneof(fc.integer({ min: 1, max: 300 * KIB }), fc.integer({ min: 1, max: MIB })),
      accountId: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      clientId: fc.constantFrom('x', 'x', 'x', 'y'),
    }),
    fc.record({ leave: fc.nat() }),
    fc.record({ advanceMs: fc.integer({ min: 0, max: 6_000 }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 100 }), async (steps) => {
      const { clock, enter } = createHarness()
      const all: { bytes: number; client: string; line: string; entered: Entered; isOver: boolean }[] = []
      const running = () => all.filter(({ entered, isOver }) => entered.isAdmitted === true && !isOver)
      const sumOf = (items: typeof all) => items.reduce((sum, { bytes }) => sum + bytes, 0)
      for (const each of steps) {
        if ('bytes' in each) {
          const { bytes, accountId, clientId } = each
          const client = `${clientId}${bytes > 16 * KIB}`
          const entered = enter(bytes, accountId, clientId)
          all.push({ bytes, client, line: `${accountId}${client}`, entered, isOver: false })
          const waiting = all.filter(
            (item) => item.entered.isAdmitted === undefined && item.client === client,
          )
          await clock.settle()
          if (sumOf(waiting) <= MIB) expect(entered.isAdmitted).not.toBe(false)
        } else if ('leave' in each) {
          const open = running()
          const left = open[each.leave % open.length]
          if (left) {
            left.isOver = true
            left.entered.leave()
          }
        } else await clock.advance(each.advanceMs)
        await clock.settle()
        const waiting = all.filter(({ entered }) => entered.isAdmitted === undefined)
        for (const line of new Set(all.map((item) => item.line))) {
          const ofLine = running().filter((item) => item.line === line)
          if (ofLine.length > 1)
            expect(sumOf(ofLine)).toBeLessThanOrEqual(line.endsWith('true') ? 256 * KIB : MIB)
        }
        for (const client of new Set(all.map((item) => item.client))) {
          const ofClient = running().filter((item) => item.client === client)
          if (ofClient.length > 1) expect(sumOf(ofClient)).toBeLessThanOrEqual(4 * MIB)
          // Nobody waits for nothing: the first of each account waits for its account, or one of them for the client.
          const firsts = waiting.filter(
            (item, index) =>
              item.client === client && waiting.findIndex(({ line }) => line === item.line) === index,
          )
          const ready = firsts.filter(({ line, bytes }) => {
            const ofLine = running().filter((item) => item.line === line)
            return ofLine.length === 0 || sumOf(ofLine) + bytes <= (line.endsWith('true') ? 256 * KIB : MIB)
          })
          const isFull = ready.some(({ bytes }) => ofClient.length > 0 && sumOf(ofClient) + bytes > 4 * MIB)
          if (!isFull) expect(ready).toEqual([])
        }
      }
      while (running().length > 0) {
        const [next] = running()
        next!.isOver = true
        next!.entered.leave()
        await clock.settle()
      }
      expect(all.every(({ entered }) => entered.isAdmitted !== undefined)).toBe(true)
      expect(clock.sleepers().count).toBe(0)
    }),
    { numRuns: 60 },
  )
})

describe('a refusal', () => {
  it('is answered 20 ms after the one before of the same account, at most 5 s later', async () => {
    const { clock, enter } = createHarness()
    for (const id of ['a', 'b']) times(9, () => enter(MIB, id))
    const refuse = async (count: number, accountId: string) => {
      const refused = times(count, () => enter(MIB, accountId))
      await clock.settle()
      return refused.map(({ afterMs }) => afterMs)
    }
    expect(await refuse(3, 'a')).toEqual([20, 40, 60])
    expect(await refuse(2, 'b')).toEqual([20, 40])
    await clock.advance(50)
    expect(await refuse(1, 'a')).toEqual([30])
    expect((await refuse(600, 'a')).slice(-300)).toEqual(Array(300).fill(5_000))
    await clock.advance(6_000)
    expect(await refuse(1, 'a')).toEqual([20])
  })

  it('of a body that has waited is answered at once', async () => {
    const { clock, enter } = createHarness()
    enter(MIB)
    const late = enter(MIB)
    await clock.advance(10_000)
    expect([late.isAdmitted, late.afterMs]).toEqual([false, 0])
  })
})
