/** The parts of the engine that its operations share. */
import type { ReadyEndpoint } from 'hookswitch/store'
import { type AccountKeys, createAccountKeys } from './account-keys.js'
import { type AttemptCounts, createAttemptCounts } from './attempt-counts.js'
import type { SqliteHandle } from './driver.js'
import { createEndpoints, type Endpoints } from './endpoints.js'
import { createEngineState, type EngineState } from './engine-state.js'
import { createEventBodies, type EventBodies } from './event-bodies.js'
import { createLanes, type Lanes } from './lanes.js'
import { createPhoneCalls, type PhoneCalls } from './phone-calls.js'
import { createDeliveryRows, type DeliveryRows, type LocatedDelivery } from './rows.js'
import { createStaleWebhooks, type StaleWebhooks } from './stale.js'

/** Reports endpoints that became ready; `undefined`: the listener should scan for ready and stale deliveries. */
export type Notify = (ready: readonly ReadyEndpoint[] | undefined) => void

export interface EngineContext {
  readonly db: SqliteHandle
  readonly notify: Notify
  readonly state: EngineState
  readonly accounts: AccountKeys
  readonly endpoints: Endpoints
  readonly phoneCalls: PhoneCalls
  readonly eventBodies: EventBodies
  readonly rows: DeliveryRows
  readonly lanes: Lanes
  readonly stale: StaleWebhooks
  readonly attemptCounts: AttemptCounts
  /** Claimed deliveries by id, so that `settle` does not read their rows again. `claim` bounds the size. */
  readonly inFlight: Map<string, LocatedDelivery>
  committed(): void
  rolledBack(): void
}

export function createContext(db: SqliteHandle, notify: Notify): EngineContext {
  const state = createEngineState(db)
  const accounts = createAccountKeys(db)
  const endpoints = createEndpoints(db, accounts)
  const rows = createDeliveryRows(db, accounts, endpoints)
  const inFlight = new Map<string, LocatedDelivery>()
  const phoneCalls = createPhoneCalls(db)
  const stale = createStaleWebhooks(db)
  const attemptCounts = createAttemptCounts(db)
  return {
    db,
    notify,
    state,
    accounts,
    endpoints,
    phoneCalls,
    eventBodies: createEventBodies(db),
    rows,
    lanes: createLanes(db, rows),
    stale,
    attemptCounts,
    inFlight,
    committed: state.committed,
    rolledBack() {
      state.rolledBack()
      accounts.invalidate()
      endpoints.invalidate()
      phoneCalls.invalidate()
      stale.invalidate()
      attemptCounts.invalidate()
      inFlight.clear()
    },
  }
}
