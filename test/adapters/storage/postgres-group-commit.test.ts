import { HookswitchError } from 'hookswitch/store'
import { describe, expect, it } from 'vitest'
import {
  type CallResult,
  createGroupCommit,
  type GroupOptions,
} from '../../../adapters/storage/postgres/group-commit.js'

const outage = (code?: string) =>
  new HookswitchError('StoreUnavailable', 'out', { cause: code === undefined ? undefined : { code } })
const MALFORMED = '22021'

/** A group commit over the test's `write`, with a record of the groups that were written. */
function createGroup(
  write: (items: readonly string[]) => Promise<void>,
  options: Partial<GroupOptions> = {},
) {
  const groups: (readonly string[])[] = []
  const group = createGroupCommit<string, string>(
    async (items) => {
      groups.push(items)
      await write(items)
      return items.map((value): CallResult<string> => ({ value }))
    },
    { maxCalls: 200, ...options },
  )
  return { groups, run: group.run }
}

describe('a group commit', () => {
  it('retries call by call when one is malformed, and rejects only that one', async () => {
    const { groups, run } = createGroup(async (items) => {
      if (items.includes('bad')) throw outage(MALFORMED)
    })
    const all = await Promise.allSettled(['a', 'bad', 'b'].map(run))
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(groups).toEqual([['a', 'bad', 'b'], ['a'], ['bad'], ['b']])
  })

  it('stops retrying call by call when the store becomes unavailable', async () => {
    const { groups, run } = createGroup(async (items) => {
      if (items.length > 1) throw outage(MALFORMED)
      if (items[0] === 'b') throw outage()
    })
    const all = await Promise.allSettled(['a', 'b', 'c', 'd'].map(run))
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected'])
    expect(groups.slice(1)).toEqual([['a'], ['b']])
  })

  it('starts a group after the previous one has ended', async () => {
    let answer = () => {}
    const { groups, run } = createGroup((items) =>
      items[0] === 'a' ? new Promise((resolve) => (answer = resolve)) : Promise.resolve(),
    )
    const first = run('a')
    await new Promise(setImmediate)
    const second = run('b')
    await new Promise(setImmediate)
    expect(groups).toEqual([['a']])
    answer()
    expect(await Promise.all([first, second])).toEqual(['a', 'b'])
  })

  it('starts a group after the overlap time although the previous one gets no answer', async () => {
    let answer = () => {}
    const { run } = createGroup(
      (items) => (items[0] === 'a' ? new Promise((resolve) => (answer = resolve)) : Promise.resolve()),
      { overlapAfterMs: 1 },
    )
    const first = run('a')
    await new Promise(setImmediate)
    expect(await run('b')).toBe('b')
    answer()
    expect(await first).toBe('a')
  })

  it('starts as many groups as allowed, and the next one when any of them has ended', async () => {
    const answers = new Map<string, () => void>()
    const { groups, run } = createGroup(([first]) => new Promise((resolve) => answers.set(first!, resolve)), {
      maxGroups: 2,
    })
    const results: Promise<string>[] = []
    for (const item of ['a', 'b', 'c', 'd']) {
      results.push(run(item))
      await new Promise(setImmediate)
    }
    expect(groups).toEqual([['a'], ['b']])
    answers.get('b')!()
    expect(await results[1]).toBe('b')
    await new Promise(setImmediate)
    expect(groups).toEqual([['a'], ['b'], ['c', 'd']])
    results.push(run('e'))
    await new Promise(setImmediate)
    expect(groups).toHaveLength(3)
    answers.get('a')!()
    await new Promise(setImmediate)
    expect(groups.at(-1)).toEqual(['e'])
    for (const answer of answers.values()) answer()
    expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd', 'e'])
  })
})
