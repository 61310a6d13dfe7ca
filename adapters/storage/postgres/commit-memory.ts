/** What a store remembers of webhooks and calls between groups. */
import type { CallNumbers } from 'hookswitch/store'
import { LRUCache } from 'lru-cache'
import { callName } from './group-plan.js'

/** Webhooks and calls that are remembered. */
const MAX_REMEMBERED = 100_000

/** What the parts of a store remember of rows. */
export interface Memory {
  /** Keys of webhooks by id. Never reused. */
  readonly webhookKeys: LRUCache<string, number>
  /** Last numbers of calls, by `callName`. */
  readonly numbers: LRUCache<string, CallNumbers>
}

export const createMemory = (): Memory => ({
  webhookKeys: new LRUCache({ max: MAX_REMEMBERED }),
  numbers: new LRUCache({ max: MAX_REMEMBERED }),
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
