/** A policy with `baseMs: 0` waited NaN milliseconds once its factor had grown beyond what a number can hold. */
import { backoffMs, exponential } from 'hookswitch'
import { expect, it } from 'vitest'

it('a delay of no time stays no time, however often it is multiplied', () => {
  const policy = exponential({ baseMs: 0, factor: 100, capMs: 5000 })
  expect([1, 2, 155, 500].map((tries) => backoffMs(policy, tries, 0.5))).toEqual([0, 0, 0, 0])
})
