/** The parts of the engine that its operations share. */
import { type AccountKeys, createAccountKeys } from './account-keys.js'
import { type AttemptCounts, createAttemptCounts } from './attempt-counts.js'
import { type ChangeLog, createChangeLog } from './changes.js'
import type { SqliteHandle } from './driver.js'
import { createEndpoints, type Endpoints } from './endpoints.js'
import { createEngineState, type EngineState } from './engine-state.js'
import { createEventBodies, type EventBodies } from './event-bodies.js'
import { createPhoneCalls, type PhoneCalls } from './phone-calls.js'
import { type Statements, statementsOf } from './query.js'
import { createRequests, type Requests } from './requests.js'
import { createDeliveryRows, type DeliveryRows } from './rows.js'

export interface EngineContext extends Statements {
  /** Calls the subscribers once the transaction is committed. */
  notify(): void
  /** Whether the subscribers are to be called since the last call. */
  takeNotice(): boolean
  readonly state: EngineState
  readonly changes: ChangeLog
  readonly accounts: AccountKeys
  readonly endpoints: Endpoints
  readonly phoneCalls: PhoneCalls
  readonly eventBodies: EventBodies
  readonly rows: DeliveryRows
  readonly requests: Requests
  readonly attemptCounts: AttemptCounts
  /** Has this called when a transaction was rolled back. */
  onRollback(listener: () => void): void
  committed(): void
  rolledBack(): void
}

export function createContext(db: SqliteHandle): EngineContext {
  let isNoticePending = false
  let hasNotice = false
  const statements = statementsOf(db)
  const state = createEngineState(statements)
  const changes = createChangeLog()
  const accounts = createAccountKeys(statements)
  const endpoints = createEndpoints(statements, accounts, (webhook) => changes.add({ webhook }))
  const phoneCalls = createPhoneCalls(statements)
  const attemptCounts = createAttemptCounts(statements)
  const requests = createRequests(statements)
  const rollbackListeners: (() => void)[] = []
  return {
    ...statements,
    notify() {
      isNoticePending = true
    },
    takeNotice() {
      const had = hasNotice
      hasNotice = false
      return had
    },
    state,
    changes,
    accounts,
    endpoints,
    phoneCalls,
    eventBodies: createEventBodies(statements),
    rows: createDeliveryRows(statements, accounts, endpoints),
    requests,
    attemptCounts,
    onRollback: (listener) => void rollbackListeners.push(listener),
    committed() {
      hasNotice ||= isNoticePending
      isNoticePending = false
      state.committed()
      changes.committed()
    },
    rolledBack() {
      isNoticePending = false
      state.rolledBack()
      changes.rolledBack()
      accounts.invalidate()
      endpoints.invalidate()
      phoneCalls.invalidate()
      attemptCounts.invalidate()
      requests.invalidate()
      for (const listener of rollbackListeners) listener()
    },
  }
}
