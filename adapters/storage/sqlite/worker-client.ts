/** The host's side of the worker thread: sends requests and resolves their promises. */
import { Worker } from 'node:worker_threads'
import type { Backend, BackendDeps } from './backend.js'
import { messageOf, unavailableError } from './errors.js'
import { closeOnExit, createExitGate } from './exit-gate.js'
import {
  type ClientMessage,
  MAX_REQUESTS_PER_MESSAGE,
  type NumberedRequest,
  type WorkerData,
  type WorkerMessage,
} from './messages.js'
import type { OpenRequest } from './open.js'
import type { RpcRequest } from './rpc-methods.js'
import { deserializeError } from './serialized-error.js'
import { workerPath } from './worker-path.js'

interface PendingRequest {
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
}

/**
 * Size of the worker's young generation, MB. Its objects die within a request. V8's default would let their garbage grow to
 * 48 MB and is hardly faster; with 6 MB the collector takes up to a tenth of the processor time of a delivery.
 */
const YOUNG_GENERATION_MB = 16

/**
 * Opens the database in a worker thread. Requests made in one turn of the event loop are sent as one message. The worker
 * keeps the process alive only while requests are pending.
 */
export function openInWorker(request: OpenRequest, deps: BackendDeps): Promise<Backend> {
  // Without the host's Node flags: workers refuse `--input-type`, and modules of `--import` are not meant for us.
  const gate = createExitGate()
  const worker = new Worker(workerPath(), {
    workerData: { request, gate } satisfies WorkerData,
    name: 'hookswitch-sqlite',
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  })
  const forgetGate = closeOnExit(gate)
  const pending = new Map<number, PendingRequest>()
  let outgoing: NumberedRequest[] = []
  let lastId = 0
  let webhookVersion = 0
  /** Set once the worker has failed or ended: every further request rejects with it. */
  let failure: unknown
  let isClosing = false

  function sendNumbered(send: (id: number) => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (failure) return reject(failure)
      lastId += 1
      if (pending.size === 0) worker.ref()
      pending.set(lastId, { resolve, reject })
      send(lastId)
    })
  }

  function takePending(id: number): PendingRequest {
    const found = pending.get(id)!
    pending.delete(id)
    // The process must not end while the worker closes the database: its native code would abort.
    if (pending.size === 0 && !isClosing) worker.unref()
    return found
  }

  function post(message: ClientMessage): void {
    try {
      const buffers =
        message.kind === 'requests' ? message.requests.flatMap(({ transfer = [] }) => transfer) : []
      worker.postMessage(message, buffers as ArrayBuffer[])
    } catch (thrown) {
      // An argument cannot be cloned: resend the requests one by one to find out which.
      if (message.kind !== 'requests') throw thrown
      const [first, ...others] = message.requests
      if (others.length === 0) takePending(first!.id).reject(thrown)
      else for (const request of message.requests) post({ kind: 'requests', requests: [request] })
    }
  }

  function flush(): void {
    const requests = outgoing
    outgoing = []
    for (let from = 0; from < requests.length; from += MAX_REQUESTS_PER_MESSAGE) {
      post({ kind: 'requests', requests: requests.slice(from, from + MAX_REQUESTS_PER_MESSAGE) })
    }
  }

  function onResults(message: Extract<WorkerMessage, { kind: 'results' }>): void {
    webhookVersion = message.webhookVersion
    for (const result of message.results) {
      const { resolve, reject } = takePending(result.id)
      if ('error' in result) reject(deserializeError(result.error))
      else resolve(result.value)
    }
    if (message.hasNotice) deps.notify()
  }

  function fail(reason: unknown): void {
    failure = reason
    for (const { reject } of pending.values()) reject(reason)
    pending.clear()
  }

  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const backend: Backend = {
    request: (call: RpcRequest) =>
      sendNumbered((id) => {
        if (outgoing.push({ id, ...call }) === 1) queueMicrotask(flush)
      }),
    webhookVersion: () => webhookVersion,
    secret: () => sendNumbered((id) => post({ kind: 'secret', id })) as Promise<string>,
    async replaceSecret(secret) {
      await sendNumbered((id) => post({ kind: 'replaceSecret', id, secret }))
    },
    close() {
      isClosing = true
      flush()
      worker.ref()
      if (!failure) post({ kind: 'close' })
      return exited
    },
  }

  return new Promise((resolve, reject) => {
    let isOpen = false
    let reason = 'it ended'
    worker.on('message', (message: WorkerMessage) => {
      if (message.kind === 'warning') deps.warn(message.sentence)
      else if (message.kind === 'results') onResults(message)
      else if (message.kind === 'openFailed') fail(deserializeError(message.error))
      else {
        isOpen = true
        worker.unref()
        resolve(backend)
      }
    })
    worker.on('error', (thrown) => {
      reason = messageOf(thrown)
    })
    worker.on('exit', () => {
      forgetGate()
      fail(
        failure ??
          unavailableError(`the worker thread of the store has exited (${reason}): reopen the store`),
      )
      if (!isOpen) reject(failure)
      else if (!isClosing) deps.onLost(reason)
    })
  })
}
