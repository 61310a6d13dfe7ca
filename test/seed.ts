import fc from 'fast-check'

/**
 * The seed of all property tests: fixed where nobody watches (CI), so that a red run is red again; anew on each run
 * elsewhere, so that properties go on finding things. A failure prints its own. `FC_SEED=N npm test` repeats a run.
 */
const FIXED_SEED = 20_261_120
const given = process.env.FC_SEED
const seed = given === undefined ? (process.env.CI ? FIXED_SEED : undefined) : Number(given)
if (seed !== undefined) fc.configureGlobal({ seed })
