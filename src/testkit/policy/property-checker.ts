/** A generator of random values: an `Arbitrary` of fast-check. */
export type Arbitrary = object

/** The part of fast-check that `provePolicy` uses: pass `fc` from `import fc from 'fast-check'`. */
export interface PropertyChecker {
  /** Whole numbers between the bounds, inclusive. */
  integer(bounds: { min: number; max: number }): Arbitrary
  /** Numbers between the bounds. */
  double(bounds: { min: number; max: number; maxExcluded: boolean; noNaN: boolean }): Arbitrary
  /** One of these values. */
  constantFrom(...values: unknown[]): Arbitrary
  /** A value of one of these arbitraries. */
  oneof(...arbitraries: Arbitrary[]): Arbitrary
  /** An object with these fields. */
  record(fields: Record<string, Arbitrary>): Arbitrary
  /** An array of such elements. */
  array(element: Arbitrary, bounds: { minLength: number; maxLength: number }): Arbitrary
  /** A property; `predicate` throws if it does not hold. */
  property(arbitrary: Arbitrary, predicate: (value: never) => void): object
  /** Checks a property, and throws a report if it does not hold. */
  assert(property: object, parameters: { numRuns: number }): unknown
}
