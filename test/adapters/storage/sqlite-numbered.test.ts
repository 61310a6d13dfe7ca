import { describe, expect, it } from 'vitest'
import { loadDriver, type SqliteStatement } from '../../../adapters/storage/sqlite/driver.js'
import { bindingNumbers } from '../../../adapters/storage/sqlite/numbered.js'

const { DatabaseSync } = loadDriver()

/** Numbered parameters as Node up to 22.18 has them: there is nothing to bind them to. */
class Old extends DatabaseSync {
  override prepare(sql: string): SqliteStatement {
    if (/\?\d/.test(sql)) throw new Error('column index out of range')
    return super.prepare(sql)
  }
}

describe('a numbered parameter', () => {
  it.each([
    ['of a driver that knows it', DatabaseSync],
    ['of one that does not', Old],
  ])('%s is bound by its number, as often as it stands there', (_, Driver) => {
    const db = new (bindingNumbers(Driver))(':memory:')
    db.exec('CREATE TABLE pair (a, b, c)')
    db.prepare('INSERT INTO pair VALUES (?2, ?1, ?2)').run('one', null)
    const row = { a: null, b: 'one', c: null }
    const select = db.prepare('SELECT * FROM pair WHERE b = ?1 AND ?2 IS NULL AND ?1 = b')
    expect({ ...(select.get('one', null) as object) }).toEqual(row)
    expect(select.all('one', null).map((one) => ({ ...(one as object) }))).toEqual([row])
    expect([...select.iterate('two', null)]).toEqual([])
    expect(db.prepare('SELECT ? AS a, ? AS b').get(1, 2)).toMatchObject({ a: 1, b: 2 })
    db.close()
  })

  it('costs a driver that knows it nothing', () => {
    expect(bindingNumbers(DatabaseSync)).toBe(DatabaseSync)
  })
})
