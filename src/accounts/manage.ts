/** Creating, reading and updating accounts in the store. API keys are read and rotated through the directory. */
import { HookswitchError, invalidInput, notFound } from '../errors.js'
import type { Clock, Random } from '../ports.js'
import type { Account } from './account.js'
import {
  type AccountChange,
  type AccountInput,
  applyAccountChange,
  assertValidParent,
  belowItself,
  buildAccount,
  parseAccountChange,
  parseAccountInput,
} from './account-input.js'
import {
  API_KEY_BYTES,
  API_KEY_NONCE_BYTES,
  type ApiKeyRow,
  encryptApiKey,
  formatApiKey,
  hashApiKey,
} from './api-key.js'
import { changeAccount, conflictField } from './change-account.js'
import type { EnsureUsersDeps } from './ensure-users.js'
import { withListedId } from './listed-user.js'
import type { User } from './user.js'
import { buildUser, type UserView, userViews } from './users.js'

/** Dependencies of the account operations. */
export interface AccountDeps extends EnsureUsersDeps {
  readonly random: Pick<Random, 'bytes'>
  readonly clock: Pick<Clock, 'now' | 'yield'>
}

/** An account with its users, without secrets. */
export interface AccountView extends Account {
  /** Sorted by user name. */
  readonly users: readonly UserView[]
}

/** A new account. Its API key is returned only here; later it must be read explicitly. */
interface CreatedAccount extends AccountView {
  /** The API key in plain text. */
  readonly apiKey: string
}

/**
 * Creates an account with its API key and users, in one transaction.
 *
 * @param marks default: none
 * @throws `InvalidInput` with every violated rule, `Conflict` (field `id`, `realm` or `apiKey`) when taken
 */
export async function createAccount(
  deps: AccountDeps,
  input: AccountInput,
  marks: Pick<Account, 'isListed'> = {},
): Promise<CreatedAccount> {
  const { account, users, apiKey } = await insertAccount(deps, parseAccountInput(input), marks)
  return { ...account, users: userViews(users), apiKey }
}

/** A new account as it was stored. */
interface InsertedAccount {
  readonly account: Account
  readonly users: readonly User[]
  readonly apiKey: string
}

/**
 * Stores a new account of checked input.
 *
 * @param lineageOf the account with this id and its ancestors; default: read from the store
 * @throws as `createAccount`
 */
export async function insertAccount(
  deps: AccountDeps,
  parsed: AccountInput,
  marks: Pick<Account, 'isListed'>,
  lineageOf = (accountId: string): Promise<readonly Account[]> => deps.accounts.lineage(accountId),
): Promise<InsertedAccount> {
  const accountId = parsed.id ?? deps.newId()
  if (parsed.parentId !== undefined) assertValidParent(accountId, await lineageOf(parsed.parentId))
  const apiKey = parsed.apiKey ?? formatApiKey(deps.random.bytes(API_KEY_BYTES))
  // Nobody has a key that was drawn just now.
  if (parsed.apiKey !== undefined && (await deps.accounts.apiKeyByHash(hashApiKey(apiKey)))) {
    throw new HookswitchError('Conflict', 'apiKey: another account has this key', { field: 'apiKey' })
  }
  const account = { ...buildAccount(parsed, accountId, deps.clock.now()), ...marks }
  const users = (parsed.users ?? []).map((user) =>
    buildUser(deps, accountId, marks.isListed ? withListedId(accountId, user) : user),
  )
  await deps.accounts.insert(account, buildApiKey(deps, accountId, apiKey).row, users)
  return { account, users, apiKey }
}

/** Builds the stored form of an account's API key. Default of `apiKey`: a generated one. */
export function buildApiKey(
  deps: Pick<AccountDeps, 'cipher' | 'random' | 'newId'>,
  accountId: string,
  apiKey: string = formatApiKey(deps.random.bytes(API_KEY_BYTES)),
): { readonly apiKey: string; readonly row: ApiKeyRow } {
  const version = deps.newId()
  const nonce = deps.random.bytes(API_KEY_NONCE_BYTES)
  return { apiKey, row: encryptApiKey(deps.cipher, accountId, apiKey, version, nonce) }
}

/** Reads one account. @throws `NotFound` */
export async function getAccount(
  deps: Pick<AccountDeps, 'accounts'>,
  accountId: string,
): Promise<AccountView> {
  const account = await findAccount(deps, accountId)
  return { ...account, users: userViews(await deps.accounts.users(accountId)) }
}

/**
 * Changes the given fields and leaves the others.
 *
 * @throws `InvalidInput` (also for a parent that does not exist or is below the account), `Conflict` (field `realm`),
 *   `NotFound`, `RevisionConflict` if others change the account all the time
 */
export async function updateAccount(
  deps: Pick<AccountDeps, 'accounts' | 'clock'>,
  accountId: string,
  change: AccountChange,
  marks: Pick<Account, 'isListed'> = {},
): Promise<AccountView> {
  const parsed = parseAccountChange(change)
  const decide = async (before: Account) => {
    const after = { ...applyAccountChange(before, parsed, deps.clock.now()), ...marks }
    if (after.parentId === undefined || after.parentId === before.parentId) return { after }
    assertValidParent(accountId, await deps.accounts.lineage(after.parentId))
    return { after, conditions: { requireParent: true, acyclic: true } }
  }
  const asError = (thrown: unknown) =>
    conflictField(thrown) === 'parentId' ? invalidInput([belowItself]) : thrown
  const { after } = await changeAccount(deps, accountId, undefined, decide, asError)
  return { ...after, users: userViews(await deps.accounts.users(accountId)) }
}

async function findAccount(deps: Pick<AccountDeps, 'accounts'>, accountId: string): Promise<Account> {
  const [account] = await deps.accounts.lineage(accountId)
  if (!account) throw notFound(accountId, 'account')
  return account
}
