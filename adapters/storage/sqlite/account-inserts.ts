/** Sends accounts that are inserted at the same time as one request, which costs a third of a request for each. */
import type { AccountStore } from 'hookswitch/store'
import { accountRowsOf, writeAccountRows } from './account-rows.js'
import { Writer } from './encoded-values.js'
import type { RpcAccounts } from './rpc-methods.js'
import { deserializeError } from './serialized-error.js'

/** Accounts in a request, which are written in one transaction: more would delay what other callers write. */
const MAX_ACCOUNTS = 2_000

interface PendingRequest {
  readonly rows: Writer
  readonly insertions: { readonly resolve: () => void; readonly reject: (reason: unknown) => void }[]
}

/** The accounts port over the engine. Accounts inserted in one turn of the event loop are one request. */
export function withInsertsTogether(accounts: RpcAccounts): AccountStore {
  const { insertAll, ...port } = accounts
  let pending: PendingRequest | undefined

  function send(): void {
    if (!pending) return
    const { rows, insertions } = pending
    pending = undefined
    insertAll(rows.finish(), insertions.length).then(
      (refusals) => {
        for (const { index, error } of refusals) insertions[index]!.reject(deserializeError(error))
        for (const { resolve } of insertions) resolve()
      },
      (thrown: unknown) => {
        for (const { reject } of insertions) reject(thrown)
      },
    )
  }

  return {
    ...port,
    insert: (...insertion) =>
      new Promise((resolve, reject) => {
        if (!pending) {
          pending = { rows: new Writer(), insertions: [] }
          queueMicrotask(send)
        }
        writeAccountRows(pending.rows, accountRowsOf(...insertion))
        if (pending.insertions.push({ resolve, reject }) === MAX_ACCOUNTS) send()
      }),
  }
}
