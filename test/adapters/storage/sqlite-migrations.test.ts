import { expect, it, onTestFinished } from 'vitest'
import type { DatabasePath } from '../../../adapters/storage/sqlite/database-path.js'
import { loadDriver } from '../../../adapters/storage/sqlite/driver.js'
import { migrateSchema } from '../../../adapters/storage/sqlite/migrations.js'
import { SCHEMA_1 } from '../../../adapters/storage/sqlite/schema.js'
import { temporaryDatabase } from './sqlite-engine-store.js'

/** A new file, in which `sql` was executed. */
function openFile(field: DatabasePath['field'], sql = '') {
  const { path, remove } = temporaryDatabase()
  const db = new (loadDriver().DatabaseSync)(path)
  onTestFinished(() => {
    db.close()
    remove()
  })
  db.exec(sql)
  const location = { path, field }
  const all = (query: string) => db.prepare(query).all()
  return { db, location, all, version: () => all("select value from hookswitch_meta where name = 'schema'") }
}

it('creates the tables once, and sets application_id in its own file', () => {
  const { db, location, all, version } = openFile('path')
  for (let round = 0; round < 2; round += 1) {
    migrateSchema(db, location)
    expect(all('pragma application_id')).toEqual([{ application_id: 0x486b5377 }])
    expect(version()).toEqual([{ value: 1 }])
  }
})

it('adds tables with a prefix to a file of the host, and changes nothing else', () => {
  const { db, location, all } = openFile(
    'database',
    'create table host_calls (id integer); pragma application_id = 7; pragma user_version = 9',
  )
  migrateSchema(db, location)
  expect(all('pragma application_id')).toEqual([{ application_id: 7 }])
  expect(all('pragma user_version')).toEqual([{ user_version: 9 }])
  const names =
    "select name from sqlite_schema where name not like 'hookswitch_%' and name not like 'sqlite_%'"
  expect(all(names)).toEqual([{ name: 'host_calls' }])
})

it('names the version of a newer file, whatever that version keeps', () => {
  const { db, location } = openFile('path')
  migrateSchema(db, location)
  db.exec("update hookswitch_meta set value = 99 where name = 'schema'")
  db.exec("delete from hookswitch_meta where name = 'erased'")
  expect(() => migrateSchema(db, location)).toThrow(/was written by a newer hookswitch \(schema 99/)
})

const STEP_2 = `alter table hookswitch_token add column label text;
  update hookswitch_token set label = 'of ' || account_id;`
const INSERT = `insert into hookswitch_token (hash, account_id, expires_ms, doc) values ('h', 'acme', 1, '{}')`

it('brings an older file up to date step by step, and keeps its rows', () => {
  const { db, location, all, version } = openFile('path')
  migrateSchema(db, location, [SCHEMA_1])
  db.exec(INSERT)
  migrateSchema(db, location, [SCHEMA_1, STEP_2, 'create table hookswitch_third (id integer)'])
  expect(version()).toEqual([{ value: 3 }])
  expect(all('select hash, label from hookswitch_token')).toEqual([{ hash: 'h', label: 'of acme' }])
  expect(all('select id from hookswitch_third')).toEqual([])
})

it('leaves an older file as it was if a step fails', () => {
  const { db, location, all, version } = openFile('path')
  migrateSchema(db, location, [SCHEMA_1])
  db.exec(INSERT)
  const before = all('select * from sqlite_schema')
  expect(() => migrateSchema(db, location, [SCHEMA_1, STEP_2, 'drop table hookswitch_none'])).toThrow()
  expect(all('select * from sqlite_schema')).toEqual(before)
  expect(version()).toEqual([{ value: 1 }])
})

it.each([
  [99, 'a newer', 'update the package'],
  [0, 'an older', 'open it with that version'],
])('rejects tables of version %d with one sentence and changes nothing', (found, age, advice) => {
  const { db, location, all, version } = openFile('path')
  migrateSchema(db, location)
  db.exec(`update hookswitch_meta set value = ${found} where name = 'schema'`)
  const before = all('pragma data_version')
  expect(() => migrateSchema(db, location)).toThrow(
    expect.objectContaining({
      code: 'InvalidOption',
      field: 'path',
      message: `path was written by ${age} hookswitch (schema ${found}, this version supports 1), ${advice}: ${location.path}`,
    }),
  )
  expect(all('pragma data_version')).toEqual(before)
  expect(version()).toEqual([{ value: found }])
})
