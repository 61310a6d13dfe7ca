import type { Answers } from './answers.js'
import type { Book } from './book.js'
import type { Findings } from './finding.js'
import type { Ledger, Publish } from './ledger.js'

/** What a run is judged by. */
export interface Evidence {
  readonly ledger: Ledger
  readonly book: Book
  readonly answers: Answers
  readonly findings: Findings
  /** Nothing went wrong: then nothing is repeated at all. */
  readonly isUntroubled: boolean
  /** Receivers that were healthy all the time. */
  readonly spotless: ReadonlySet<string>
  /** How long leases last. */
  readonly leaseMs: number
  fired(what: string): void
}

/** What is known of one event: all calls of `publish` under its key. */
export interface KnownEvent {
  readonly key: string
  readonly publishes: Publish[]
  id: string
  /** Those that have a delivery of it. */
  readonly webhooks: string[]
  /** A body of it that was found to be what was published: most receivers get the same. */
  body: string
  fromMs: number
  toMs: number
}
