/** Sends accounts that are inserted at the same time as one request, which costs a third of a request for each. */
import type { AccountStore } from 'hookswitch/store'
import { type AccountRows, accountRowsOf } from './account-rows.js'
import type { RpcAccounts } from './rpc-methods.js'
import { deserializeError } from './serialized-error.js'

/** Accounts in a request, which are written in one transaction: more would delay what other callers write. */
const MAX_ACCOUNTS = 2_000

interface PendingInsertion {
  readonly rows: AccountRows
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/** The accounts port over the engine. Accounts inserted in one turn of the event loop are one request. */
export function withInsertsTogether(accounts: RpcAccounts): AccountStore {
  const { insertAll, ...port } = accounts
  let pending: PendingInsertion[] = []

  function send(): void {
    const sent = pending
    pending = []
    for (let from = 0; from < sent.length; from += MAX_ACCOUNTS)
      sendPart(sent.slice(from, from + MAX_ACCOUNTS))
  }

  function sendPart(part: readonly PendingInsertion[]): void {
    insertAll(part.map(({ rows }) => rows)).then(
      (errors) => {
        part.forEach(({ resolve, reject }, index) => {
          const error = errors[index]
          if (error) reject(deserializeError(error))
          else resolve()
        })
      },
      (thrown: unknown) => {
        for (const { reject } of part) reject(thrown)
      },
    )
  }

  return {
    ...port,
    insert: (...insertion) =>
      new Promise((resolve, reject) => {
        if (pending.push({ rows: accountRowsOf(...insertion), resolve, reject }) === 1) queueMicrotask(send)
      }),
  }
}
