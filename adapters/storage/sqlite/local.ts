import type { Backend, BackendDoors } from './backend.js'
import { type Opening, openSession } from './open.js'

/** The database in the thread of its caller: each call is a transaction of its own, over when it returns. */
export function openLocal(opening: Opening, { warn, wake }: BackendDoors): Backend {
  const session = openSession(opening, warn)
  return {
    ask(call) {
      const [outcome] = session.run([call], false)
      for (const wakeUp of session.takeWakeUps()) wake(wakeUp)
      return 'failure' in outcome! ? Promise.reject(outcome.failure) : Promise.resolve(outcome!.value)
    },
    webhookChanges: session.webhookChanges,
    secret: async () => session.secret(),
    close: async () => session.close(),
  }
}
