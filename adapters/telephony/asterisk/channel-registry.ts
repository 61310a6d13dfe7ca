/**
 * The state of a mapping: open legs, recently ended legs, and the batch that the current message yields. Calls the host's
 * `accountOf` and `realmOf`.
 */
import { joinOlderGroup } from '../source/call-group.js'
import {
  EMPTY_BATCH,
  type LegUpdate,
  type MappedBatch,
  type PendingEvent,
  type Problem,
} from '../source/mapped-events.js'
import { sanitizeError } from '../source/sanitize.js'
import { type AsteriskAccountOf, type AsteriskFacts, factsOf } from './account-resolver.js'
import { isInternalChannel, parseChannelName } from './channel-name.js'
import { endpointOf } from './endpoint.js'
import type { EventContext } from './event-builder.js'
import {
  type ChannelIdentity,
  directionOf,
  groupOf,
  isLaterChannel,
  type Leg,
  openLeg,
  partiesOf,
} from './leg.js'
import { buildStandalone, standaloneFacts } from './standalone-report.js'
import type { Channel, StandaloneReport, SwitchEvent } from './switch-event.js'

/** Options of a mapping. */
export interface MappingOptions {
  readonly accountOf: AsteriskAccountOf
  /** Returns the realm of the addresses in a leg's events; `undefined`: addresses are numbers without a realm. */
  readonly realmOf?: ((leg: AsteriskFacts) => string | undefined) | undefined
  /** Names of all endpoints that are trunks. Default: they are guessed. */
  readonly trunks?: readonly string[] | undefined
  /** Channel variables for `customChannelVars`. */
  readonly customVariables?: readonly string[] | undefined
  /** The hooks to publish beside those of a leg. Default: none. */
  readonly optionalHooks?: readonly string[] | undefined
  readonly maxOpenLegs: number
}

