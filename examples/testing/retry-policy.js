// @ts-check
/** Tests a custom retry policy: properties for every kind of failure, and one delivery step by step. Run by node-test.js. */
import { provePolicy, simulateRetries } from 'hookswitch/testkit'

/** @type {import('hookswitch').PolicyFunction} */
export function whileItMatters({ tries, status, random }) {
  // A retry would get the same response.
  if (status === 401 || status === 403) return null
  // Calls end within minutes: later deliveries are useless.
  if (tries > 6) return null
  return 2_000 * 2 ** (tries - 1) * (1 + random / 4)
}

/** @param {import('./node-test.js').Tools} tools */
export function run({ describe, it, fc, assert }) {
  provePolicy({ describe, it }, fc, whileItMatters, {
    capMs: 80_000,
    bounds: ({ tries }) => [1_000 * 2 ** tries, 1_250 * 2 ** tries],
    maxTries: 7,
    withinMs: 180_000,
  })

  describe('a delivery with this policy', () => {
    it('is retried until it succeeds', () => {
      const { attempts, state } = simulateRetries(whileItMatters, ['connection', 503, 500], { random: 0 })
      assert.equal(state, 'delivered')
      assert.deepEqual(
        attempts.map(({ afterMs, outcome }) => `${afterMs / 1000} s: ${outcome}`),
        ['0 s: connection', '2 s: status 503', '6 s: status 500', '14 s: status 200'],
      )
    })

    it('ends at a 403', () => {
      const { attempts, state } = simulateRetries(whileItMatters, [500, 403])
      assert.deepEqual([attempts.length, state], [2, 'exhausted'])
    })
  })
}
