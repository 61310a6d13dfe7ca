/** An object whose fields may be `undefined`, without those that are. */
export type Defined<T> = { readonly [Key in keyof T]: Exclude<T[Key], undefined> }

/** Returns a copy without the fields that are `undefined`: they count as absent. */
export function defined<T extends object>(given: T): Defined<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<T>
}
