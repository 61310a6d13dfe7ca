import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergedWalk } from '../../../src/store/memory/merge.js'
import {
  append,
  createPositionLog,
  insert,
  oldest,
  removeAt,
  valueAt,
  walk,
} from '../../../src/store/memory/position-log.js'

const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ gap: fc.integer({ min: 1, max: 3 }) }) },
    { weight: 2, arbitrary: fc.record({ remove: fc.nat() }) },
    { weight: 2, arbitrary: fc.constant('removeOldest' as const) },
    { weight: 1, arbitrary: fc.record({ before: fc.nat(20) }) },
  ),
  { maxLength: 300 },
)

/** Applies actions to a log and to a sorted array, the model. */
function applyActions(actions: typeof steps extends fc.Arbitrary<infer T> ? T : never) {
  const log = createPositionLog<string>()
  let model: number[] = []
  let position = 0
  for (const action of actions) {
    if (action !== 'removeOldest' && 'gap' in action) {
      position += action.gap
      append(log, position, `at ${position}`)
      model.push(position)
      continue
    }
    if (action !== 'removeOldest' && 'before' in action) {
      const place = Math.max(1, position - action.before)
      position = Math.max(position, place)
      if (model.includes(place)) continue
      insert(log, place, `at ${place}`)
      model = [...model, place].sort((a, b) => a - b)
      continue
    }
    const gone = action === 'removeOldest' ? model[0] : action.remove % (position + 2)
    const known = gone !== undefined && model.includes(gone)
    expect(gone === undefined ? undefined : removeAt(log, gone)).toBe(known ? `at ${gone}` : undefined)
    model = model.filter((place) => place !== gone)
  }
  return { log, model, last: position }
}

describe('the position log', () => {
  it('contains exactly what was appended and not removed', () => {
    fc.assert(
      fc.property(steps, (actions) => {
        const { log, model, last } = applyActions(actions)
        expect(log.size).toBe(model.length)
        expect(oldest(log)).toBe(model[0])
        for (let place = 0; place <= last + 1; place += 1) {
          expect(valueAt(log, place)).toBe(model.includes(place) ? `at ${place}` : undefined)
        }
        expect([...walk(log, true)].map(([place]) => place)).toEqual(model)
        expect([...walk(log, false)].map(([place]) => place)).toEqual([...model].reverse())
      }),
    )
  })

  it('can be walked from any position in both directions, excluding that position', () => {
    fc.assert(
      fc.property(steps, fc.nat(400), (actions, cursor) => {
        const { log, model } = applyActions(actions)
        const up = [...walk(log, true, cursor)].map(([place]) => place)
        const down = [...walk(log, false, cursor)].map(([place]) => place)
        expect(up).toEqual(model.filter((place) => place > cursor))
        expect(down).toEqual(model.filter((place) => place < cursor).reverse())
      }),
    )
  })

  it('compacts removed entries', () => {
    const log = createPositionLog<number>()
    for (let position = 0; position < 100_000; position += 1) {
      append(log, position, position)
      if (log.size > 100) removeAt(log, oldest(log)!)
    }
    expect(log.values.length).toBeLessThan(300)
    expect(log.positions.length).toBe(log.values.length)
  })

  it('merges with other logs into one order', () => {
    const logs = fc.array(fc.array(fc.nat(2), { maxLength: 30 }), { maxLength: 6 })
    fc.assert(
      fc.property(
        logs,
        fc.boolean(),
        fc.option(fc.nat(200), { nil: undefined }),
        (shape, ascending, cursor) => {
          const made = shape.map(() => createPositionLog<number>())
          const all: number[] = []
          let position = 0
          for (let round = 0; round < 30; round += 1) {
            for (const [index, gaps] of shape.entries()) {
              const gap = gaps[round]
              if (gap === undefined) continue
              position += gap + 1
              append(made[index]!, position, position)
              all.push(position)
            }
          }
          const after = all.filter(
            (place) => cursor === undefined || (ascending ? place > cursor : place < cursor),
          )
          const expected = ascending ? after : after.reverse()
          expect([...mergedWalk(made, ascending, cursor)].map(([place]) => place)).toEqual(expected)
        },
      ),
    )
  })
})
