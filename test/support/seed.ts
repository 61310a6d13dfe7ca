import fc from 'fast-check'

/**
 * The seed of all property tests: fixed in CI, so that a failure is reproducible; random elsewhere, so that each run tries
 * new examples. A failure prints its seed; `FC_SEED=N npm test` repeats it.
 */
const FIXED_SEED = 20_261_120
const chosen = process.env.FC_SEED
const seed = chosen === undefined ? (process.env.CI ? FIXED_SEED : undefined) : Number(chosen)
if (seed !== undefined) fc.configureGlobal({ seed })
