/** A policy with `baseMs: 0` waited NaN milliseconds once its factor had overflowed to Infinity. */
import { exponential } from 'hookswitch'
import { expect, it } from 'vitest'
import { backoffMs } from '../../src/delivery/backoff.js'

it('a base delay of 0 stays 0 for any number of tries', () => {
  const policy = exponential({ baseMs: 0, factor: 100, capMs: 5000 })
  expect([1, 2, 155, 500].map((tries) => backoffMs(policy, tries, 0.5))).toEqual([0, 0, 0, 0])
})
