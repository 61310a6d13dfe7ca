import { describe, expect, it } from 'vitest'
import {
  type DeliveryState,
  type DeliveryStep,
  isTerminal,
  LIFECYCLE,
  transition,
} from '../../src/delivery/lifecycle.js'

const STATES = Object.keys(LIFECYCLE) as DeliveryState[]
const STEPS: DeliveryStep[] = [
  'started',
  'succeeded',
  'failed',
  'retries_exhausted',
  'returned',
  'crash_looped',
  'expired',
  'cancelled',
]

/** The specification, independent of the code: state, step, next state. Everything else cannot happen. */
const ALLOWED = new Set([
  'waiting started in_flight',
  'waiting expired expired',
  'waiting cancelled cancelled',
  'in_flight succeeded delivered',
  'in_flight failed waiting',
  'in_flight retries_exhausted exhausted',
  'in_flight returned waiting',
  'in_flight crash_looped quarantined',
  'in_flight expired expired',
  'in_flight cancelled cancelled',
])

describe('the lifecycle of a delivery', () => {
  it('has exactly seven states', () => {
    expect(STATES.sort()).toEqual(
      ['cancelled', 'delivered', 'exhausted', 'expired', 'in_flight', 'quarantined', 'waiting'].sort(),
    )
  })

  for (const state of STATES) {
    for (const step of STEPS) {
      const target = transition(state, step)
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
