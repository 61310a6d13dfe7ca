/**
 * Entry point of the worker thread that runs a store's database, so that the host's thread never waits for the disk. It
 * ends when it receives `close`, or when the database cannot be opened.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { toStoreError } from './errors.js'
import { type ExitGate, throughGate } from './exit-gate.js'
import {
  type ClientMessage,
  MAX_REQUESTS_PER_MESSAGE,
  type WorkerData,
  type WorkerMessage,
} from './messages.js'
import { openDatabase, type SqliteDatabase } from './open.js'
import { serializeError } from './serialized-error.js'
import { createWorkerServer } from './worker-server.js'

/** How long a write may wait inside SQLite, which blocks this thread; a longer wait is split into retries. */
const BUSY_TIMEOUT_MS = 20

/** Takes all messages that arrived while the previous transaction was written: they form the next group. */
function drain(port: MessagePort, first: ClientMessage): readonly ClientMessage[] {
  const messages = [first]
  let count = first.kind === 'requests' ? first.requests.length : 0
  while (count < MAX_REQUESTS_PER_MESSAGE) {
    const next = receiveMessageOnPort(port) as { readonly message: ClientMessage } | undefined
    if (!next) break
    messages.push(next.message)
    if (next.message.kind === 'requests') count += next.message.requests.length
  }
  return messages
}

/** The same database, every call of which passes the gate. */
const gated = (database: SqliteDatabase, gate: ExitGate): SqliteDatabase => ({
  ...database,
  run: (requests, deferWhenBusy) => throughGate(gate, () => database.run(requests, deferWhenBusy)),
  secret: () => throughGate(gate, database.secret),
  replaceSecret: (secret) => throughGate(gate, () => database.replaceSecret(secret)),
  close: () => throughGate(gate, database.close),
})

function run(port: MessagePort, { request, gate }: WorkerData): void {
  const post = (message: WorkerMessage, buffers: readonly ArrayBuffer[] = []) =>
    port.postMessage(message, buffers)
  const warn = (sentence: string) => post({ kind: 'warning', sentence })
  try {
    const database = throughGate(gate, () => openDatabase(request, warn, BUSY_TIMEOUT_MS))
    const execute = createWorkerServer(gated(database, gate), post, () => port.close())
    port.on('message', (message: ClientMessage) => execute(drain(port, message)))
    post({ kind: 'opened' })
  } catch (thrown) {
    post({ kind: 'openFailed', error: serializeError(toStoreError(thrown, request.path)) })
  }
}

run(parentPort!, workerData as WorkerData)
