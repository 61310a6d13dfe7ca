// @ts-check
/** Proving a retry policy of your own: properties over every kind of failure, and the course of one delivery. */
import { courseOf, provePolicy } from 'hookswitch/testkit'

/** @type {import('hookswitch').PolicyFunction} */
export function whileItMatters({ tries, status, roll }) {
  // Answers that a repetition will not change.
  if (status === 401 || status === 403) return null
  // A call is over in minutes: who asks for patience longer than that is not asked again.
  if (tries > 6) return null
  return 2_000 * 2 ** (tries - 1) * (1 + roll / 4)
}

/** @param {import('./node-test.js').Tools} tools */
export function run({ describe, it, fc, assert }) {
  provePolicy({ describe, it }, fc, whileItMatters, {
    capMs: 80_000,
    bounds: ({ tries }) => [1_000 * 2 ** tries, 1_250 * 2 ** tries],
    mostTries: 7,
    withinMs: 180_000,
  })

  describe('the course of a delivery', () => {
    it('goes on until it is delivered', () => {
      const { attempts, state } = courseOf(whileItMatters, ['connection', 503, 500], { roll: 0 })
      assert.equal(state, 'delivered')
      assert.deepEqual(
        attempts.map(({ afterMs, seen }) => `${afterMs / 1000} s: ${seen}`),
        ['0 s: connection', '2 s: status 503', '6 s: status 500', '14 s: status 200'],
      )
    })

    it('ends when the receiver forbids it', () => {
      const { attempts, state } = courseOf(whileItMatters, [500, 403])
      assert.deepEqual([attempts.length, state], [2, 'exhausted'])
    })
  })
}
