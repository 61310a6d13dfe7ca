import { LRUCache } from 'lru-cache'
import type { Backend } from './backend.js'
import { type Call, effectOf } from './call.js'

/** Most rows of all remembered answers of a kind: webhooks of two accounts of ten thousand, or of thousands with a few. */
const MOST_ROWS = 20_000

interface Known {
  readonly rows: readonly unknown[]
  /** The count of changes as of which they are. */
  readonly changes: number
}

interface Memory {
  /** What is remembered, else what the backend says. */
  answer(name: string, call: Call): Promise<readonly unknown[]>
  forget(): void
}

/**
 * Remembers on the host's side what each event asks for, as long as nothing has changed that it depends on: who may want
 * it, and whose its account is. Else each event would go to the store's thread and back once or twice more, and bring its
 * webhooks along.
 *
 * Webhooks change in the file with every failure, so the backend counts that. Accounts change only by calls that pass
 * here: one counts when it is asked and when it is answered, for an answer given between these may be of either side.
 *
 * @returns `forget`: for a backend that is gone, and must not seem to be there
 */
export function rememberingAnswers(backend: Backend): Backend & { forget(): void } {
  let accountCalls = 0
  const candidates = remembering(backend.ask, backend.webhookChanges)
  const lineages = remembering(backend.ask, () => accountCalls)

  /** Accounts reach the host, who may change what was given to it. */
  async function lineage(accountId: string, call: Call): Promise<readonly unknown[]> {
    const line = await lineages.answer(accountId, call)
    return line.map((account) => ({ ...(account as object) }))
  }

  async function changeAccounts(call: Call): Promise<unknown> {
    accountCalls += 1
    try {
      return await backend.ask(call)
    } finally {
      accountCalls += 1
    }
  }

  return {
    ...backend,
    ask(call) {
      const { door, method, args } = call
      if (door === 'webhooks' && method === 'candidates') return candidates.answer(JSON.stringify(args), call)
      if (door !== 'accounts') return backend.ask(call)
      if (method === 'lineage' && typeof args[0] === 'string') return lineage(args[0], call)
      return effectOf(call) === 'writes' ? changeAccounts(call) : backend.ask(call)
    },
    forget() {
      candidates.forget()
      lineages.forget()
    },
  }
}

/** @param changes counts what may change an answer */
function remembering(ask: Backend['ask'], changes: () => number): Memory {
  const known = new LRUCache<string, Known>({
    maxSize: MOST_ROWS,
    sizeCalculation: ({ rows }) => rows.length + 1,
  })

  return {
    async answer(name, call) {
      const before = changes()
      const found = known.get(name)
      if (found?.changes === before) return found.rows
      const rows = (await ask(call)) as readonly unknown[]
      // Where something changed meanwhile nobody knows which came first.
      if (changes() === before) known.set(name, { rows, changes: before })
      return rows
    },
    forget: () => known.clear(),
  }
}
