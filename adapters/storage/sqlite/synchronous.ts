/** The methods of a store door without their promises. */
export type Synchronous<Door> = {
  readonly [Name in keyof Door]: Door[Name] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : Door[Name]
}
