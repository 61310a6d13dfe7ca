/** The accounts that a user may choose. */
import type { AccountDescendant } from 'hookswitch/client'
import { accountPage, optional, page } from './api.js'
import { findAll } from './search.js'

export interface FoundAccount {
  readonly id: string
  readonly name: string
}

/** Accounts that a list shows; others are found by their name. */
const SHOWN = 20

/** The first accounts below one. */
export async function accountList(
  accountId: string,
  signal: AbortSignal,
): Promise<{ readonly items: readonly FoundAccount[]; readonly hasMore: boolean }> {
  const found = await optional(
    accountPage<AccountDescendant>('/descendants', { accountId, pageSize: SHOWN }, signal),
  )
  return { items: found?.items ?? [], hasMore: found?.nextStartKey !== undefined }
}

/** Finds accounts by the beginning of their name: below the account, or among all. */
export async function findAccounts(
  accountId: string,
  text: string,
  isAmongAll: boolean,
  signal: AbortSignal,
): Promise<readonly FoundAccount[]> {
  if (isAmongAll) {
    const found = await findAll(text, signal)
    return found
      .filter(({ type }) => type === 'account')
      .map(({ account_id, account_name }) => ({ id: account_id, name: account_name }))
  }
  const query = { accountId, t: 'account', q: 'name', v: text, pageSize: SHOWN }
  return (await optional(page<FoundAccount>('/accounts/{account_id}/search', query, signal)))?.items ?? []
}
