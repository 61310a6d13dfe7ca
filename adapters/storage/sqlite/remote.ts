import { Worker } from 'node:worker_threads'
import type { Backend, BackendDoors } from './backend.js'
import type { Call } from './call.js'
import { messageOf, unavailable } from './errors.js'
import { type Answer, failureOf, MOST_CALLS, type NumberedCall, type Order } from './message.js'
import type { Opening } from './open.js'
import { workerFile } from './worker-file.js'

interface Asked {
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
}

/**
 * The database in a thread of its own. Calls of one turn of the event loop travel as one message. The thread keeps the
 * process alive only while something is asked of it.
 */
export function openRemote(opening: Opening, doors: BackendDoors): Promise<Backend> {
  // Without the flags of the host's process: `--input-type` is refused here, what `--import` loads is not for us.
  const options = { workerData: opening, name: 'hookswitch-sqlite', execArgv: [] }
  const worker = new Worker(workerFile(), options)
  const asked = new Map<number, Asked>()
  let leaving: NumberedCall[] = []
  let lastId = 0
  let webhookChanges = 0
  /** Why nothing is answered any more. */
  let over: unknown

  function ask(order: (id: number) => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (over) return reject(over)
      lastId += 1
      if (asked.size === 0) worker.ref()
      asked.set(lastId, { resolve, reject })
      order(lastId)
    })
  }

  function askedOnce(id: number): Asked {
    const found = asked.get(id)!
    asked.delete(id)
    if (asked.size === 0) worker.unref()
    return found
  }

  function post(order: Order): void {
    try {
      worker.postMessage(order)
    } catch (thrown) {
      // Something in it is no data: whose call that is will be seen.
      if (order.kind !== 'calls') throw thrown
      const [first, ...others] = order.calls
      if (others.length === 0) askedOnce(first!.id).reject(thrown)
      else for (const call of order.calls) post({ kind: 'calls', calls: [call] })
    }
  }

  function send(): void {
    const calls = leaving
    leaving = []
    for (let from = 0; from < calls.length; from += MOST_CALLS) {
      post({ kind: 'calls', calls: calls.slice(from, from + MOST_CALLS) })
    }
  }

  function ended({ outcomes, wakeUps, ...told }: Extract<Answer, { kind: 'ended' }>): void {
    webhookChanges = told.webhookChanges
    for (const outcome of outcomes) {
      const { resolve, reject } = askedOnce(outcome.id)
      if ('failure' in outcome) reject(failureOf(outcome.failure))
      else resolve(outcome.value)
    }
    for (const wakeUp of wakeUps) doors.wake(wakeUp)
  }

  function stop(reason: unknown): void {
    over = reason
    for (const { reject } of asked.values()) reject(reason)
    asked.clear()
  }

  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  let closing = false
  const backend: Backend = {
    ask: (call: Call) =>
      ask((id) => {
        const { door, method, args } = call
        if (leaving.push({ id, door, method, args }) === 1) queueMicrotask(send)
      }),
    webhookChanges: () => webhookChanges,
    secret: () => ask((id) => post({ kind: 'secret', id })) as Promise<string>,
    close() {
      closing = true
      send()
      worker.ref()
      if (!over) post({ kind: 'close' })
      return exited
    },
  }

  return new Promise((resolve, reject) => {
    let open = false
    let reason = 'it ended'
    worker.on('message', (answer: Answer) => {
      if (answer.kind === 'warning') doors.warn(answer.sentence)
      else if (answer.kind === 'ended') ended(answer)
      else if (answer.kind === 'refused') stop(failureOf(answer.failure))
      else {
        open = true
        worker.unref()
        resolve(backend)
      }
    })
    worker.on('error', (thrown) => {
      reason = messageOf(thrown)
    })
    worker.on('exit', () => {
      stop(over ?? unavailable(`the thread of the store is gone (${reason}): open the store again`))
      if (!open) reject(over)
      else if (!closing) doors.lost(reason)
    })
  })
}
