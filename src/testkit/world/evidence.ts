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
}

/** What is known of one event: all calls of `publish` under its key. */
export interface KnownEvent {
  readonly key: string
  readonly publishes: Publish[]
  id: string
  fromMs: number
  toMs: number
}
