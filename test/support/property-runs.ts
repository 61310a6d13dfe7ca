/**
 * Number of examples of a property test: `thorough` in `npm run test:all` and CI, at most 100 in `npm test`.
 * `PROPERTY_RUNS=N` sets it for one run.
 */
export function propertyRuns(thorough: number): number {
  const fixed = process.env.PROPERTY_RUNS
  if (fixed !== undefined) return Number(fixed)
  return process.env.THOROUGH ? thorough : Math.min(thorough, 100)
}
