/** Executes a group of requests in one transaction, so that the group waits for the disk once. */
import { errorCode, type HookswitchError, notWritten } from 'hookswitch/store'
import type { SqliteHandle } from './driver.js'
import type { Engine } from './engine.js'
import { isBusy, isFull, toStoreError } from './errors.js'
import { setBusyTimeout } from './pragmas.js'
import { effectOf, type RpcRequest, type RpcResult } from './rpc-methods.js'

interface GroupCommitDeps {
  readonly db: SqliteHandle
  readonly engine: Engine
  /** The database file, for error messages. */
  readonly path: string
  /** How long a request may block this thread while another connection writes. */
  readonly busyTimeoutMs: number
  /** Throws when another process may have taken the database over. */
  assertOwner(): void
}

/** The same for a request outside a transaction: such requests are rare, and expensive to repeat. */
const NO_TRANSACTION_TIMEOUT_MS = 1_000

/** `undefined`: the request was deferred. */
type GroupResult = RpcResult | undefined

/**
 * Executes requests in order, in one transaction. A refused request (HookswitchError) has written nothing and does not
 * affect the others. Any other error rolls the group back; then each request is retried in its own transaction. While
 * another connection writes, requests that only read are still executed.
 *
 * @param deferWhenBusy requests that write are then deferred instead of failing
 */
export type RunGroup = (requests: readonly RpcRequest[], deferWhenBusy: boolean) => readonly GroupResult[]

export function createGroupCommit({
  db,
  engine,
  path,
  busyTimeoutMs,
  assertOwner,
}: GroupCommitDeps): RunGroup {
  const beginRead = db.prepare('BEGIN')
  setBusyTimeout(db, busyTimeoutMs)
  // A transaction that begins with a read cannot wait for the write lock later.
  const beginWrite = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')

  function undo(): void {
    try {
      rollback.run()
    } catch {
      // SQLite has rolled back already, as it does for a full disk and a few other errors.
    }
    engine.rolledBack()
  }

  function runTransaction(requests: readonly RpcRequest[], deferWhenBusy: boolean): readonly GroupResult[] {
    const isReadOnly = requests.every(isRead)
    try {
      if (!isReadOnly) assertOwner()
      ;(isReadOnly ? beginRead : beginWrite).run()
    } catch (thrown) {
      const result =
        deferWhenBusy && isBusy(thrown) ? undefined : { error: notWritten(toStoreError(thrown, path)) }
      if (isReadOnly) return requests.map(() => result)
      const reads = runTransaction(requests.filter(isRead), deferWhenBusy)
      let next = 0
      return requests.map((request) => (isRead(request) ? reads[next++] : result))
    }
    let results: readonly RpcResult[]
    let isCommitting = false
    try {
      results = requests.map((request) => execute(engine, request))
      isCommitting = true
      commit.run()
    } catch (thrown) {
      undo()
      if (requests.length === 1) {
        const error = toStoreError(thrown, path)
        // What a disk has of a commit that it failed to write is unknown until the file is opened again.
        return [{ error: isCommitting && !isFull(thrown) && !isBusy(thrown) ? error : notWritten(error) }]
      }
      return requests.flatMap((request) => runTransaction([request], deferWhenBusy))
    }
    engine.committed()
    return results
  }

  function runWithoutTransaction(request: RpcRequest): GroupResult {
    try {
      setBusyTimeout(db, NO_TRANSACTION_TIMEOUT_MS)
      return execute(engine, request)
    } catch (thrown) {
      return { error: toStoreError(thrown, path) }
    } finally {
      setBusyTimeout(db, busyTimeoutMs)
    }
  }

  return (requests, deferWhenBusy) => {
    if (!requests.some(isOutsideTransaction)) return runTransaction(requests, deferWhenBusy)
    return split(requests).flatMap((part) =>
      isOutsideTransaction(part[0]!) ? runWithoutTransaction(part[0]!) : runTransaction(part, deferWhenBusy),
    )
  }
}

const isRead = (request: RpcRequest) => effectOf(request) === 'read'
const isOutsideTransaction = (request: RpcRequest) => effectOf(request) === 'noTransaction'

/** Splits requests, in order, into groups for a transaction and single requests without one. */
function split(requests: readonly RpcRequest[]): readonly (readonly RpcRequest[])[] {
  const parts: RpcRequest[][] = []
  let isOpen = false
  for (const request of requests) {
    const joins = isOpen && !isOutsideTransaction(request)
    if (joins) parts.at(-1)!.push(request)
    else parts.push([request])
    isOpen = !isOutsideTransaction(request)
  }
  return parts
}

function execute(engine: Engine, { port, method, args }: RpcRequest): RpcResult {
  const methods = engine[port] as unknown as Readonly<Record<string, (...args: unknown[]) => unknown>>
  try {
    return { value: methods[method]!(...args) }
  } catch (thrown) {
    if (errorCode(thrown)) return { error: thrown as HookswitchError }
    throw thrown
  }
}
