import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { storeError } from './errors.js'
import { type Answer, failureLetter, MOST_CALLS, type Order } from './message.js'
import { type Opening, openSession } from './open.js'
import { serve } from './serve.js'

/**
 * The thread in which a store's database lives: the host's never waits for a disk. It ends when it is told to close, or
 * when the database cannot be opened.
 */

/** How long a write waits inside SQLite, which blocks this thread; what has to wait longer is tried again. */
const SHORT_WAIT_MS = 20

/** Everything that came while one transaction was on its way to the disk, for the next one. */
function arrived(port: MessagePort, first: Order): readonly Order[] {
  const orders = [first]
  let calls = first.kind === 'calls' ? first.calls.length : 0
  while (calls < MOST_CALLS) {
    const next = receiveMessageOnPort(port) as { readonly message: Order } | undefined
    if (!next) break
    orders.push(next.message)
    if (next.message.kind === 'calls') calls += next.message.calls.length
  }
  return orders
}

function begin(port: MessagePort, opening: Opening): void {
  const post = (answer: Answer) => port.postMessage(answer)
  const warn = (sentence: string) => post({ kind: 'warning', sentence })
  try {
    const session = openSession(opening, warn, SHORT_WAIT_MS)
    const obey = serve(session, post, () => port.close())
    port.on('message', (order: Order) => obey(arrived(port, order)))
    post({ kind: 'opened' })
  } catch (thrown) {
    post({ kind: 'refused', failure: failureLetter(storeError(thrown, opening.path)) })
  }
}

begin(parentPort!, workerData as Opening)
