/**
 * The state of a mapping: open legs, recently ended legs, and the batch that the current message yields. Calls the host's
 * `accountOf` and `realmOf`.
 */
import {
  EMPTY_BATCH,
  type LegUpdate,
  type MappedBatch,
  type PendingEvent,
  type Problem,
} from '../source/mapped-events.js'
import { sanitizeError } from '../source/sanitize.js'
import { type AsteriskAccountOf, type AsteriskFacts, factsOf } from './account-resolver.js'
import type { EventContext } from './event-builder.js'
import { type Leg, openLeg, partiesOf } from './leg.js'
import type { Channel, SwitchEvent } from './switch-event.js'

/** Options of a mapping. */
export interface MappingOptions {
  readonly accountOf: AsteriskAccountOf
  /** Returns the realm of the addresses in a leg's events; `undefined`: addresses are numbers without a realm. */
  readonly realmOf?: ((leg: AsteriskFacts) => string | undefined) | undefined
  /** Channel variables for `customChannelVars`. */
  readonly customVariables?: readonly string[] | undefined
  readonly maxOpenLegs: number
}

/** The open legs, and the batch of the current message. */
export interface ChannelRegistry {
  /** Updates or opens the leg of a channel; `undefined`: it has ended, or ends without having been seen. */
  track(channel: Channel, atMs: number, kind: SwitchEvent['kind']): Leg | undefined
  /** Returns an open leg. */
  get(id: string | undefined): Leg | undefined
  /** Fixes the parties of a leg, as they are now, for all its events. */
  fixParties(leg: Leg): void
  /** Adds an event to the batch. */
  addEvent(leg: Leg, event: PendingEvent): void
  /** Adds the last event of a leg to the batch and removes the leg. */
  closeLeg(leg: Leg, event: PendingEvent): void
  /** Returns the fields that every event of a leg has in addition to its own. */
  eventContext(leg: Leg): EventContext
  /** Returns the other half of a Local channel while it is open. */
  otherHalf(leg: Leg): Leg | undefined
  /** Returns the phone behind a leg: for a half of a Local channel, the other leg of its other half. */
  phoneBehind(id: string | undefined): string | undefined
  /** Returns the ids of the open legs. */
  ids(): ReadonlySet<string>
  /** Number of open legs. */
  size(): number
  /** Returns the batch and starts an empty one. */
  takeBatch(): MappedBatch
}

/** Maximum number of ended legs whose ids are remembered, so that late messages do not open them again. */
const MAX_ENDED = 10_000
/** Longest chain of Local channels that is followed; a longer one is a loop. */
const MAX_LOCAL_CHAIN = 8

