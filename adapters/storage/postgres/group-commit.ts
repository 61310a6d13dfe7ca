/**
 * Group commit: while one group is being written, the next one gathers, so that all calls of a group share one commit.
 * There is no timer: a call that finds no group in progress starts at once.
 *
 * A group that fails as a whole is retried call by call, in order, so that one invalid call does not fail the others.
 * Not so when the store is unavailable: then every call gets that error, since the last write may have been carried
 * out.
 */
import { errorCode } from 'hookswitch/store'
import { isDataError, sqlStateOf } from './errors.js'

/** Result or error of one call of a group. */
export type CallResult<Result> = { readonly value: Result } | { readonly error: unknown }

/** @internal */
export interface GroupOptions {
  /** Calls at which a group is full and the next call waits for another one. */
  readonly maxCalls: number
  /**
   * Milliseconds after which the next group starts although one is in progress, for groups whose order does not matter:
   * otherwise one connection without an answer would block them all. Default: it waits for the end.
   */
  readonly overlapAfterMs?: number
  /** Groups in progress at the same time, if their order does not matter. Default 1. */
  readonly maxGroups?: number
}

/** For groups that only read: long compared with an answer, short compared with the time limit of an answer. */
export const READ_OVERLAP_MS = 50

interface GroupCommit<Item, Result> {
  /** Resolves with the result of this call once its group is written. */
  run(item: Item): Promise<Result>
}

interface QueuedCall<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * @param write writes a group in one transaction; returns a result for each call, or rejects when nothing was written
 */
export function createGroupCommit<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly CallResult<Result>[]>,
  { maxCalls, overlapAfterMs, maxGroups = 1 }: GroupOptions,
): GroupCommit<Item, Result> {
  const queued: QueuedCall<Item, Result>[] = []
  let _running: Promise<void> | undefined
  /** Groups in progress, unless they overlap by time. */
  const groups = new Set<Promise<void>>()

  /** Returns the error if it concerns the following calls too. */
  async function writeOne(call: QueuedCall<Item, Result>): Promise<unknown> {
    try {
      complete(call, (await write([call.item]))[0]!)
    } catch (thrown) {
      call.reject(thrown)
      return isOutage(thrown) ? thrown : undefined
    }
    return undefined
  }

  async function writeEach(group: readonly QueuedCall<Item, Result>[]): Promise<void> {
    let outage: unknown
    for (const call of group) {
      if (outage === undefined) outage = await writeOne(call)
      else call.reject(outage)
    }
  }

  async function writeGroup(group: readonly QueuedCall<Item, Result>[]): Promise<void> {
    try {
      const results = await write(group.map(({ item }) => item))
      group.forEach((call, index) => {
        complete(call, results[index]!)
      })
    } catch (thrown) {
      if (group.length === 1 || isOutage(thrown)) {
        for (const { reject } of group) reject(thrown)
      } else await writeEach(group)
    }
  }

  async function work(): Promise<void> {
    // Calls of the same turn of the event loop form one group from the start.
    await undefined
    while (queued.length > 0) {
      const written = writeGroup(queued.splice(0, maxCalls))
      if (overlapAfterMs !== undefined) {
        await atMost(written, overlapAfterMs)
        continue
      }
      groups.add(written)
      void written.then(() => groups.delete(written))
      if (groups.size === maxGroups) await Promise.race(groups)
    }
    _running = undefined
  }

  return {
    run(item) {
      return new Promise((resolve, reject) => {
        queued.push({ item, resolve, reject })
        _running ??= work()
      })
    },
  }
}

async function atMost(done: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([done, timeout])
  clearTimeout(timer)
}

function complete<Result>(
  { resolve, reject }: QueuedCall<unknown, Result>,
  result: CallResult<Result>,
): void {
  if ('error' in result) reject(result.error)
  else resolve(result.value)
}

function isOutage(thrown: unknown): boolean {
  return errorCode(thrown) === 'StoreUnavailable' && !isDataError(sqlStateOf(thrown))
}
