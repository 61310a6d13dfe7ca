/** The open legs of a switch by their current ids, and the legs that ended recently. */
import type { Leg } from './leg.js'

export interface ChannelRegistry {
  /** The open leg with this id. */
  get(uuid: string): Leg | undefined
  /** Adds an open leg; returns the oldest one if it was evicted to keep the limit. */
  add(uuid: string, leg: Leg): Leg | undefined
  /** Adds a leg that was open when an earlier process ended. */
  restore(uuid: string, leg: Leg): void
  /** Removes a leg and remembers that it has ended. */
  end(uuid: string, leg: Leg): void
  /** Whether the leg with this id, run and creation time has ended: a late event must not open it again. */
  hasEnded(uuid: string, coreUuid: string, createdUs: number): boolean
  /** Changes the id of an open leg. */
  rename(oldUuid: string, uuid: string): void
  /** The open legs that were dialled for the leg with this id. */
  dialledBy(callId: string): Iterable<Leg>
  /** The open leg that is published under this id, with its current id. */
  find(callId: string): readonly [uuid: string, leg: Leg] | undefined
  /** The open legs by id, oldest first. */
  entries(): Iterable<[string, Leg]>
  /** Ids of the open legs. */
  uuids(): string[]
  /** Number of open legs. */
  size(): number
}

/** What identifies a leg that has ended, beside its id. */
type EndedLeg = Pick<Leg, 'coreUuid' | 'createdUs'>

/** Number of ended legs that are remembered. */
const MAX_ENDED = 10_000

/** @param maxOpenLegs with one more, the oldest is evicted */
export function createChannelRegistry(maxOpenLegs: number): ChannelRegistry {
  /** Oldest first. */
  const open = new Map<string, Leg>()
  /** By id, the one that ended first in front. */
  const ended = new Map<string, EndedLeg>()
  /** Current ids of renamed open legs, by the id under which they are published. */
  const renamed = new Map<string, string>()
  /** Open legs by the id of the leg that originated them. */
  const dialled = new Map<string, Set<Leg>>()

  const insert = (uuid: string, leg: Leg): void => {
    open.set(uuid, leg)
    const { originatorCallId } = leg
    if (originatorCallId === undefined) return
    const siblings = dialled.get(originatorCallId)
    if (siblings) siblings.add(leg)
    else dialled.set(originatorCallId, new Set([leg]))
  }
  const remove = (uuid: string, leg: Leg): void => {
    open.delete(uuid)
    renamed.delete(leg.callId)
    const { originatorCallId = '' } = leg
    const siblings = dialled.get(originatorCallId)
    siblings?.delete(leg)
    if (siblings?.size === 0) dialled.delete(originatorCallId)
  }

  return {
    get: (uuid) => open.get(uuid),
    add(uuid, leg) {
      let evicted: Leg | undefined
      if (open.size >= maxOpenLegs) {
        const [oldest = ''] = open.keys()
        evicted = open.get(oldest)
        if (evicted) remove(oldest, evicted)
      }
      insert(uuid, leg)
      return evicted
    },
    restore(uuid, leg) {
      insert(uuid, leg)
      if (uuid !== leg.callId) renamed.set(leg.callId, uuid)
    },
    end(uuid, leg) {
      remove(uuid, leg)
      ended.delete(uuid)
      ended.set(uuid, { coreUuid: leg.coreUuid, createdUs: leg.createdUs })
      if (ended.size <= MAX_ENDED) return
      const [oldest = ''] = ended.keys()
      ended.delete(oldest)
    },
    hasEnded(uuid, coreUuid, createdUs) {
      const leg = ended.get(uuid)
      return leg !== undefined && leg.coreUuid === coreUuid && leg.createdUs === createdUs
    },
    rename(oldUuid, uuid) {
      const leg = open.get(oldUuid)
      // A leg that is renamed before its CHANNEL_CREATE was never published under its old id.
      if (!leg || oldUuid === uuid) return
      open.delete(oldUuid)
      open.set(uuid, leg)
      renamed.set(leg.callId, uuid)
    },
    dialledBy: (callId) => dialled.get(callId) ?? [],
    find(callId) {
      for (const uuid of [callId, renamed.get(callId)]) {
        const leg = uuid === undefined ? undefined : open.get(uuid)
        if (uuid !== undefined && leg?.callId === callId) return [uuid, leg]
      }
      return undefined
    },
    entries: () => open,
    uuids: () => [...open.keys()],
    size: () => open.size,
  }
}
