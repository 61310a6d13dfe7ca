/** Something that values are drawn from: an `Arbitrary` of fast-check. */
export type Arbitrary = object

/** What is used of fast-check: `import fc from 'fast-check'` fits as it is. */
export interface PropertyChecker {
  integer(bounds: { min: number; max: number }): Arbitrary
  double(bounds: { min: number; max: number; maxExcluded: boolean; noNaN: boolean }): Arbitrary
  constantFrom(...values: unknown[]): Arbitrary
  oneof(...drawn: Arbitrary[]): Arbitrary
  record(fields: Record<string, Arbitrary>): Arbitrary
  array(one: Arbitrary, bounds: { minLength: number; maxLength: number }): Arbitrary
  property(one: Arbitrary, holds: (drawn: never) => void): object
  assert(property: object, parameters: { numRuns: number }): unknown
}
