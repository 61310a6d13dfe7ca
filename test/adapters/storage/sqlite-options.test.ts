import { sqliteStore } from 'hookswitch/sqlite'
import { describe, expect, it } from 'vitest'
import { driverNameOf, loadDriver } from '../../../adapters/storage/sqlite/driver.js'
import { recordingLog, rejectionOf, temporaryFolder } from './sqlite-harness.js'

const { DatabaseSync } = loadDriver()
const construct = (options: unknown) => () => sqliteStore(options as never)
const memory = () => new DatabaseSync(':memory:')

describe('the options of sqliteStore', () => {
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
  ])('are rejected, naming %s in %j', (field, options) => {
    expect(construct(options)).toThrow(expect.objectContaining({ code: 'InvalidOption', field }))
    expect(construct(options)).toThrow(new RegExp(`^(?:sqliteStore\\(\\): unknown option ')?${field}['\\s]`))
  })

  it('are checked without disk access', () => {
    expect(sqliteStore({ path: '/there/is/no/such/folder' }).supports).toEqual({
      durable: true,
      sharedBetweenNodes: false,
      transactions: false,
    })
    expect(sqliteStore({ database: memory() }).supports.transactions).toBe(true)
  })

  it('are rejected at open if the database has no file or is closed', async () => {
    const closed = new DatabaseSync(`${temporaryFolder()}/x`)
    closed.close()
    for (const [database, sentence] of [
      [memory(), 'database must be a file'],
      [new DatabaseSync(''), 'database must be a file'],
      [closed, 'database must be open'],
    ] as const) {
      const open = sqliteStore({ database }).open({ clock: {} as never, log: recordingLog() })
      const error = await rejectionOf(open)
      expect(error).toMatchObject({ code: 'InvalidOption', field: 'database' })
      expect(error.message).toContain(sentence)
    }
  })

  it('accept a database by the driver that created it, not by its shape', () => {
    expect(driverNameOf(memory())).toBe(loadDriver().name)
    expect([driverNameOf({}), driverNameOf(undefined), driverNameOf(DatabaseSync)]).toEqual(
      Array(3).fill(undefined),
    )
  })
})
