import { LRUCache } from 'lru-cache'
import type { Backend } from './backend.js'
import type { Call } from './call.js'

/** Webhooks of all remembered answers together: two accounts of ten thousand, or thousands of a few. */
const MOST_WEBHOOKS = 20_000

interface Known {
  readonly webhooks: readonly unknown[]
  /** The count of changes as of which they are. */
  readonly changes: number
}

/**
 * Remembers on the host's side who may want an event, as long as no webhook of the file has changed: else each event
 * would go to the store's thread and back once more, and bring its webhooks along.
 */
export function rememberingCandidates(backend: Backend): Backend {
  const known = new LRUCache<string, Known>({
    maxSize: MOST_WEBHOOKS,
    sizeCalculation: ({ webhooks }) => webhooks.length + 1,
  })

  async function candidates(call: Call): Promise<unknown> {
    const name = JSON.stringify(call.args)
    const changes = backend.webhookChanges()
    const found = known.get(name)
    if (found?.changes === changes) return found.webhooks
    const webhooks = (await backend.ask(call)) as readonly unknown[]
    // Where one changed meanwhile nobody knows which came first.
    if (backend.webhookChanges() === changes) known.set(name, { webhooks, changes })
    return webhooks
  }

  return {
    ...backend,
    ask: (call) =>
      call.door === 'webhooks' && call.method === 'candidates' ? candidates(call) : backend.ask(call),
  }
}
