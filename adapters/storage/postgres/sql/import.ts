/** Statements of a migration into this schema (`import.ts`), apart from its inserts. */

import { conversion } from '../schema-queue-log.js'
import type { Statement } from '../statement.js'
import { createStagedTables, stagedTable } from './import-tables.js'
import { storeMs } from './store-clock.js'

/** A table that is not empty. */
export interface UsedTableRow {
  readonly table: string
}

/** A migration that was announced in this schema. `counts`, a JSON text, is set once it is complete. */
export interface ImportRow {
  readonly counts: string | null
}

/** @param tables names of the tables that must be empty */
export const importStatements = (s: string, tables: readonly string[]) =>
  ({
    database: { name: 'load_place', text: 'select current_database() as database' },
    /** VACUUM yields its lock after a second; for anything else the migration does not wait. */
    setLockTimeout: { name: 'load_impatience', text: `set local lock_timeout = '2s'` },
    resetLockTimeout: { name: 'load_patience', text: 'set local lock_timeout = 0' },
    /** Blocks all other writers until the end of the transaction. */
    lock: {
      name: 'load_lock',
      text: `lock table ${[...tables, 'shard', 'node', 'start', 'takeover'].map((table) => `${s}.${table}`).join(', ')}
        in exclusive mode`,
    },
    /** A table that a node fills when it starts does not count. */
    used: {
      name: 'load_used',
      text: tables
        .filter((table) => table !== 'encryption')
        .map((table) => `select '${table}' as "table" where exists (select from ${s}.${table})`)
        .join(' union all '),
    },
    /** A node with a current lease. */
    node: {
      name: 'load_node',
      text: `select 1 from ${s}.node where alive_until_ms > ${storeMs(s, 'null')} limit 1`,
    },
    createImports: {
      name: 'load_create_moves',
      text: `create table if not exists ${s}.hookswitch_move (id text primary key, counts text)`,
    },
    import: { name: 'load_move', text: `select counts from ${s}.hookswitch_move where id = $1` },
    announce: {
      name: 'load_announce',
      text: `insert into ${s}.hookswitch_move (id) values ($1) on conflict do nothing`,
    },
    end: { name: 'load_end', text: `update ${s}.hookswitch_move set counts = $2 where id = $1` },
    /** The secrets of the imported rows count, not those of a node that was started on the empty schema. */
    clearEncryption: { name: 'load_clear_encryption', text: `delete from ${s}.encryption` },
    /** New positions come after those of the imported rows. */
    position: {
      name: 'load_position',
      text: `select setval('${s}.position', greatest($1::bigint, (select last_value from ${s}.position)))`,
    },
    /** Leases have ended: a node that was alive would have kept the schema from being used. */
    freeShards: {
      name: 'load_free',
      text: `with gone as (delete from ${s}.node) update ${s}.shard set owner = null, leaving = false`,
    },
    createStaged: { name: '', text: createStagedTables },
    convert: { name: '', text: conversion(s, stagedTable, 'e.sequence', 'failed_ms') },
    /**
     * Store time goes on after everything that was imported, and from that of the source (`$1`, or null) on: what is due there
     * at some moment is due here at the same moment, also where the clock of the source was ahead.
     */
    clock: {
      name: 'load_clock',
      text: `update ${s}.store_clock set
        offset_ms = greatest(offset_ms, $1::float8 - extract(epoch from clock_timestamp()) * 1000),
        last_ms = greatest(last_ms, $1::float8, (select max(accepted_ms) from ${s}.waiting),
          (select max(greatest(accepted_ms, ended_ms)) from ${s}.attempt))`,
    },
  }) satisfies Record<string, Statement>
