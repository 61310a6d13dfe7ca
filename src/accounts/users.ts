import { HookswitchError, notFound } from '../errors.js'
import { parsePassword, parseUserInput, type UserInput } from './account-input.js'
import { credentialKeys, hasPassword } from './credential.js'
import type { AccountDoors } from './doors.js'
import type { User } from './user.js'

/** A user as the host sees it: nothing of the password. */
export interface UserView {
  readonly id: string
  readonly accountId: string
  readonly username: string
  readonly createdMs: number
  readonly modifiedMs: number
}

/** Users as the host sees them, sorted by user name. */
export function userViews(users: readonly User[]): readonly UserView[] {
  return users.map(userView).sort((a, b) => (a.username < b.username ? -1 : 1))
}

function userView({ id, accountId, username, createdMs, modifiedMs }: User): UserView {
  return { id, accountId, username, createdMs, modifiedMs }
}

/** The row of a user who does not exist yet. */
export function newUser(
  doors: Pick<AccountDoors, 'box' | 'clock' | 'newId'>,
  accountId: string,
  input: UserInput,
): User {
  const nowMs = doors.clock.now()
  return {
    id: input.id ?? doors.newId(),
    accountId,
    username: input.username,
    credentialKeys: credentialKeys(doors.box, accountId, input.username, input.password),
    credentialVersion: doors.newId(),
    createdMs: nowMs,
    modifiedMs: nowMs,
  }
}

/**
 * Adds a user to an account.
 *
 * @throws `InvalidInput`, `Conflict` (field `id` or `username`) when taken, `NotFound` (the account)
 */
export async function addUser(doors: AccountDoors, accountId: string, input: UserInput): Promise<UserView> {
  const wanted = parseUserInput(input)
  if (wanted.id !== undefined && (await doors.accounts.user(accountId, wanted.id))) {
    throw new HookswitchError('Conflict', `id: the account has a user ${wanted.id} already`, { field: 'id' })
  }
  const user = newUser(doors, accountId, wanted)
  await doors.accounts.putUser(user)
  return userView(user)
}

/**
 * Removes a user. Resolves to the id.
 *
 * @param user the id, or else the user name in any case
 * @throws `NotFound`
 */
export async function removeUser(
  doors: Pick<AccountDoors, 'accounts'>,
  accountId: string,
  user: string,
): Promise<string> {
  const { id } = await findUser(doors, accountId, user)
  if (!(await doors.accounts.removeUser(accountId, id))) throw notFound(user)
  return id
}

/**
 * Gives a user a new password, and the credential a new version, also when it is the same password: tokens issued
 * for the old one are dead. Resolves to the user's id.
 *
 * @param user the id, or else the user name in any case
 * @throws `InvalidInput` (field `password`), `NotFound`
 */
export async function setPassword(
  doors: AccountDoors,
  accountId: string,
  user: string,
  password: string,
): Promise<string> {
  const wanted = parsePassword(password)
  const found = await findUser(doors, accountId, user)
  const changed = withCredentials(doors, found, found.username, wanted)
  await doors.accounts.putUser({ ...changed, credentialVersion: doors.newId() })
  return found.id
}

/** Adds the user, or brings name and password up to date; what is right already is not touched. */
export async function ensureUser(doors: AccountDoors, accountId: string, input: UserInput): Promise<void> {
  const wanted = parseUserInput(input)
  const found = userIn(await doors.accounts.users(accountId), wanted.id ?? wanted.username)
  if (!found) return doors.accounts.putUser(newUser(doors, accountId, wanted))
  const changed = withCredentials(doors, found, wanted.username, wanted.password)
  const known = new Set(found.credentialKeys)
  // The keys differ, too, when only the service's first secret was replaced: then they are written anew.
  if (found.username !== wanted.username || !changed.credentialKeys.every((key) => known.has(key))) {
    await doors.accounts.putUser(changed)
  }
}

/** A user with this name and password; the credential's version changes only when the credential does. */
function withCredentials(
  doors: Pick<AccountDoors, 'box' | 'clock' | 'newId'>,
  user: User,
  username: string,
  password: string,
): User {
  const same =
    user.username.toLowerCase() === username.toLowerCase() && hasPassword(doors.box, user, password)
  return {
    ...user,
    username,
    credentialKeys: credentialKeys(doors.box, user.accountId, username, password),
    credentialVersion: same ? user.credentialVersion : doors.newId(),
    modifiedMs: doors.clock.now(),
  }
}

async function findUser(
  doors: Pick<AccountDoors, 'accounts'>,
  accountId: string,
  idOrName: string,
): Promise<User> {
  const found = userIn(await doors.accounts.users(accountId), idOrName)
  if (!found) throw notFound(idOrName)
  return found
}

/** An id wins over a name. */
function userIn(users: readonly User[], idOrName: string): User | undefined {
  const name = idOrName.toLowerCase()
  return (
    users.find((user) => user.id === idOrName) ?? users.find((user) => user.username.toLowerCase() === name)
  )
}
