/** Adding, changing and removing the users of an account. Tokens of changed users are revoked by `auth/revocation`. */

import { HookswitchError, notFound } from '../errors.js'
import type { Clock } from '../ports.js'
import { defined } from '../values/defined.js'
import type { SecretCipher } from '../values/encryption.js'
import { parsePassword, parseUserInput, type UserInput } from './account-input.js'
import type { AccountStore } from './account-store.js'
import { deriveCredentialKeys, hasPassword } from './credential.js'
import { withoutUndefined } from './document.js'
import { listedKeysAfter } from './listed-user.js'
import { type User, userRevision } from './user.js'

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
  /** The user name as given at creation. Absent: the user cannot sign in. */
  readonly username?: string
  /** First name. Absent: none was given. */
  readonly firstName?: string
  /** Last name. Absent: none was given. */
  readonly lastName?: string
  /** E-mail address. Absent: none was given. */
  readonly email?: string
  /** False: the user cannot sign in, and its tokens are invalid. Absent: true. */
  readonly enabled?: boolean
  /** What the user may do. Absent: `admin`. */
  readonly privLevel?: 'user' | 'admin'
  /** Creation time, in Unix milliseconds. */
  readonly createdMs: number
  /** Time of the last change, in Unix milliseconds. */
  readonly modifiedMs: number
}

/** Users without credentials, sorted by user name. */
export function userViews(users: readonly User[]): readonly UserView[] {
  return users.map(userView).sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
}

const sortKey = ({ username, id }: UserView): string => username ?? `:${id}`

function userView(user: User): UserView {
  const { id, accountId, username, firstName, lastName, email, enabled, privLevel, createdMs, modifiedMs } =
    user
  return withoutUndefined({
    id,
    accountId,
    username,
    firstName,
    lastName,
    email,
    enabled,
    privLevel,
    createdMs,
    modifiedMs,
  } as UserView)
}

/** Builds the row of a new user. */
export function buildUser(
  deps: Pick<UserDeps, 'cipher' | 'clock' | 'newId'>,
  accountId: string,
  input: UserInput,
): User {
  const nowMs = deps.clock.now()
  const { id = deps.newId(), username, password: _, ...fields } = input
  return {
    id,
    accountId,
    username,
    ...defined(fields),
    credentialKeys: deriveCredentialKeys(deps.cipher, accountId, input.username, input.password),
    credentialVersion: deps.newId(),
    createdMs: nowMs,
    modifiedMs: nowMs,
    revision: 1,
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
 * @throws `InvalidInput` (field `password`), `NotFound`, `Conflict` (field `username`) for a user without a name
 */
export async function setPassword(
  deps: UserDeps,
  accountId: string,
  user: string,
  password: string,
): Promise<string> {
  const parsed = parsePassword(password)
  const found = await findUser(deps, accountId, user)
  if (found.username === undefined) {
    throw new HookswitchError('Conflict', 'username: the user has no name to sign in with', {
      field: 'username',
    })
  }
  const changed = withCredentials(deps, found, found.username, parsed)
  const isSame = changed.credentialVersion === found.credentialVersion
  await deps.accounts.putUser({
    ...changed,
    ...listedKeysAfter(found, isSame),
    credentialVersion: deps.newId(),
  })
  return found.id
}

/** Returns the user with this name and password. The credential's version changes only when the credential does. */
export function withCredentials(
  deps: Pick<UserDeps, 'cipher' | 'clock' | 'newId'>,
  user: User,
  username: string,
  password: string,
): User {
  const isSame =
    user.username?.toLowerCase() === username.toLowerCase() && hasPassword(deps.cipher, user, password)
  return {
    ...user,
    username,
    credentialKeys: deriveCredentialKeys(deps.cipher, user.accountId, username, password),
    credentialVersion: isSame ? user.credentialVersion : deps.newId(),
    modifiedMs: deps.clock.now(),
    revision: userRevision(user) + 1,
  }
}

async function findUser(
  deps: Pick<UserDeps, 'accounts'>,
  accountId: string,
  idOrName: string,
): Promise<User> {
  const found = indexUsers(await deps.accounts.users(accountId)).find(idOrName)
  if (!found) throw notFound(idOrName, 'user')
  return found
}

/** Finds the users of one account by id or name. */
export interface UserIndex {
  /** A matching id takes precedence over a matching name, in any case. */
  find(idOrName: string): User | undefined
  /** Adds a user or replaces it. */
  add(user: User): void
}

/** Indexes the users of one account. */
export function indexUsers(users: readonly User[]): UserIndex {
  const byId = new Map<string, User>()
  const byName = new Map<string, User>()
  const index: UserIndex = {
    find: (idOrName) => byId.get(idOrName) ?? byName.get(idOrName.toLowerCase()),
    add(user) {
      const before = byId.get(user.id)
      if (before?.username !== undefined) byName.delete(before.username.toLowerCase())
      byId.set(user.id, user)
      if (user.username !== undefined) byName.set(user.username.toLowerCase(), user)
    },
  }
  for (const user of users) index.add(user)
  return index
}
