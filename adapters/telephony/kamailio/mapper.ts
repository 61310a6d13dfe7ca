/** The mapping alone, for hosts who read and publish by themselves. */
import type { ChannelEvent } from 'hookswitch'
import { accountHold } from '../source/account-hold.js'
import type { Problem as MappingProblem } from '../source/leg-news.js'
import { callable, SOURCE_DEFAULTS, whole, wrong } from '../source/options.js'
import type { KamailioAccountOf } from './accounts.js'
import { kamailioMapping } from './mapping.js'
import { MAX_CALL_MS, maxCallMsCheck } from './options.js'

/** What could not be mapped. The line, or the call, is left out; everything else goes on. */
export type Problem =
  | MappingProblem
  /** No account became known for the call: nothing of it is published. */
  | { readonly kind: 'unknown_account'; readonly message: string; readonly callId: string }

/** Options of `kamailioMapper`. */
export interface KamailioMapperOptions {
  /**
   * The id of the account that a call belongs to, asked with every line until it is told; `accountByDomain` is a
   * ready one. Events wait for it. A call that ends without one is reported, and nothing of it is published.
   */
  readonly accountOf: KamailioAccountOf
  /** Most calls open at once; one more and the oldest is forgotten and reported. Default 100,000. */
  readonly maxOpenCalls?: number
  /** A call that has been open for so long by the times of the lines has ended, milliseconds. Default 12 h 1 min. */
  readonly maxCallMs?: number
}

/** What a line became. */
export interface MappedLine {
  /** In the order in which they happened, as `hs.publish` takes them. */
  readonly events: readonly ChannelEvent[]
  readonly problems: readonly Problem[]
}

/** A mapper of one stream. */
export interface KamailioMapper {
  /** Maps the next line. Never throws for a bad line: it is reported in `problems`. */
  map(line: string): MappedLine
  /** How many calls are open now. */
  openCalls(): number
}

const CHECKS = {
  accountOf: callable,
  maxOpenCalls: whole(1, Number.MAX_SAFE_INTEGER),
  maxCallMs: maxCallMsCheck,
}
const NO_EVENTS: readonly ChannelEvent[] = Object.freeze([])

/**
 * A mapper that keeps its own state.
 *
 * @throws `InvalidOption` naming the option
 * @example
 * const mapper = kamailioMapper({ accountOf: accountByDomain({ 'alpha.example': 'alpha' }) })
 * for (const event of mapper.map(line).events) await hs.publish(event)
 */
export function kamailioMapper(options: KamailioMapperOptions): KamailioMapper {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(CHECKS, name)) throw wrong(name, 'is not an option of kamailioMapper')
    if (value !== undefined) CHECKS[name as keyof typeof CHECKS](name, value)
  }
  const { accountOf, maxOpenCalls = SOURCE_DEFAULTS.maxOpenLegs, maxCallMs = MAX_CALL_MS } = options
  if (accountOf === undefined) throw wrong('accountOf', 'is missing: kamailioMapper needs it')
  const mapping = kamailioMapping({ accountOf, maxOpenCalls, maxCallMs })
  const hold = accountHold({
    holdMs: Number.POSITIVE_INFINITY,
    maxPerLeg: SOURCE_DEFAULTS.maxEventsWaiting,
    maxLegs: SOURCE_DEFAULTS.maxLegsWaiting,
  })

  return {
    map(line) {
      const { news, problems } = mapping.map(line)
      if (news.length === 0) return { events: NO_EVENTS, problems }
      const events: ChannelEvent[] = []
      const all: Problem[] = [...problems]
      for (const one of news) {
        const { ready, unknown } = hold.take(one, 0)
        events.push(...ready)
        for (const { callId } of unknown) {
          all.push({
            kind: 'unknown_account',
            message: 'no account for this call: nothing of it is published',
            callId,
          })
        }
      }
      return { events, problems: all }
    },
    openCalls: mapping.openCalls,
  }
}
