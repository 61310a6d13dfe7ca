import { HookswitchError } from 'hookswitch/store'
import { describe, expect, it } from 'vitest'
import { grouped, type Outcome } from '../../../adapters/storage/postgres/group.js'

const outage = (code?: string) =>
  new HookswitchError('StoreUnavailable', 'out', { cause: code === undefined ? undefined : { code } })
const MALFORMED = '22021'

/** A store that writes as the test says, and notes what it is given. */
function underTest(write: (items: readonly string[]) => Promise<void>, patienceMs?: number) {
  const given: (readonly string[])[] = []
  const group = grouped<string, string>(
    async (items) => {
      given.push(items)
      await write(items)
      return items.map((value): Outcome<string> => ({ value }))
    },
    { most: 200, ...(patienceMs !== undefined && { patienceMs }) },
  )
  return { given, run: group.run }
}

describe('calls that go together', () => {
  it('are tried one by one where one of them is malformed, and only that one is refused', async () => {
    const { given, run } = underTest(async (items) => {
      if (items.includes('bad')) throw outage(MALFORMED)
    })
    const all = await Promise.allSettled(['a', 'bad', 'b'].map(run))
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(given).toEqual([['a', 'bad', 'b'], ['a'], ['bad'], ['b']])
  })

  it('are tried no further one by one once the store is out', async () => {
    const { given, run } = underTest(async (items) => {
      if (items.length > 1) throw outage(MALFORMED)
      if (items[0] === 'b') throw outage()
    })
    const all = await Promise.allSettled(['a', 'b', 'c', 'd'].map(run))
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected'])
    expect(given.slice(1)).toEqual([['a'], ['b']])
  })

  it('wait for those before them', async () => {
    let answer = () => {}
    const { given, run } = underTest((items) =>
      items[0] === 'a' ? new Promise((resolve) => (answer = resolve)) : Promise.resolve(),
    )
    const first = run('a')
    await new Promise(setImmediate)
    const second = run('b')
    await new Promise(setImmediate)
    expect(given).toEqual([['a']])
    answer()
    expect(await Promise.all([first, second])).toEqual(['a', 'b'])
  })

  it('overtake those that are not answered, where that is allowed', async () => {
    let answer = () => {}
    const { run } = underTest(
      (items) => (items[0] === 'a' ? new Promise((resolve) => (answer = resolve)) : Promise.resolve()),
      1,
    )
    const first = run('a')
    await new Promise(setImmediate)
    expect(await run('b')).toBe('b')
    answer()
    expect(await first).toBe('a')
  })
})
