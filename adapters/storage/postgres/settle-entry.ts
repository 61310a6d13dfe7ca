import type { Settlement } from 'hookswitch/store'

/** One settlement of a group. */
export interface Entry {
  readonly settlement: Settlement
  /** Store time, ms. */
  readonly now: number
}

/** One whose node owns the shard. */
export interface OwnedEntry extends Entry {
  readonly of: Entry
  /** Of its webhook. */
  readonly key: number
}
