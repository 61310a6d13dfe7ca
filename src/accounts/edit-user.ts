/** Creating, changing and removing users as documents of the HTTP API, with every violated rule in one error. */
import { errorCode, type Failure, HookswitchError, invalidInput, notFound } from '../errors.js'
import type { Random } from '../ports.js'
import { isId } from '../values/ids.js'
import { changedConcurrently, MAX_TRIES } from './change-account.js'
import { deriveCredentialKeys, hasPassword } from './credential.js'
import type { UncheckedDocument } from './document.js'
import { type EditOptions, invalidId } from './edit-account.js'
import { listedKeysAfter } from './listed-user.js'
import { type User, userRevision } from './user.js'
import {
  type CheckedUser,
  type CredentialChange,
  checkUser,
  isOwnChangeAllowed,
  mergeUser,
  ownReplacement,
  rowFields,
  usernameTaken,
} from './user-document.js'
import type { UserDeps } from './users.js'

interface EditUserDeps extends UserDeps {
  readonly random: Pick<Random, 'bytes'>
}

/** A new user, with its id if the client may choose it. */
export interface NewUserDocument extends UncheckedDocument {
  readonly id?: unknown
}

/** A user before and after a change. */
interface UserChange {
  readonly before: User
  readonly after: User
}

const USERNAME_BYTES = 8

/**
 * Creates a user.
 *
 * @param mayChooseId whether `input.id` counts
 * @throws `InvalidInput` with every violated rule, `NotFound` (the account), `Conflict` (field `id`) for an id that is
 *   taken or was used before
 */
export async function createUser(
  deps: EditUserDeps,
  accountId: string,
  input: NewUserDocument,
  mayChooseId: boolean,
): Promise<User> {
  const { checked, credentials, failures } = checkUser(input)
  const givenId = mayChooseId ? input.id : undefined
  const all = [
    ...failures,
    ...(givenId === undefined || (typeof givenId === 'string' && isId(givenId)) ? [] : [invalidId]),
    ...(await takenFailures(deps, accountId, checked)),
  ]
  if (all.length > 0) throw invalidInput(all)
  const nowMs = deps.clock.now()
  const user: User = {
    id: (givenId as string | undefined) ?? deps.newId(),
    accountId,
    ...rowFields(checked),
    ...credentialsOf(deps, accountId, input, checked, credentials),
    createdMs: nowMs,
    modifiedMs: nowMs,
    revision: 1,
  }
  try {
    await deps.accounts.putUser(user, { isNew: true })
  } catch (thrown) {
    throw asFailure(thrown, user)
  }
  return user
}

/**
 * Replaces or merges a user's document.
 *
 * @param options `isSelf`: the user itself writes it, without admin rights: it must not change level, state and name
 * @throws `InvalidInput` with every violated rule, `NotFound`, `RevisionConflict`, `Forbidden`
 */
export async function editUser(
  deps: EditUserDeps,
  accountId: string,
  userId: string,
  input: UncheckedDocument,
  options: EditOptions & { readonly isSelf: boolean },
): Promise<UserChange> {
  const expected = options.revision
  for (let tries = 1; ; tries += 1) {
    const before = await readUser(deps, accountId, userId)
    const revision = userRevision(before)
    if (options.isSelf && !isOwnChangeAllowed(before, input))
      throw new HookswitchError('Forbidden', 'forbidden')
    if (expected !== undefined && expected !== revision) throw changedConcurrently(userId)
    const merged = options.mode === 'merge' ? mergeUser(before, input) : input
    const after = await changedUser(deps, before, options.isSelf ? ownReplacement(before, merged) : merged)
    try {
      await deps.accounts.putUser(after, { revision })
      return { before, after }
    } catch (thrown) {
      const isRepeatable = errorCode(thrown) === 'RevisionConflict' && expected === undefined
      if (!isRepeatable || tries === MAX_TRIES) throw asFailure(thrown, after)
    }
  }
}

