/** What a store remembers of webhooks and calls between groups. */
import type { CallNumbers } from 'hookswitch/store'
import { LRUCache } from 'lru-cache'
import { callName } from './group-plan.js'

/** 100,000 webhooks and calls each. Not `max`, which allocates all of it at once. */
const LIMIT = { maxSize: 100_000, sizeCalculation: () => 1 }

/** What the parts of a store remember of rows. */
export interface Memory {
  /** Keys of webhooks by id. Never reused. */
  readonly webhookKeys: LRUCache<string, number>
  /** Last numbers of calls, by `callName`. */
  readonly numbers: LRUCache<string, CallNumbers>
}

export const createMemory = (): Memory => ({
  webhookKeys: new LRUCache(LIMIT),
  numbers: new LRUCache(LIMIT),
})

export function rememberNumber(
  { numbers }: Memory,
  accountId: string,
  callId: string,
  sequence: number,
): CallNumbers {
  const name = callName(accountId, callId)
  const known = numbers.get(name)
  if (known?.sequence === sequence) return known
  // Another node has accepted events since, or they are gone.
  const found = { sequence, node: -1 }
  numbers.set(name, found)
  return found
}
