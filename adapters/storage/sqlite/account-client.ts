/**
 * The accounts port over the engine, for thousands of accounts at a time: what is requested in one turn of the event loop is one
 * request, and documents cross to this thread as text, which costs less than a structured clone.
 */
import {
  type Account,
  type AccountStore,
  type HookswitchError,
  type User,
  userNameKey,
} from 'hookswitch/store'
import { accountRowsOf, writeAccountRows } from './account-rows.js'
import { Writer } from './encoded-values.js'
import type { RpcAccounts } from './rpc-methods.js'
import { deserializeError } from './serialized-error.js'

/** Accounts in a request. Those that are inserted are one transaction: more would delay what other callers write. */
const MAX_ACCOUNTS = 2_000

interface Waiting<Result> {
  resolve(result: Result): void
  reject(reason: unknown): void
}

/** @param toStoreError translates the error of a stored document that is not JSON */
export function createAccountClient(
  accounts: RpcAccounts,
  toStoreError: (thrown: unknown) => HookswitchError,
): AccountStore {
  const { insertAll, listDocs, userDocs, ...port } = accounts
  const parse = (docs: string): unknown => {
    try {
      return JSON.parse(docs)
    } catch (thrown) {
      throw toStoreError(thrown)
    }
  }
  return {
    ...port,
    insert: createInsert(insertAll),
    list: async () => parse(await listDocs()) as Account[],
    users: createUsers(async (accountIds) => parse(await userDocs(accountIds)) as User[][]),
  }
}

interface PendingInsertions {
  readonly rows: Writer
  readonly calls: Waiting<void>[]
}

function createInsert(insertAll: RpcAccounts['insertAll']): AccountStore['insert'] {
  let pending: PendingInsertions | undefined

  function send(): void {
    if (!pending) return
    const { rows, calls } = pending
    pending = undefined
    insertAll(rows.finish(), calls.length).then(
      (refusals) => {
        for (const { index, error } of refusals) calls[index]!.reject(deserializeError(error))
        // Those that were refused are settled already.
        for (const { resolve } of calls) resolve()
      },
      (thrown: unknown) => {
        for (const { reject } of calls) reject(thrown)
      },
    )
  }

  return (...insertion) =>
    new Promise((resolve, reject) => {
      if (!pending) {
        pending = { rows: new Writer(), calls: [] }
        queueMicrotask(send)
      }
      writeAccountRows(pending.rows, accountRowsOf(...insertion))
      if (pending.calls.push({ resolve, reject }) === MAX_ACCOUNTS) send()
    })
}

interface PendingReads {
  readonly accountIds: string[]
  readonly calls: Waiting<readonly User[]>[]
}

function createUsers(read: (accountIds: readonly string[]) => Promise<User[][]>): AccountStore['users'] {
  let pending: PendingReads | undefined

  function send(): void {
    if (!pending) return
    const { accountIds, calls } = pending
    pending = undefined
    read(accountIds).then(
      (lists) => {
        lists.forEach((users, index) => {
          calls[index]!.resolve(users.sort((a, b) => (userNameKey(a) < userNameKey(b) ? -1 : 1)))
        })
      },
      (thrown: unknown) => {
        for (const { reject } of calls) reject(thrown)
      },
    )
  }

  return async (accountId) => {
    // Any other type is no account's id, and would make the request of all the others fail.
    if (typeof accountId !== 'string') return []
    return new Promise((resolve, reject) => {
      if (!pending) {
        pending = { accountIds: [], calls: [] }
        queueMicrotask(send)
      }
      pending.accountIds.push(accountId)
      if (pending.calls.push({ resolve, reject }) === MAX_ACCOUNTS) send()
    })
  }
}
