import { effectOf } from './call.js'
import { storeError } from './errors.js'
import {
  type Answer,
  failureLetter,
  type NumberedCall,
  type Order,
  type OutcomeLetter,
  outcomeLetter,
} from './message.js'
import type { Session } from './open.js'
import { WAIT_MS } from './pragmas.js'
import type { WakeUp } from './wake-ups.js'

/** How soon writes are tried again that another connection keeps out. */
const RETRY_MS = 20

/**
 * Carries out orders on an open database, in their order. While the host writes in a transaction of its own, calls that
 * write wait for it, up to five seconds, and those that read go on: a host that awaits a call inside its transaction
 * would wait for itself.
 *
 * @param end called when the database is closed
 */
export function serve(
  session: Session,
  post: (answer: Answer) => void,
  end: () => void,
): (orders: readonly Order[]) => void {
  let held: NumberedCall[] = []
  let heldSinceMs = 0
  let closing = false

  function tell(outcomes: readonly OutcomeLetter[], wakeUps: readonly WakeUp[]): void {
    post({ kind: 'ended', outcomes, wakeUps, webhookChanges: session.webhookChanges() })
  }

  function carryOut(calls: readonly NumberedCall[], patient: boolean): void {
    const ended = session.run(calls, patient)
    const outcomes = calls.flatMap(({ id }, index) => (ended[index] ? outcomeLetter(id, ended[index]) : []))
    const wakeUps = session.takeWakeUps()
    if (outcomes.length > 0 || wakeUps.length > 0) tell(outcomes, wakeUps)
    if (outcomes.length < calls.length) hold(calls.filter((_, index) => !ended[index]))
  }

  function hold(calls: readonly NumberedCall[]): void {
    if (held.length === 0) {
      heldSinceMs = performance.now()
      setTimeout(tryHeld, RETRY_MS)
    }
    held.push(...calls)
  }

  function tryHeld(): void {
    const calls = held
    const since = heldSinceMs
    held = []
    carryOut(calls, performance.now() - since < WAIT_MS)
    // Those that wait still have waited before.
    if (held.length > 0) heldSinceMs = since
    else if (closing) close()
  }

  function take(calls: readonly NumberedCall[]): void {
    if (calls.length === 0) return
    if (held.length > 0) {
      // In their order: none overtakes those that wait.
      hold(calls.filter((call) => effectOf(call) !== 'reads'))
      const readers = calls.filter((call) => effectOf(call) === 'reads')
      if (readers.length > 0) carryOut(readers, true)
    } else carryOut(calls, true)
  }

  function tellSecret(id: number): void {
    let outcome: ReturnType<typeof outcomeLetter>
    try {
      outcome = { id, value: session.secret() }
    } catch (thrown) {
      outcome = { id, failure: failureLetter(storeError(thrown, session.path)) }
    }
    tell([outcome], [])
  }

  function close(): void {
    session.close()
    end()
  }

  return (orders) => {
    let calls: NumberedCall[] = []
    for (const order of orders) {
      if (order.kind === 'calls') {
        calls = calls.length === 0 ? [...order.calls] : [...calls, ...order.calls]
        continue
      }
      take(calls)
      calls = []
      if (order.kind === 'secret') tellSecret(order.id)
      else if (held.length === 0) close()
      else closing = true
    }
    take(calls)
  }
}
