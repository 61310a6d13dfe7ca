/** Where an account may be in the tree. Stores check it in the transaction that writes the account. */
import { HookswitchError } from '../errors.js'
import type { AccountConditions } from './account-store.js'

/** What a store reads about an account's new place. */
export interface Placement {
  /** Number of accounts from the new parent up to the root; 0 without a parent. Stops at a cycle. */
  readonly parentDepth: number
  /** Whether the new parent is the account or below it. */
  readonly isBelowItself: boolean
  /** Levels of the account's subtree, at least 1; may stop counting behind `maxDepth`. */
  readonly height: number
}

/** The tree of accounts, read by id. */
export interface AccountTree {
  /** The id of the parent; `null` and `undefined`: there is none, or no such account. */
  parentOf(accountId: string): string | null | undefined
  /** The ids of the accounts directly below. */
  childrenOf(accountId: string): Iterable<string>
}

/** Whether a write must read a `Placement`. */
export function checksPlacement({ acyclic, maxDepth }: AccountConditions): boolean {
  return acyclic === true || maxDepth !== undefined
}

/** Reads the placement of an account by following ids. */
export function placementOf(
  tree: AccountTree,
  { id, parentId }: { readonly id: string; readonly parentId?: string | null | undefined },
  { maxDepth = 0 }: AccountConditions,
): Placement {
  const ancestors = new Set<string>()
  for (let at = parentId ?? undefined; at !== undefined && !ancestors.has(at); ) {
    ancestors.add(at)
    at = tree.parentOf(at) ?? undefined
  }
  let height = 1
  for (let level = [id]; height <= maxDepth; height += 1) {
    level = level.flatMap((above) => [...tree.childrenOf(above)])
    if (level.length === 0) break
  }
  return { parentDepth: ancestors.size, isBelowItself: ancestors.has(id), height }
}

/**
 * Checks the place of an account before it is written.
 *
 * @throws `Conflict` (field `parentId`: below itself; `depth`: too many levels)
 */
export function assertPlacement(
  { parentDepth, isBelowItself, height }: Placement,
  { acyclic, maxDepth }: AccountConditions,
): void {
  if (acyclic && isBelowItself) {
    throw new HookswitchError('Conflict', 'an account cannot be below itself', { field: 'parentId' })
  }
  if (maxDepth !== undefined && parentDepth + height > maxDepth) {
    throw new HookswitchError('Conflict', `an account can be at most ${maxDepth} levels deep`, {
      field: 'depth',
    })
  }
}
