/**
 * What every mapping makes of what its switch says: the one shape between a switch and the service. A mapping knows
 * nothing of connections, of publishing and of the clock.
 */
import type { ChannelEvent } from 'hookswitch'

/** A channel event whose account may not be known yet; its `idempotencyKey` is made of the switch's own ids. */
export type ChannelDraft = Omit<ChannelEvent, 'accountId'> & { readonly timestampMs: number }

/** What one message of the switch says of one leg. */
export interface LegNews {
  /** The leg. */
  readonly callId: string
  /** Its account; once it is known, every later news of the leg has it. */
  readonly accountId: string | undefined
  /** What happened, in order; empty: the account alone is new. */
  readonly drafts: readonly ChannelDraft[]
  /** Nothing of this leg comes any more. */
  readonly ended: boolean
}

/** What could not be mapped, or is worth telling. Everything else goes on. */
export interface Problem {
  /**
   * `malformed`: a message that cannot be read. `overflow`: more open legs than `maxOpenLegs`, the oldest is
   * forgotten. `account_of_threw`: the host's `accountOf` threw, or returned no text, which counts
   * as not known yet (or its `goOnWith` threw).
   * `unknown_leg`: the end of a leg whose begin was not seen. `lost`: a connection for one leg, before its end.
   * `refused`: somebody's connection to us.
   */
  readonly kind: 'malformed' | 'overflow' | 'account_of_threw' | 'unknown_leg' | 'lost' | 'refused'
  /** One sentence, without secrets. */
  readonly message: string
  readonly callId?: string
}

/** All that one message of the switch says. */
export interface Mapped {
  readonly news: readonly LegNews[]
  readonly problems: readonly Problem[]
}

/** What a message says that concerns nobody. */
export const NOTHING: Mapped = Object.freeze({ news: Object.freeze([]), problems: Object.freeze([]) })

type Present<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

/** The entries that have a value. */
export function present<T extends object>(entries: T): Present<T> {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as Present<T>
}