/** Removes a user and returns it. @throws `NotFound`, `RevisionConflict` */
export async function deleteUser(
  deps: Pick<EditUserDeps, 'accounts'>,
  accountId: string,
  userId: string,
  revision?: number,
): Promise<User> {
  const user = await readUser(deps, accountId, userId)
  const conditions = revision === undefined ? {} : { revision }
  if (!(await deps.accounts.removeUser(accountId, userId, conditions))) throw notFound(userId, 'user')
  return user
}

/** Reads one user. @throws `NotFound` */
export async function readUser(
  { accounts }: Pick<EditUserDeps, 'accounts'>,
  accountId: string,
  userId: string,
): Promise<User> {
  const user = await accounts.user(accountId, userId)
  if (!user) throw notFound(userId, 'user')
  return user
}

async function changedUser(deps: EditUserDeps, before: User, document: UncheckedDocument): Promise<User> {
  const { checked, credentials, failures } = checkUser(document, before)
  const all = [...failures, ...(await takenFailures(deps, before.accountId, checked, before))]
  if (all.length > 0) throw invalidInput(all)
  const fields = rowFields(checked)
  const changed = credentialsOf(deps, before.accountId, document, checked, credentials, before)
  const isDisabledNow = fields.enabled === false && before.enabled !== false
  return {
    id: before.id,
    accountId: before.accountId,
    ...fields,
    ...changed,
    // Tokens of a disabled user stay invalid when it is enabled again.
    ...(isDisabledNow && { credentialVersion: deps.newId() }),
    createdMs: before.createdMs,
    modifiedMs: deps.clock.now(),
    revision: userRevision(before) + 1,
  }
}

type Credentials = Pick<User, 'username' | 'credentialKeys' | 'credentialVersion' | 'listedKeys'>

/**
 * The user name and credentials after a change; another version invalidates the user's tokens.
 *
 * @param document as sent, with the spelling of the user name
 */
function credentialsOf(
  deps: EditUserDeps,
  accountId: string,
  document: UncheckedDocument,
  { fields }: CheckedUser,
  change: CredentialChange,
  before?: User,
): Credentials {
  if (change === 'keep' && before) {
    const { username, credentialKeys, credentialVersion } = before
    return {
      ...(username !== undefined && { username }),
      credentialKeys,
      credentialVersion,
      ...listedKeysAfter(before, true),
    }
  }
  const { password } = fields
  if (change === 'remove' || password === undefined) {
    const hadNone = before !== undefined && before.credentialKeys.length === 0
    return {
      credentialKeys: [],
      credentialVersion: hadNone ? before.credentialVersion : deps.newId(),
      ...(before && listedKeysAfter(before, hadNone)),
    }
  }
  const given =
    change === 'generate_username'
      ? `user_${Buffer.from(deps.random.bytes(USERNAME_BYTES)).toString('hex')}`
      : (document.fields.username as string)
  const isSameName = before?.username?.toLowerCase() === given.toLowerCase()
  // Clients may hash the name as typed, and read it in lower case: a lower-case name does not replace another spelling.
  const username = isSameName && given === given.toLowerCase() ? before!.username! : given
  const isSame = isSameName && hasPassword(deps.cipher, before!, password)
  return {
    username,
    credentialKeys: deriveCredentialKeys(deps.cipher, accountId, username, password),
    credentialVersion: isSame ? before!.credentialVersion : deps.newId(),
    ...(before && listedKeysAfter(before, isSame)),
  }
}

/** A user name that is taken now; the write checks again. */
async function takenFailures(
  { accounts }: EditUserDeps,
  accountId: string,
  { fields }: CheckedUser,
  before?: User,
): Promise<readonly Failure[]> {
  const { username } = fields as { username?: unknown }
  if (typeof username !== 'string' || username === '') return []
  const holder = await accounts.userByName(accountId, username)
  return holder && holder.id !== before?.id ? [usernameTaken(username)] : []
}

/** A name that was taken meanwhile is a failure of the document, like one that was taken before. */
function asFailure(thrown: unknown, { username = '' }: User): unknown {
  const isTaken = errorCode(thrown) === 'Conflict' && (thrown as HookswitchError).field === 'username'
  return isTaken ? invalidInput([usernameTaken(username.toLowerCase())]) : thrown
}
