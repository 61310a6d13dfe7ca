/** Adding, changing and removing the users of an account. Tokens of changed users are revoked by `auth/revocation`. */
import { HookswitchError, notFound } from '../errors.js'
import type { Clock } from '../ports.js'
import type { SecretCipher } from '../values/encryption.js'
import { parsePassword, parseUserInput, type UserInput } from './account-input.js'
import type { AccountStore } from './account-store.js'
import { deriveCredentialKeys, hasPassword } from './credential.js'
import type { User } from './user.js'

/** Dependencies of the user operations. */
export interface UserDeps {
  readonly accounts: AccountStore
  readonly cipher: SecretCipher
  readonly clock: Pick<Clock, 'now'>
  newId(): string
}

/** A user without credentials. */
export interface UserView {
  /** The user’s id. */
  readonly id: string
  /** The user’s account. */
  readonly accountId: string
  /** The user name as given at creation. */
  readonly username: string
  /** Creation time, in Unix milliseconds. */
  readonly createdMs: number
  /** Time of the last change, in Unix milliseconds. */
  readonly modifiedMs: number
}

/** Users without credentials, sorted by user name. */
export function userViews(users: readonly User[]): readonly UserView[] {
  return users.map(userView).sort((a, b) => (a.username < b.username ? -1 : 1))
}

function userView({ id, accountId, username, createdMs, modifiedMs }: User): UserView {
  return { id, accountId, username, createdMs, modifiedMs }
}

/** Builds the row of a new user. */
export function buildUser(
  deps: Pick<UserDeps, 'cipher' | 'clock' | 'newId'>,
  accountId: string,
  input: UserInput,
): User {
  const nowMs = deps.clock.now()
  return {
    id: input.id ?? deps.newId(),
    accountId,
    username: input.username,
    credentialKeys: deriveCredentialKeys(deps.cipher, accountId, input.username, input.password),
    credentialVersion: deps.newId(),
    createdMs: nowMs,
    modifiedMs: nowMs,
  }
}

/**
 * Adds a user to an account.
 *
 * @throws `InvalidInput`, `Conflict` (field `id` or `username`) when taken, `NotFound` (the account)
 */
export async function addUser(deps: UserDeps, accountId: string, input: UserInput): Promise<UserView> {
  const parsed = parseUserInput(input)
  if (parsed.id !== undefined && (await deps.accounts.user(accountId, parsed.id))) {
    throw new HookswitchError('Conflict', `id: the account already has a user ${parsed.id}`, { field: 'id' })
  }
  const user = buildUser(deps, accountId, parsed)
  await deps.accounts.putUser(user)
  return userView(user)
}

/**
 * Removes a user. Resolves to the user's id.
 *
 * @param user the id, or else the user name in any case
 * @throws `NotFound`
 */
export async function removeUser(
  deps: Pick<UserDeps, 'accounts'>,
  accountId: string,
  user: string,
): Promise<string> {
  const { id } = await findUser(deps, accountId, user)
  if (!(await deps.accounts.removeUser(accountId, id))) throw notFound(user, 'user')
  return id
}

/**
 * Sets a user's password and gives the credential a new version, even when the password is the same: tokens issued
 * for the old version become invalid. Resolves to the user's id.
 *
 * @param user the id, or else the user name in any case
 * @throws `InvalidInput` (field `password`), `NotFound`
 */
export async function setPassword(
  deps: UserDeps,
  accountId: string,
  user: string,
  password: string,
): Promise<string> {
  const parsed = parsePassword(password)
  const found = await findUser(deps, accountId, user)
  const changed = withCredentials(deps, found, found.username, parsed)
  await deps.accounts.putUser({ ...changed, credentialVersion: deps.newId() })
  return found.id
}

/** Adds the user, or updates name and password. Writes nothing when both are already up to date. */
export async function ensureUser(deps: UserDeps, accountId: string, input: UserInput): Promise<void> {
  const parsed = parseUserInput(input)
  const found = findByIdOrName(await deps.accounts.users(accountId), parsed.id ?? parsed.username)
  if (!found) return deps.accounts.putUser(buildUser(deps, accountId, parsed))
  const changed = withCredentials(deps, found, parsed.username, parsed.password)
  const stored = new Set(found.credentialKeys)
  // The keys also differ when only the first service secret was replaced: then they are derived and written again.
  if (found.username !== parsed.username || !changed.credentialKeys.every((key) => stored.has(key))) {
    await deps.accounts.putUser(changed)
  }
}

/** Returns the user with this name and password. The credential's version changes only when the credential does. */
function withCredentials(
  deps: Pick<UserDeps, 'cipher' | 'clock' | 'newId'>,
  user: User,
  username: string,
  password: string,
): User {
  const isSame =
    user.username.toLowerCase() === username.toLowerCase() && hasPassword(deps.cipher, user, password)
  return {
    ...user,
    username,
    credentialKeys: deriveCredentialKeys(deps.cipher, user.accountId, username, password),
    credentialVersion: isSame ? user.credentialVersion : deps.newId(),
    modifiedMs: deps.clock.now(),
  }
}

async function findUser(
  deps: Pick<UserDeps, 'accounts'>,
  accountId: string,
  idOrName: string,
): Promise<User> {
  const found = findByIdOrName(await deps.accounts.users(accountId), idOrName)
  if (!found) throw notFound(idOrName, 'user')
  return found
}

/** A matching id takes precedence over a matching name. */
function findByIdOrName(users: readonly User[], idOrName: string): User | undefined {
  const name = idOrName.toLowerCase()
  return (
    users.find((user) => user.id === idOrName) ?? users.find((user) => user.username.toLowerCase() === name)
  )
}
