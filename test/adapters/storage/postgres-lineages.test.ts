import { describe, expect, it } from 'vitest'
import { lineageReader } from '../../../adapters/storage/postgres/lineages.js'
import type { Session } from '../../../adapters/storage/postgres/session.js'
import type { LineageRow } from '../../../adapters/storage/postgres/sql/accounts.js'

const STATEMENT = { name: 'lineages', text: 'select' }
const row = (place: number, id: string): LineageRow => ({ place, doc: JSON.stringify({ id }) })

/** A server that is told what to answer, statement by statement. */
function underTest(...answers: (readonly LineageRow[])[]) {
  let statements = 0
  const query = async () => answers[statements++]!
  const read = lineageReader({ query: query as Session['query'] }, STATEMENT)
  return { read, statements: () => statements }
}

describe('lineages', () => {
  it('that are asked for in one turn are one statement, and each its own', async () => {
    const { read, statements } = underTest([row(1, 'a'), row(1, 'root'), row(3, 'b')])
    expect(await Promise.all(['a', 'nobody', 'b'].map(read))).toEqual([
      [{ id: 'a' }, { id: 'root' }],
      [],
      [{ id: 'b' }],
    ])
    expect(statements()).toBe(1)
  })

  it('that are asked for while others are read go together', async () => {
    const { read, statements } = underTest([row(1, 'a')], [row(1, 'b'), row(2, 'c')])
    const first = read('a')
    await undefined
    expect(await Promise.all([first, read('b'), read('c')])).toEqual([
      [{ id: 'a' }],
      [{ id: 'b' }],
      [{ id: 'c' }],
    ])
    expect(statements()).toBe(2)
  })

  it('wait for no statement that is not answered', async () => {
    let statements = 0
    const query = () => (statements++ === 0 ? new Promise(() => {}) : Promise.resolve([row(1, 'b')]))
    const read = lineageReader({ query: query as Session['query'] }, STATEMENT)
    void read('a')
    await new Promise(setImmediate)
    expect(await read('b')).toEqual([{ id: 'b' }])
  })

  it('of what is no id are empty, and ask nobody', async () => {
    const { read, statements } = underTest()
    for (const id of [undefined, 5, 10n, {}, ['a']]) expect(await read(id as string)).toEqual([])
    expect(statements()).toBe(0)
  })
})
