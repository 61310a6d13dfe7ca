/** The scope of a hold that concerns all accounts. No id of an account is like it. */
export const ALL_ACCOUNTS = '*'

/** The storage port of holds: deliveries that are accepted and not sent, until an operator releases them. */
export interface HoldStore {
  /** What is held: ids of accounts, and `*` for all; sorted by code points. */
  list(): Promise<readonly string[]>
  /** Holds a scope. Resolves to false if it was held already. */
  put(scope: string): Promise<boolean>
  /** Releases a scope. Resolves to false if it was not held. */
  remove(scope: string): Promise<boolean>
}
