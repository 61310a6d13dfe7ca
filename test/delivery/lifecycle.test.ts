import { describe, expect, it } from 'vitest'
import {
  after,
  type DeliveryState,
  type DeliveryStep,
  isTerminal,
  LIFECYCLE,
} from '../../src/delivery/lifecycle.js'

const STATES = Object.keys(LIFECYCLE) as DeliveryState[]
const STEPS: DeliveryStep[] = [
  'claimed',
  'succeeded',
  'failed',
  'spent',
  'returned',
  'poisoned',
  'aged',
  'withdrawn',
]

/** The promise, written down apart from the code: state, step, state. Everything else cannot happen. */
const ALLOWED = new Set([
  'waiting claimed in_flight',
  'waiting aged expired',
  'waiting withdrawn cancelled',
  'in_flight succeeded delivered',
  'in_flight failed waiting',
  'in_flight spent exhausted',
  'in_flight returned waiting',
  'in_flight poisoned quarantined',
  'in_flight aged expired',
  'in_flight withdrawn cancelled',
])

describe('the lifecycle of a delivery', () => {
  it('has exactly the seven states', () => {
    expect(STATES.sort()).toEqual(
      ['cancelled', 'delivered', 'exhausted', 'expired', 'in_flight', 'quarantined', 'waiting'].sort(),
    )
  })

  for (const state of STATES) {
    for (const step of STEPS) {
      const target = after(state, step)
      const row = [...ALLOWED].find((line) => line.startsWith(`${state} ${step} `))
      it(`${state} + ${step} ${row ? `leads to ${row.split(' ')[2]}` : 'cannot happen'}`, () => {
        expect(target).toBe(row?.split(' ')[2])
      })
    }
  }

  it('never leaves a terminal state', () => {
    for (const state of STATES) expect(Object.keys(LIFECYCLE[state]).length === 0).toBe(isTerminal(state))
  })
})
