/**
 * The output of every mapping: one format between a switch and the event pipeline. Mappings decide what a message means;
 * connections, publishing and the clock are left to others.
 */
import type { ChannelEvent } from 'hookswitch'

/**
 * A channel event without its account, which may not be known yet. Its `idempotencyKey` is derived from the ids of the
 * switch.
 */
export type PendingEvent = Omit<ChannelEvent, 'accountId'> & {
  /** When it happened at the switch, Unix milliseconds. */
  readonly timestampMs: number
}

/** What one message of the switch says about one leg. */
export interface LegUpdate {
  /** The leg. */
  readonly callId: string
  /** Its account; once known, every later update of the leg has it. */
  readonly accountId: string | undefined
  /** Events in order; empty where only the account is new. */
  readonly events: readonly PendingEvent[]
  /** Whether this is the last update of the leg. */
  readonly isEnded: boolean
}

/** Something that could not be mapped, or that the host should know. Everything else continues. */
export interface Problem {
  /**
   * `malformed`: a message that cannot be parsed. `overflow`: more open legs than `maxOpenLegs`; the oldest is dropped.
   * `callback_failed`: the host's `accountOf` threw or did not return a string, which counts as not known yet (or its
   * `continueWith` threw). `unknown_leg`: the end of a leg whose begin was not seen. `lost`: a connection for one leg was
   * lost before the leg ended. `refused`: an incoming connection was refused. `truncated`: a value was too long for an
   * event, which has the beginning of it, or not that variable. `restarted`: the switch was restarted, which ended its calls.
   * `clock`: the clock of the switch was changed during a call. `misconfigured`: a setting of the switch withholds something.
   */
  readonly kind:
    | 'malformed'
    | 'overflow'
    | 'callback_failed'
    | 'unknown_leg'
    | 'lost'
    | 'refused'
    | 'truncated'
    | 'restarted'
    | 'clock'
    | 'misconfigured'
  /** The reason in one sentence, without secrets. */
  readonly message: string
  /** The leg, where the problem concerns one. */
  readonly callId?: string
}

/** Everything that one message of the switch yields. */
export interface MappedBatch {
  readonly updates: readonly LegUpdate[]
  readonly problems: readonly Problem[]
}

/** The result of a message that concerns no leg. */
export const EMPTY_BATCH: MappedBatch = Object.freeze({
  updates: Object.freeze([]),
  problems: Object.freeze([]),
})
