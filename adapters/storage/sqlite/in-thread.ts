/** The backend without a worker thread. */
import type { Backend, BackendDeps } from './backend.js'
import { type OpenRequest, openDatabase } from './open.js'

/** Opens the database in the calling thread: each call is one transaction, committed when it returns. */
export function openInThread(request: OpenRequest, { warn, notify }: BackendDeps): Backend {
  const database = openDatabase(request, warn)
  return {
    request(call) {
      const [result] = database.run([call], false)
      if (database.takeNotice()) notify()
      return 'error' in result! ? Promise.reject(result.error) : Promise.resolve(result!.value)
    },
    webhookVersion: database.webhookVersion,
    secret: async () => database.secret(),
    replaceSecret: async (secret) => database.replaceSecret(secret),
    close: async () => database.close(),
  }
}
