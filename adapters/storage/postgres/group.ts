import { errorCode } from 'hookswitch/store'

/** What became of one call of a group. */
export type Outcome<Result> = { readonly value: Result } | { readonly error: unknown }

export interface GroupOptions<Item> {
  /** How much one call counts. Default 1. */
  readonly weigh?: (item: Item) => number
  /** Once a group is as heavy as this, the next call waits for another one; a heavier call goes alone. */
  readonly most: number
  /**
   * Milliseconds after which the next group begins although one is under way, for groups that may overtake each other:
   * else one connection that answers nothing would hold up all. Default: it waits.
   */
  readonly patienceMs?: number
}

/** Of groups that only read: long beside an answer, short beside the time in which one must come. */
export const READ_PATIENCE_MS = 50

/** Calls that are written together. */
export interface Group<Item, Result> {
  run(item: Item): Promise<Result>
  /** Resolves when nothing is under way that the next call would wait for. */
  rest(): Promise<void>
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Group commit: while one group is being written, the next one gathers, so that a commit is paid once for all that came
 * meanwhile. No timer: a call that finds nothing under way begins at once.
 *
 * A group that fails as a whole is tried again call by call, in its order, so that one that cannot be written hurts
 * nobody else; not so when the store is unavailable: that is everybody's answer, and what was asked last may be written.
 *
 * @param write writes a group, as one transaction; gives an outcome for each call, or rejects when nothing was written
 */
export function grouped<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly Outcome<Result>[]>,
  { weigh = () => 1, most, patienceMs }: GroupOptions<Item>,
): Group<Item, Result> {
  let gathered: Waiting<Item, Result>[] = []
  let running: Promise<void> | undefined

  function next(): Waiting<Item, Result>[] {
    let weight = 0
    let count = 0
    for (const { item } of gathered) {
      weight += weigh(item)
      if (count > 0 && weight > most) break
      count += 1
    }
    const group = gathered.slice(0, count)
    gathered = gathered.slice(count)
    return group
  }

  /** What was thrown, where it is everybody's answer. */
  async function writeOne(waiting: Waiting<Item, Result>): Promise<unknown> {
    try {
      tell(waiting, (await write([waiting.item]))[0]!)
    } catch (thrown) {
      waiting.reject(thrown)
      return isOutage(thrown) ? thrown : undefined
    }
    return undefined
  }

  async function writeEach(group: readonly Waiting<Item, Result>[]): Promise<void> {
    let outage: unknown
    for (const waiting of group) {
      if (outage === undefined) outage = await writeOne(waiting)
      else waiting.reject(outage)
    }
  }

  async function writeGroup(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const outcomes = await write(group.map(({ item }) => item))
      group.forEach((waiting, index) => {
        tell(waiting, outcomes[index]!)
      })
    } catch (thrown) {
      if (group.length === 1 || isOutage(thrown)) {
        for (const { reject } of group) reject(thrown)
      } else await writeEach(group)
    }
  }

  async function work(): Promise<void> {
    // What is asked for in the same turn is one group from the beginning.
    await undefined
    while (gathered.length > 0) {
      const written = writeGroup(next())
      await (patienceMs === undefined ? written : atMost(written, patienceMs))
    }
    running = undefined
  }

  return {
    run(item) {
      return new Promise((resolve, reject) => {
        gathered.push({ item, resolve, reject })
        running ??= work()
      })
    },
    rest: async () => running,
  }
}

async function atMost(done: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([done, over])
  clearTimeout(timer)
}

function tell<Result>({ resolve, reject }: Waiting<unknown, Result>, outcome: Outcome<Result>): void {
  if ('error' in outcome) reject(outcome.error)
  else resolve(outcome.value)
}

/** Classes of SQLSTATE that blame the data: malformed, against a constraint, too long for an index. */
const OF_THE_DATA = /^(22|23|54)/

function isOutage(thrown: unknown): boolean {
  if (errorCode(thrown) !== 'StoreUnavailable') return false
  const { code } = ((thrown as Error).cause ?? {}) as { code?: unknown }
  return !(typeof code === 'string' && OF_THE_DATA.test(code))
}
