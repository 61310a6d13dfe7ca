import { sqliteStore } from 'hookswitch/sqlite'
import { describe, expect, it } from 'vitest'
import { driverOf, loadDriver } from '../../../adapters/storage/sqlite/driver.js'
import { errorOf, freshFolder, notedLog } from './sqlite-bench.js'

const { DatabaseSync } = loadDriver()
const make = (options: unknown) => () => sqliteStore(options as never)
const memory = () => new DatabaseSync(':memory:')

describe('an option of sqliteStore', () => {
  it.each<[string, unknown]>([
    ['path', undefined],
    ['path', null],
    ['path', 'hookswitch.db'],
    ['path', []],
    ['path', {}],
    ['path', { path: '' }],
    ['path', { path: 7 }],
    ['path', { path: 'a\0b' }],
    ['path', { path: new URL('file:///data/x') }],
    ['path', { path: ':memory:' }],
    ['inThread', { path: 'x', inThread: 'yes' }],
    ['inThread', { database: memory(), inThread: true }],
    ['database', { path: 'x', database: memory() }],
    ['database', { database: 'x' }],
    ['database', { database: null }],
    ['database', { database: { exec() {}, prepare() {}, close() {} } }],
    ['file', { file: 'x' }],
    ['toString', { path: 'x', toString: 1 }],
  ])('that is wrong is named: %s of %j', (field, options) => {
    expect(make(options)).toThrow(expect.objectContaining({ code: 'InvalidOption', field }))
    expect(make(options)).toThrow(new RegExp(`^${field} `))
  })

  it('is checked without a look at the disk', () => {
    expect(sqliteStore({ path: '/there/is/no/such/folder' }).supports).toEqual({
      durable: true,
      sharedBetweenNodes: false,
      transactions: false,
    })
    expect(sqliteStore({ database: memory() }).supports.transactions).toBe(true)
  })

  it('a database without a file, or one that is closed, is refused when it is opened', async () => {
    const closed = new DatabaseSync(`${freshFolder()}/x`)
    closed.close()
    for (const [database, sentence] of [
      [memory(), 'database must be a file'],
      [new DatabaseSync(''), 'database must be a file'],
      [closed, 'database must be open'],
    ] as const) {
      const open = sqliteStore({ database }).open({ clock: {} as never, log: notedLog() })
      const error = await errorOf(open)
      expect(error).toMatchObject({ code: 'InvalidOption', field: 'database' })
      expect(error.message).toContain(sentence)
    }
  })

  it('a database is known by the driver that made it, and by no likeness', () => {
    expect(driverOf(memory())).toBe(loadDriver().name)
    expect([driverOf({}), driverOf(undefined), driverOf(DatabaseSync)]).toEqual(Array(3).fill(undefined))
  })
})
