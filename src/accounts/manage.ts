import { HookswitchError, notFound } from '../errors.js'
import type { Account } from './account.js'
import {
  type AccountChange,
  type AccountInput,
  changedAccount,
  checkParent,
  newAccount,
  parseAccountChange,
  parseAccountInput,
} from './account-input.js'
import {
  API_KEY_BYTES,
  API_KEY_NONCE_BYTES,
  apiKeyHash,
  apiKeyRow,
  apiKeyText,
  openApiKey,
} from './api-key.js'
import type { AccountDoors } from './doors.js'
import { newUser, type UserView, userViews } from './users.js'

/** An account with the names of its users; never a secret. */
export interface AccountView extends Account {
  /** Sorted by user name. */
  readonly users: readonly UserView[]
}

/** A new account, and the only time its key comes along unasked. */
export interface CreatedAccount extends AccountView {
  readonly apiKey: string
}

/**
 * Makes an account with its API key and users, in one transaction.
 *
 * @throws `InvalidInput` with every broken rule, `Conflict` (field `id`, `realm` or `apiKey`) when taken
 */
export async function createAccount(doors: AccountDoors, input: AccountInput): Promise<CreatedAccount> {
  const wanted = parseAccountInput(input)
  const accountId = wanted.id ?? doors.newId()
  if (wanted.parentId !== undefined) checkParent(accountId, await doors.accounts.lineage(wanted.parentId))
  const apiKey = wanted.apiKey ?? apiKeyText(doors.random.bytes(API_KEY_BYTES))
  if (await doors.accounts.apiKeyByHash(apiKeyHash(apiKey))) {
    throw new HookswitchError('Conflict', 'apiKey: another account has this key', { field: 'apiKey' })
  }
  const account = newAccount(wanted, accountId, doors.clock.now())
  const users = (wanted.users ?? []).map((user) => newUser(doors, accountId, user))
  await doors.accounts.insert(account, keyRow(doors, accountId, apiKey), users)
  return { ...account, users: userViews(users), apiKey }
}

/** One account. @throws `NotFound` */
export async function getAccount(
  doors: Pick<AccountDoors, 'accounts'>,
  accountId: string,
): Promise<AccountView> {
  const account = await existing(doors, accountId)
  return { ...account, users: userViews(await doors.accounts.users(accountId)) }
}

/** All accounts, sorted by id, without their users. */
export function listAccounts(doors: Pick<AccountDoors, 'accounts'>): Promise<readonly Account[]> {
  return doors.accounts.list()
}

/**
 * Changes what is given and leaves the rest.
 *
 * @throws `InvalidInput` (also for a parent that is unknown or below the account), `Conflict` (field `realm`),
 *   `NotFound`
 */
export async function updateAccount(
  doors: Pick<AccountDoors, 'accounts' | 'clock'>,
  accountId: string,
  change: AccountChange,
): Promise<AccountView> {
  const wanted = parseAccountChange(change)
  const account = await existing(doors, accountId)
  if (typeof wanted.parentId === 'string') {
    checkParent(accountId, await doors.accounts.lineage(wanted.parentId))
  }
  const changed = changedAccount(account, wanted, doors.clock.now())
  await doors.accounts.update(changed)
  return { ...changed, users: userViews(await doors.accounts.users(accountId)) }
}

/** Removes an account with its key and users. @throws `NotFound`, `Conflict` while there are accounts below it */
export function removeAccount(doors: Pick<AccountDoors, 'accounts'>, accountId: string): Promise<void> {
  return doors.accounts.remove(accountId)
}

/**
 * The account's API key in clear, for its owner.
 *
 * @throws `NotFound`; `StoreCorrupt` when none of the service's secrets opens it
 */
export async function readApiKey(
  doors: Pick<AccountDoors, 'accounts' | 'box'>,
  accountId: string,
): Promise<string> {
  const row = await doors.accounts.apiKey(accountId)
  if (!row) throw notFound(accountId)
  const apiKey = openApiKey(doors.box, row)
  if (apiKey === undefined) {
    throw new HookswitchError(
      'StoreCorrupt',
      `the API key of account ${accountId} does not open with the option secret: was the secret that sealed it removed?`,
      { field: 'secret' },
    )
  }
  return apiKey
}

/** Makes and keeps a new API key; with the old one nobody signs in any more. @throws `NotFound` */
export async function rotateApiKey(doors: AccountDoors, accountId: string): Promise<string> {
  await existing(doors, accountId)
  const apiKey = apiKeyText(doors.random.bytes(API_KEY_BYTES))
  await doors.accounts.putApiKey(keyRow(doors, accountId, apiKey))
  return apiKey
}

function keyRow(doors: AccountDoors, accountId: string, apiKey: string) {
  return apiKeyRow(doors.box, accountId, apiKey, doors.newId(), doors.random.bytes(API_KEY_NONCE_BYTES))
}

async function existing(doors: Pick<AccountDoors, 'accounts'>, accountId: string): Promise<Account> {
  const [account] = await doors.accounts.lineage(accountId)
  if (!account) throw notFound(accountId)
  return account
}
