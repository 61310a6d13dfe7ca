import type { ReadyEndpoint } from 'hookswitch/store'
import { type AccountKeys, accountKeys } from './account-keys.js'
import { type Bodies, bodies } from './bodies.js'
import { type Calls, calls } from './calls.js'
import type { SqliteHandle } from './driver.js'
import { type Endpoints, endpoints } from './endpoints.js'
import { type Kept, kept } from './kept.js'
import { type Lanes, lanes } from './lanes.js'
import { type Memory, memoryOf } from './memory.js'
import { type Row, type Rows, rows } from './rows.js'
import { type Stale, staleWebhooks } from './stale.js'

/** Told what became ready or stale; `undefined`: look for yourself. */
export type Wake = (ready: readonly ReadyEndpoint[] | undefined) => void

/** What the doors of the queue share. */
export interface Tools {
  readonly db: SqliteHandle
  readonly wake: Wake
  readonly memory: Memory
  readonly accounts: AccountKeys
  readonly endpoints: Endpoints
  readonly calls: Calls
  readonly bodies: Bodies
  readonly rows: Rows
  readonly lanes: Lanes
  readonly stale: Stale
  readonly kept: Kept
  /** Claims under way, as they were handed out: their settlement need not read them. At most so many. */
  readonly inFlight: Map<string, Row>
  committed(): void
  rolledBack(): void
}

export function toolsFor(db: SqliteHandle, wake: Wake): Tools {
  const memory = memoryOf(db)
  const accounts = accountKeys(db)
  const webhooks = endpoints(db, accounts)
  const stored = rows(db, accounts, webhooks)
  const inFlight = new Map<string, Row>()
  const known = calls(db)
  const stale = staleWebhooks(db)
  const records = kept(db)
  return {
    db,
    wake,
    memory,
    accounts,
    endpoints: webhooks,
    calls: known,
    bodies: bodies(db),
    rows: stored,
    lanes: lanes(db, stored),
    stale,
    kept: records,
    inFlight,
    committed: memory.committed,
    rolledBack() {
      memory.rolledBack()
      accounts.forget()
      webhooks.forget()
      known.forget()
      stale.forget()
      records.forget()
      inFlight.clear()
    },
  }
}