/** @param onEvicted called with a leg that is dropped because too many are open */
export function createChannelRegistry(
  { accountOf, realmOf, customVariables = [], maxOpenLegs }: MappingOptions,
  onEvicted: (leg: Leg) => void,
): ChannelRegistry {
  /** By id, oldest first. */
  const open = new Map<string, Leg>()
  /** Halves of Local channels, by their original names. */
  const halves = new Map<string, Leg>()
  const ended = new Set<string>()
  let updates: LegUpdate[] = []
  let problems: Problem[] = []

  /** Legs for which `accountOf` returned an invalid value: reported once. */
  const reported = new WeakSet<Leg>()
  const addProblem = (kind: Problem['kind'], message: string, { id }: Leg): void =>
    void problems.push({ kind, message, callId: id })

  const remove = (leg: Leg): void => {
    open.delete(leg.id)
    if (halves.get(leg.originalName) === leg) halves.delete(leg.originalName)
    ended.add(leg.id)
    if (ended.size > MAX_ENDED) {
      const [oldest = ''] = ended
      ended.delete(oldest)
    }
  }

  const resolveAccount = (leg: Leg, channel: Channel): void => {
    try {
      const accountId = toText(accountOf(factsOf(leg, channel)))
      if (accountId === undefined) return
      if (accountId === '') {
        if (!reported.has(leg)) addProblem('callback_failed', 'accountOf returned no string', leg)
        reported.add(leg)
        return
      }
      leg.accountId = accountId
      updates.push({ callId: leg.id, accountId, events: [], isEnded: false })
    } catch (thrown) {
      addProblem('callback_failed', `accountOf threw: ${sanitizeError(thrown)}`, leg)
    }
  }

  const evictOldest = (): void => {
    if (open.size < maxOpenLegs) return
    const [oldest] = open.values()
    if (!oldest) return
    remove(oldest)
    onEvicted(oldest)
    addProblem('overflow', `more than ${maxOpenLegs} open legs: the oldest is dropped`, oldest)
    updates.push({ callId: oldest.id, accountId: oldest.accountId, events: [], isEnded: true })
  }

  const registry: ChannelRegistry = {
    track(channel, atMs, kind) {
      let leg = open.get(channel.id)
      if (leg) leg.channel = channel
      else {
        if (ended.has(channel.id) && kind !== 'created') return undefined
        if (kind === 'hung_up') {
          const message = 'the end of a channel whose begin was not seen'
          problems.push({ kind: 'unknown_leg', message, callId: channel.id })
          ended.add(channel.id)
          return undefined
        }
        evictOldest()
        leg = openLeg(channel, atMs, kind === 'created')
        open.set(leg.id, leg)
        ended.delete(leg.id)
        if (leg.otherHalf !== undefined) halves.set(leg.originalName, leg)
      }
      if (leg.accountId === undefined) resolveAccount(leg, channel)
      return leg
    },
    get: (id) => (id === undefined ? undefined : open.get(id)),
    fixParties(leg) {
      let realm: string | undefined
      try {
        realm = toText(realmOf?.(factsOf(leg, leg.channel)))
        if (realm === '') addProblem('malformed', 'realmOf returned no string', leg)
      } catch (thrown) {
        addProblem('malformed', `realmOf threw: ${sanitizeError(thrown)}`, leg)
      }
      leg.parties = partiesOf(leg, realm || undefined)
    },
    addEvent(leg, event) {
      updates.push({ callId: leg.id, accountId: leg.accountId, events: [event], isEnded: false })
    },
    closeLeg(leg, event) {
      remove(leg)
      updates.push({ callId: leg.id, accountId: leg.accountId, events: [event], isEnded: true })
    },
    eventContext(leg) {
      const { channel } = leg
      const vars: Record<string, unknown> = {}
      for (const name of customVariables) {
        const value = channel.variable(name)
        if (value !== undefined) vars[name] = value
      }
      if (channel.linkedId !== undefined) vars.linked_id = channel.linkedId
      if (channel.protocolId !== undefined) vars.sip_call_id = channel.protocolId
      return { otherLegId: registry.phoneBehind(leg.otherLegId), customChannelVars: vars }
    },
    otherHalf: (leg) => (leg.otherHalf === undefined ? undefined : halves.get(leg.otherHalf)),
    phoneBehind(id) {
      let current = id
      for (let hops = 0; current !== undefined && hops < MAX_LOCAL_CHAIN; hops += 1) {
        const half = open.get(current)
        const next = half && registry.otherHalf(half)?.otherLegId
        if (next === undefined) return current
        current = next
      }
      return id
    },
    ids: () => new Set(open.keys()),
    size: () => open.size,
    takeBatch() {
      if (updates.length === 0 && problems.length === 0) return EMPTY_BATCH
      const batch = { updates, problems }
      updates = []
      problems = []
      return batch
    },
  }
  return registry
}

/** Validates what a function of the host returned; '': neither a string nor `undefined`. */
function toText(returned: unknown): string | undefined {
  if (returned === undefined || typeof returned === 'string') return returned
  // Promises are not supported; a rejected one must not end the process.
  if (returned instanceof Promise) returned.catch(() => {})
  return ''
}
