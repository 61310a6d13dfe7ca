/** The worker's side: executes messages on an open database, in order, and sends the results. */
import { toStoreError } from './errors.js'
import {
  type ClientMessage,
  type NumberedRequest,
  type ResultMessage,
  serializeResult,
  type WorkerMessage,
} from './messages.js'
import type { SqliteDatabase } from './open.js'
import { BUSY_TIMEOUT_MS } from './pragmas.js'
import { effectOf } from './rpc-methods.js'
import { serializeError } from './serialized-error.js'

/** Interval at which deferred writes are retried while another connection is writing. */
const RETRY_MS = 20

/**
 * Returns a function that executes messages. While the host has a write transaction open, requests that write are
 * deferred for up to five seconds and requests that read are still executed: otherwise a host that awaits a read inside
 * its transaction would deadlock.
 *
 * @param onClosed called when the database is closed
 */
export function createWorkerServer(
  database: SqliteDatabase,
  post: (message: WorkerMessage, buffers: readonly ArrayBuffer[]) => void,
  onClosed: () => void,
): (messages: readonly ClientMessage[]) => void {
  let deferred: NumberedRequest[] = []
  let deferredSinceMs = 0
  let isClosing = false

  function postResults(results: readonly ResultMessage[], hasNotice: boolean): void {
    const buffers = results.flatMap((result) => ('value' in result ? buffersIn(result.value) : []))
    post({ kind: 'results', results, hasNotice, webhookVersion: database.webhookVersion() }, buffers)
  }

  function execute(requests: readonly NumberedRequest[], deferWhenBusy: boolean): void {
    const ended = database.run(requests, deferWhenBusy)
    const results = requests.flatMap(({ id }, index) =>
      ended[index] ? serializeResult(id, ended[index]) : [],
    )
    const hasNotice = database.takeNotice()
    if (results.length > 0 || hasNotice) postResults(results, hasNotice)
    if (results.length < requests.length) defer(requests.filter((_, index) => !ended[index]))
  }

  function defer(requests: readonly NumberedRequest[]): void {
    if (deferred.length === 0) {
      deferredSinceMs = performance.now()
      setTimeout(retryDeferred, RETRY_MS)
    }
    deferred.push(...requests)
  }

  function retryDeferred(): void {
    const requests = deferred
    const sinceMs = deferredSinceMs
    deferred = []
    execute(requests, performance.now() - sinceMs < BUSY_TIMEOUT_MS)
    // Requests that are deferred again keep the time at which they were first deferred.
    if (deferred.length > 0) deferredSinceMs = sinceMs
    else if (isClosing) close()
  }

  function accept(requests: readonly NumberedRequest[]): void {
    if (requests.length === 0) return
    if (deferred.length > 0) {
      // Writes stay in order: none overtakes a deferred one.
      defer(requests.filter((request) => effectOf(request) !== 'read'))
      const reads = requests.filter((request) => effectOf(request) === 'read')
      if (reads.length > 0) execute(reads, true)
    } else execute(requests, true)
  }

  /** @param use reads or replaces the key, outside any transaction */
  function postSecret(id: number, use: () => string | undefined): void {
    let result: ResultMessage
    try {
      result = { id, value: use() }
    } catch (thrown) {
      result = { id, error: serializeError(toStoreError(thrown, database.path)) }
    }
    postResults([result], false)
  }

  function replaceSecret({ id, secret }: { readonly id: number; readonly secret: string }): void {
    postSecret(id, () => {
      database.replaceSecret(secret)
      return undefined
    })
  }

  function close(): void {
    database.close()
    onClosed()
  }

  return (messages) => {
    let requests: NumberedRequest[] = []
    for (const message of messages) {
      if (message.kind === 'requests') {
        requests = requests.length === 0 ? [...message.requests] : [...requests, ...message.requests]
        continue
      }
      accept(requests)
      requests = []
      if (message.kind === 'secret') postSecret(message.id, database.secret)
      else if (message.kind === 'replaceSecret') replaceSecret(message)
      else if (deferred.length === 0) close()
      else isClosing = true
    }
    accept(requests)
  }
}

/** The buffers of columns in a result, or in a property of it: they are moved, not copied. */
function buffersIn(value: unknown, depth = 0): readonly ArrayBuffer[] {
  if (ArrayBuffer.isView(value)) return [value.buffer as ArrayBuffer]
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth === 2) return []
  return Object.values(value).flatMap((part) => buffersIn(part, depth + 1))
}
