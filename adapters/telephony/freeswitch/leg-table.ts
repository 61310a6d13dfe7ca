/** The open legs of a switch by the ids that it uses now, and what is remembered of ended ones. */
import type { Leg } from './leg.js'

export interface LegTable {
  /** The open leg of this id. */
  get(uuid: string): Leg | undefined
  /** Opens a leg; returns the oldest where there were too many. */
  add(uuid: string, leg: Leg): Leg | undefined
  /** The leg has ended. */
  end(uuid: string, leg: Leg): void
  /** Whether the leg of this id, run and begin has ended: what comes late of it must not open it again. */
  hasEnded(uuid: string, run: string, createdUs: number): boolean
  /** The switch calls a leg by another id from now on. */
  rename(old: string, uuid: string): void
  entries(): Iterable<[string, Leg]>
  uuids(): string[]
  size(): number
}

/** So many ended legs are remembered. */
const MAX_ENDED = 10_000

export function legTable(maxOpenLegs: number): LegTable {
  /** Oldest first. */
  const open = new Map<string, Leg>()
  /** Run and begin, by id. */
  const ended = new Map<string, string>()

  return {
    get: (uuid) => open.get(uuid),
    add(uuid, leg) {
      let forgotten: Leg | undefined
      if (open.size >= maxOpenLegs) {
        const [oldest = ''] = open.keys()
        forgotten = open.get(oldest)
        open.delete(oldest)
      }
      open.set(uuid, leg)
      return forgotten
    },
    end(uuid, leg) {
      open.delete(uuid)
      ended.delete(uuid)
      ended.set(uuid, `${leg.run}/${leg.createdUs}`)
      if (ended.size <= MAX_ENDED) return
      const [oldest = ''] = ended.keys()
      ended.delete(oldest)
    },
    hasEnded: (uuid, run, createdUs) => ended.get(uuid) === `${run}/${createdUs}`,
    rename(old, uuid) {
      const leg = open.get(old)
      // Before a leg's CREATE its old id is one that nobody has heard.
      if (!leg || old === uuid) return
      open.delete(old)
      open.set(uuid, leg)
    },
    entries: () => open,
    uuids: () => [...open.keys()],
    size: () => open.size,
  }
}