/** The open legs, and the batch of the current message. */
export interface ChannelRegistry {
  /**
   * Updates or opens the leg of a channel; `undefined`: it has ended, or ends without having been seen. A later channel
   * with the id of an open leg replaces it.
   */
  track(channel: Channel, atMs: number, kind: SwitchEvent['kind'] | 'listed'): Leg | undefined
  /** Adds a leg that was open when an earlier process ended. False: too many legs are open. */
  restore(leg: Leg): boolean
  /** Resolves the account of an open leg by the variables of its channel, unless it is settled. */
  updateAccount(channel: Channel): void
  /** Sets who dialled, unless that is known. */
  setDirection(leg: Leg, direction: Leg['direction']): void
  /** Returns an open leg. */
  get(id: string | undefined): Leg | undefined
  /** Fixes the direction and the parties of a leg, as they are now, for all its events. */
  fixParties(leg: Leg): void
  /** Adds an event to the batch. */
  addEvent(leg: Leg, event: PendingEvent): void
  /** Adds an event that belongs to no leg. */
  addStandalone(report: StandaloneReport, atMs: number): void
  /** Adds a problem to the batch. */
  addProblem(problem: Problem): void
  /** Adds the last event of a leg to the batch and removes the leg. */
  closeLeg(leg: Leg, event: PendingEvent): void
  /** Returns the fields that every event of a leg has in addition to its own. */
  eventContext(leg: Leg): EventContext
  /** Returns the other half of a Local channel while it is open. */
  otherHalf(leg: Leg): Leg | undefined
  /** Sets the leg that a leg dialled, that dialled it, or that it is bridged with. */
  setOtherLeg(leg: Leg, id: string): void
  /**
   * Returns the phone of the other side: the other leg, or where that is a half of a Local channel, the phone behind it.
   * `undefined` while it is not known.
   */
  otherPhone(leg: Leg): string | undefined
  /** Returns the phone behind a half of a Local channel, or the phone itself; `undefined` while it is not known. */
  phoneBehind(id: string): string | undefined
  /** Whether the account of an open leg is not known, or its `channel_create` not built. */
  isUnsettled(id: string): boolean
  /** The legs whose `channel_create` is not built, oldest first. */
  readonly waiting: ReadonlySet<Leg>
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

/** Callbacks of a registry. */
interface RegistryListener {
  /** A leg is about to be dropped because too many are open. */
  onEvicted(leg: Leg): void
  /** An event of a leg is about to be added to the batch. */
  beforeEvent(leg: Leg): void
  /** A later channel has the id of an open leg, whose end was missed: closes the leg. */
  onReplaced(leg: Leg, atMs: number): void
}

/** An ended leg. */
interface EndedLeg extends ChannelIdentity {
  readonly isInternal: boolean
}

export function createChannelRegistry(
  { accountOf, realmOf, trunks, customVariables = [], maxOpenLegs }: MappingOptions,
  { onEvicted, beforeEvent, onReplaced }: RegistryListener,
): ChannelRegistry {
  /** By id, oldest first. */
  const open = new Map<string, Leg>()
  /** Halves of Local channels, by their original names. */
  const halves = new Map<string, Leg>()
  /** Recently ended legs by id, oldest first. */
  const ended = new Map<string, EndedLeg>()
  const waiting = new Set<Leg>()
  let updates: LegUpdate[] = []
  let problems: Problem[] = []

  /** Legs for which `accountOf` returned an invalid value: reported once. */
  const reported = new WeakSet<Leg>()
  const addProblem = (kind: Problem['kind'], message: string, { id }: Leg): void =>
    registry.addProblem({ kind, message, callId: id })

  const remember = (id: string, leg: EndedLeg): void => {
    ended.delete(id)
    ended.set(id, leg)
    if (ended.size <= MAX_ENDED) return
    const [oldest = ''] = ended.keys()
    ended.delete(oldest)
  }

  /** Follows Local channels to a phone; `undefined`: the chain ends at an internal leg. */
  const phoneBehind = (id: string): string | undefined => {
    let current: string | undefined = id
    for (let hops = 0; current !== undefined && hops < MAX_LOCAL_CHAIN; hops += 1) {
      const leg = open.get(current)
      if (!(leg ?? ended.get(current))?.isInternal) return current
      current = leg && registry.otherHalf(leg)?.otherLegId
    }
    return undefined
  }

  const remove = (leg: Leg): void => {
    open.delete(leg.id)
    if (halves.get(leg.originalName) === leg) halves.delete(leg.originalName)
    waiting.delete(leg)
    if (leg.diallerId !== undefined) open.get(leg.diallerId)?.branches.delete(leg.id)
    const { isInternal, originalName, createdMs, channel } = leg
    remember(leg.id, { isInternal, originalName, createdMs, channel: { name: channel.name } })
  }

  const resolveAccount = (leg: Leg, channel: Channel): void => {
    try {
      const accountId = toText(accountOf(factsOf(leg, channel)))
      if (accountId === undefined || accountId === leg.accountId) return
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

  const decide = (leg: Leg, direction: Leg['direction']): void => {
    leg.direction = direction
    leg.isDirectionKnown = true
  }

  const evictOldest = (): void => {
    if (open.size < maxOpenLegs) return
    const [oldest] = open.values()
    if (!oldest) return
    onEvicted(oldest)
    remove(oldest)
    addProblem('overflow', `more than ${maxOpenLegs} open legs: the oldest is dropped`, oldest)
    updates.push({ callId: oldest.id, accountId: oldest.accountId, events: [], isEnded: true })
  }

  const registry: ChannelRegistry = {
    track(channel, atMs, kind) {
      const isBegin = kind === 'created'
      const isLater = (known: ChannelIdentity) =>
        (isBegin || kind === 'listed') && isLaterChannel(known, channel, atMs, isBegin)
      let leg = open.get(channel.id)
      if (leg && isLater(leg)) {
        onReplaced(leg, atMs)
        leg = undefined
      }
      if (leg) {
        const { linkedId } = channel
        if (linkedId !== undefined && linkedId !== leg.channel.linkedId)
          leg.group = groupOf(linkedId, leg.createdMs)
        leg.channel = channel
        const direction = leg.isDirectionKnown ? undefined : directionOf(channel, false)
        if (direction !== undefined) decide(leg, direction)
      } else {
        // The channel in which the dial plan handles text messages; it is no call.
        if (channel.name.startsWith('Message/')) return undefined
        const endedLeg = ended.get(channel.id)
        if (endedLeg && !isBegin && !isLater(endedLeg)) return undefined
        if (kind === 'hung_up') {
          const message = 'the end of a channel whose begin was not seen'
          problems.push({ kind: 'unknown_leg', message, callId: channel.id })
          const { id, name } = channel
          const isInternal = isInternalChannel(parseChannelName(name))
          remember(id, { isInternal, originalName: name, createdMs: atMs, channel: { name } })
          return undefined
        }
        evictOldest()
        leg = openLeg(channel, atMs, isBegin)
        const half = registry.otherHalf(leg)
        if (half) joinOlderGroup(leg, half)
        open.set(leg.id, leg)
        waiting.add(leg)
        ended.delete(leg.id)
        if (leg.otherHalf !== undefined) halves.set(leg.originalName, leg)
      }
      leg.firstAccountCode ??= channel.accountCode
      if (channel.callerPresentation !== undefined) leg.callerPresentation = channel.callerPresentation
      if (isAccountOpen(leg)) resolveAccount(leg, channel)
      return leg
    },
    setDirection(leg, direction) {
      if (leg.isDirectionKnown) return
      decide(leg, direction)
      resolveAccount(leg, leg.channel)
    },
    restore(leg) {
      if (open.size >= maxOpenLegs) return false
      open.set(leg.id, leg)
      if (leg.otherHalf !== undefined) halves.set(leg.originalName, leg)
      return true
    },
    updateAccount(channel) {
      const leg = open.get(channel.id)
      if (leg && isAccountOpen(leg)) resolveAccount(leg, channel)
    },
    get: (id) => (id === undefined ? undefined : open.get(id)),
    fixParties(leg) {
      registry.setDirection(leg, leg.direction)
      let realm: string | undefined
      try {
        realm = toText(realmOf?.(factsOf(leg, leg.channel)))
        if (realm === '') addProblem('malformed', 'realmOf returned no string', leg)
      } catch (thrown) {
        addProblem('malformed', `realmOf threw: ${sanitizeError(thrown)}`, leg)
      }
      leg.parties = partiesOf(leg, registry.get(leg.diallerId), realm || undefined)
      leg.publishedEndpoint = endpointOf(leg, trunks)
      waiting.delete(leg)
    },
    addEvent(leg, event) {
      beforeEvent(leg)
      updates.push({ callId: leg.id, accountId: leg.accountId, events: [event], isEnded: false })
    },
    addStandalone(report, atMs) {
      const { id: callId } = report
      const facts = standaloneFacts(report)
      const ask = (name: string, callback: ((asked: AsteriskFacts) => unknown) | undefined) => {
        try {
          const text = toText(callback?.(facts))
          if (text !== '') return text
          problems.push({ kind: 'callback_failed', message: `${name} returned no string`, callId })
        } catch (thrown) {
          problems.push({
            kind: 'callback_failed',
            message: `${name} threw: ${sanitizeError(thrown)}`,
            callId,
          })
        }
        return undefined
      }
      const accountId = ask('accountOf', accountOf)
      const event = buildStandalone(report, atMs, ask('realmOf', realmOf))
      updates.push({ callId, accountId, events: [event], isEnded: true })
    },
    addProblem: (problem) => void problems.push(problem),
    closeLeg(leg, event) {
      beforeEvent(leg)
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
      if (channel.protocolId !== undefined) vars.sip_call_id = channel.protocolId
      return { otherLegId: registry.otherPhone(leg), customChannelVars: vars }
    },
    otherHalf: (leg) => (leg.otherHalf === undefined ? undefined : halves.get(leg.otherHalf)),
    setOtherLeg(leg, id) {
      if (leg.otherLegId === id) return
      leg.otherLegId = id
      leg.otherPhoneId = undefined
    },
    otherPhone(leg) {
      // A phone that was found once stays known when the Local channel on the way to it ends first.
      if (leg.otherLegId !== undefined) leg.otherPhoneId = phoneBehind(leg.otherLegId) ?? leg.otherPhoneId
      return leg.otherPhoneId
    },
    phoneBehind,
    isUnsettled(id) {
      const leg = open.get(id)
      return leg !== undefined && (leg.accountId === undefined || !leg.parties)
    },
    waiting,
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

/** Whether the account of a leg may change: its first event is not built, or waits for the account. */
function isAccountOpen({ isDirectionKnown, accountId, parties }: Leg): boolean {
  return isDirectionKnown && (accountId === undefined || !parties)
}

/** Validates what a function of the host returned; '': neither a string nor `undefined`. */
function toText(returned: unknown): string | undefined {
  if (returned === undefined || typeof returned === 'string') return returned
  // Promises are not supported; a rejected one must not end the process.
  if (returned instanceof Promise) returned.catch(() => {})
  return ''
}
