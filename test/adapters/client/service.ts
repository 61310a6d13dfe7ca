/** A real service over node:http with one account tree, for tests of the client. */
import { once } from 'node:events'
import { createHookswitch, type Hookswitch, memoryStore } from 'hookswitch'
import { createServer } from 'hookswitch/node'
import { onTestFinished } from 'vitest'

export const API_KEY = 'a'.repeat(40)
export const CHILD_KEY = 'c'.repeat(40)
export const USER = { username: 'Ada', password: 'correct horse' } as const

export interface TestService {
  readonly hs: Hookswitch
  /** Without the version. */
  readonly url: string
}

/** Starts a service with the accounts `parent` and, below it, `child`. Closed at the end of the test. */
export async function startService(options: object = {}): Promise<TestService> {
  const hs = createHookswitch({ store: memoryStore(), allowLocal: true, ingest: true, ...options })
  await hs.start()
  await hs.accounts.ensure([
    { id: 'parent', name: 'Parent Telecom', realm: 'parent.example', apiKey: API_KEY, users: [USER] },
    { id: 'child', name: 'Child', realm: 'child.example', parentId: 'parent', apiKey: CHILD_KEY },
  ])
  const server = createServer(hs).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.close().closeAllConnections()
    await hs.close({ drainMs: 0 })
  })
  const { port } = server.address() as { port: number }
  return { hs, url: `http://127.0.0.1:${port}` }
}
