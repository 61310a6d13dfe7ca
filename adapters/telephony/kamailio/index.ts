/**
 * Calls of a Kamailio proxy as channel events. The stream is one JSON object a line, as a routing script sends it
 * at its event points (`evapi`); `line.ts` lists the keys that are read. Kamailio has no standard for such a
 * stream, so the names of events and keys are those of that script.
 *
 * A proxy can tell: `channel_create`, `channel_answer`, `channel_bridge` (at the answer: one dialog joins both
 * parties), `channel_hold`, `channel_unhold`, `channel_destroy`, all for one leg, the caller's, whose `callId` is
 * the SIP Call-ID. It cannot tell: a second leg (`otherLegCallId`), the name of the callee, an owner or
 * authorizing device, media, or which call a transferred call came from; those fields stay absent.
 * Beyond KAZOO's fields, `customChannelVars` says `held_by` and `ended_by` (caller, callee, proxy, nobody).
 */
import { HookswitchError } from 'hookswitch'
import { sipAddress } from '../source/sip-address.js'
import type { KamailioLine } from './line.js'
import { emptyState, type Mapped, type MappingState, mapLine } from './mapping.js'

export type { EndedBy } from './call.js'
export type { KamailioDialog, KamailioLine } from './line.js'
export {
  emptyState,
  type Mapped,
  type MappingOptions,
  type MappingState,
  mapLine,
  type Problem,
} from './mapping.js'

/** Options of `kamailioMapper`. */
export interface KamailioMapperOptions {
  /**
   * The id of the account that a call belongs to, asked with every line until it is told; `accountByDomain` is a
   * ready one. A call whose account is still unknown when something happens to it is reported and left out.
   */
  readonly accountOf: (line: KamailioLine) => string | undefined
  /** Most calls open at once; one more and the oldest is forgotten and reported. Default 100,000. */
  readonly maxOpenCalls?: number
}

/** A mapper of one stream. */
export interface KamailioMapper {
  /** Maps the next line. Never throws for a bad line: it is reported in `problems`. */
  map(line: string): Pick<Mapped, 'events' | 'problems'>
  /** How many calls are open now. */
  openCalls(): number
}

const DEFAULTS = Object.freeze({ maxOpenCalls: 100_000 })

/**
 * A mapper that keeps its own state.
 *
 * @throws `InvalidOption` naming the option
 * @example
 * const mapper = kamailioMapper({ accountOf: accountByDomain({ 'alpha.example': 'alpha' }) })
 * for (const event of mapper.map(line).events) await hs.publish(event)
 */
export function kamailioMapper(options: KamailioMapperOptions): KamailioMapper {
  const { accountOf, maxOpenCalls = DEFAULTS.maxOpenCalls, ...unknown } = options
  const [stray] = Object.keys(unknown)
  if (stray !== undefined) throw invalidOption(stray, 'is not an option of kamailioMapper')
  if (typeof accountOf !== 'function') throw invalidOption('accountOf', 'must be a function')
  if (!Number.isSafeInteger(maxOpenCalls) || maxOpenCalls < 1) {
    throw invalidOption('maxOpenCalls', 'must be an integer of at least 1')
  }
  let state: MappingState = emptyState()
  return {
    map(line) {
      const mapped = mapLine(state, line, { accountOf, maxOpenCalls })
      state = mapped.state
      return { events: mapped.events, problems: mapped.problems }
    },
    openCalls: () => state.open.size,
  }
}

/**
 * The domain that owns a call: the dialog variable `account`, else the domain of the caller's address. Of the
 * dialog where there is one: in requests of the callee the parties are swapped.
 */
export function accountDomain(line: KamailioLine): string | undefined {
  const domain = line.dialog?.account ?? sipAddress(line.dialog?.fromUri ?? line.fromUri)?.domain
  return domain?.toLowerCase() || undefined
}

/** An `accountOf` for hosts whose accounts have a SIP domain each: a table from domain to account id. */
export function accountByDomain(
  accounts: Readonly<Record<string, string>>,
): (line: KamailioLine) => string | undefined {
  const byDomain = new Map(Object.entries(accounts).map(([domain, id]) => [domain.trim().toLowerCase(), id]))
  return (line) => byDomain.get(accountDomain(line) ?? '')
}

function invalidOption(field: string, rule: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${field}: ${rule}`, { field })
}
