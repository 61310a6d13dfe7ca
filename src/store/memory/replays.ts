import type { ReplayListQuery, StoredReplay } from '../../delivery/replay-store.js'

/** The port of replay jobs. They are few, so lists are sorted when they are read. */
export function memoryReplays() {
  const jobs = new Map<string, StoredReplay>()
  /** Ids of those that run or are paused. */
  const unfinished = new Set<string>()

  const put = (replay: StoredReplay): void => {
    jobs.set(replay.id, replay)
    if (isUnfinished(replay)) unfinished.add(replay.id)
    else unfinished.delete(replay.id)
  }

  /** Removes up to `limit` jobs for which `matches` returns true. */
  const removeWhere = (matches: (replay: StoredReplay) => boolean, limit: number): number => {
    let removed = 0
    for (const replay of jobs.values()) {
      if (removed >= limit) break
      if (!matches(replay)) continue
      jobs.delete(replay.id)
      unfinished.delete(replay.id)
      removed += 1
    }
    return removed
  }

  return {
    create(replay: StoredReplay): void {
      if (!jobs.has(replay.id)) put(replay)
    },
    read: (id: string): StoredReplay | undefined => jobs.get(id),
    list({ accountId, after, limit }: ReplayListQuery): readonly StoredReplay[] {
      const found = [...jobs.values()].filter(
        (replay) =>
          (accountId === undefined || replay.accountId === accountId) &&
          (!after || compareAge(replay, after) < 0),
      )
      return found.sort((a, b) => compareAge(b, a)).slice(0, limit)
    },
    unfinished: (limit: number): readonly StoredReplay[] =>
      Array.from(unfinished, (id) => jobs.get(id)!)
        .sort(compareAge)
        .slice(0, limit),
    replace(replay: StoredReplay): boolean {
      if (jobs.get(replay.id)?.revision !== replay.revision - 1) return false
      put(replay)
      return true
    },
    prune: (beforeMs: number, limit: number): number =>
      removeWhere(({ endedMs }) => endedMs !== undefined && endedMs < beforeMs, limit),
    erase: (accountId: string, limit: number): number =>
      removeWhere((replay) => replay.accountId === accountId, limit),
  }
}

const isUnfinished = ({ state }: StoredReplay) => state === 'running' || state === 'paused'

type Age = Pick<StoredReplay, 'createdMs' | 'id'>

/** Oldest first. */
const compareAge = (a: Age, b: Age) => a.createdMs - b.createdMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
