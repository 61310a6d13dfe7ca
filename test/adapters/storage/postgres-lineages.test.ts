import { describe, expect, it } from 'vitest'
import { lineageReader } from '../../../adapters/storage/postgres/lineages.js'
import type { Session } from '../../../adapters/storage/postgres/session.js'
import type { PlacedDocRow } from '../../../adapters/storage/postgres/sql/accounts.js'

const STATEMENT = { name: 'lineages', text: 'select' }
const row = (place: number, id: string): PlacedDocRow => ({ place, doc: JSON.stringify({ id }) })

/** A reader over a server with prepared answers, one per statement. */
function readerWith(...answers: (readonly PlacedDocRow[])[]) {
  let statements = 0
  const query = async () => answers[statements++]!
  const read = lineageReader({ query: query as Session['query'] }, STATEMENT)
  return { read, statements: () => statements }
}

describe('the lineage reader', () => {
  it('reads all lineages requested in one turn of the event loop with one statement', async () => {
    const { read, statements } = readerWith([row(1, 'a'), row(1, 'root'), row(3, 'b')])
    expect(await Promise.all(['a', 'nobody', 'b'].map(read))).toEqual([
      [{ id: 'a' }, { id: 'root' }],
      [],
      [{ id: 'b' }],
    ])
    expect(statements()).toBe(1)
  })

  it('reads lineages requested during a read together afterwards', async () => {
    const { read, statements } = readerWith([row(1, 'a')], [row(1, 'b'), row(2, 'c')])
    const first = read('a')
    await undefined
    expect(await Promise.all([first, read('b'), read('c')])).toEqual([
      [{ id: 'a' }],
      [{ id: 'b' }],
      [{ id: 'c' }],
    ])
    expect(statements()).toBe(2)
  })

  it('does not wait for a statement of another call that gets no answer', async () => {
    let statements = 0
    const query = () => (statements++ === 0 ? new Promise(() => {}) : Promise.resolve([row(1, 'b')]))
    const read = lineageReader({ query: query as Session['query'] }, STATEMENT)
    void read('a')
    await new Promise(setImmediate)
    expect(await read('b')).toEqual([{ id: 'b' }])
  })

  it('returns an empty lineage for a value that is not a string, without a statement', async () => {
    const { read, statements } = readerWith()
    for (const id of [undefined, 5, 10n, {}, ['a']]) expect(await read(id as string)).toEqual([])
    expect(statements()).toBe(0)
  })
})
