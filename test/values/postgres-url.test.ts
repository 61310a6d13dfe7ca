import { postgresStore } from 'hookswitch/postgres'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { connectionTarget } from '../../src/values/postgres-url.js'

/** Connection strings, and where `pg` connects. */
const ACCEPTED = [
  'postgres://user:password@db.example:5433/calls',
  'postgresql://user:password@/calls?host=/cloudsql/project:region:instance',
  'postgres://user:password@/calls?host=db.example&port=5433',
  'postgres://user:password@ignored.example/calls?host=db.example',
  'postgres:///calls?host=/run/postgresql&user=user&password=password',
  'postgres://user:password@%2Frun%2Fpostgresql/calls',
  'postgres://user:p%40%2F%23%3F%3A@db.example/calls',
  'postgres://user:password@[::1]:5433/calls',
  'postgres://user:password@db.example/my%20calls',
  'socket:/run/postgresql?db=calls',
  'socket://user:password@/run/postgresql?db=calls',
  '/run/postgresql calls',
]
const REFUSED = [
  'postgres://user:password@a.example:5432,b.example:5433/calls',
  'postgres://user:password@a.example,b.example/calls',
  'postgres://user:12#password@db.example/calls',
  'postgres://user:12/password@db.example/calls',
  'postgres://user:12?password@db.example/calls',
  'postgres://user:password@db.example/%E0%A4%A',
  'mysql://user:password@db.example/calls',
  'host=db.example password=password',
]

describe('a connection string', () => {
  it.each(ACCEPTED)('%s leads where pg connects', (connectionString) => {
    const client = new pg.Client({ connectionString })
    const { host, database } = connectionTarget(connectionString)!
    const named = client.host.includes(':') && !client.host.startsWith('/') ? `[${client.host}]` : client.host
    expect([named, `${named}:${client.port}`]).toContain(host)
    expect(database).toBe(client.database)
    expect(() => postgresStore({ connectionString })).not.toThrow()
    expect(JSON.stringify([host, database])).not.toMatch(/password|user/)
  })

  it.each(REFUSED)('%s is refused without being quoted', (connectionString) => {
    expect(connectionTarget(connectionString)).toBeUndefined()
    expect(() => postgresStore({ connectionString })).toThrow(
      /^connectionString must look like postgres:\/\/user:password@host:5432\/database, special characters percent-encoded, with one host$/,
    )
  })
})
