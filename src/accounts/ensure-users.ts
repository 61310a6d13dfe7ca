/** Creates and changes the users of an account of a list that is read at every start. */

import { errorCode, type HookswitchError } from '../errors.js'
import type { Log } from '../ports.js'
import { defined } from '../values/defined.js'
import type { UserInput } from './account-input.js'
import { deriveCredentialKeys, hasPassword } from './credential.js'
import { listedUserId, withListedId } from './listed-user.js'
import { type User, userRevision } from './user.js'
import { buildUser, indexUsers, type UserDeps, type UserIndex, withCredentials } from './users.js'

/** Dependencies of `ensureUsers`. */
export interface EnsureUsersDeps extends UserDeps {
  readonly log: Pick<Log, 'debug'>
}

/** How often a listed user is written after concurrent changes by others. */
const MAX_TRIES = 3

/**
 * Adds users of an account, or updates their names, passwords and the other given fields. A password counts only when it is
 * another one than the list named before, and a user that was removed is not added again. Reads the account's users once, and
 * writes only those that differ.
 *
 * @param inputs checked by `parseAccountInput`
 */
export async function ensureUsers(
  deps: EnsureUsersDeps,
  accountId: string,
  inputs: readonly UserInput[],
): Promise<void> {
  const { accounts } = deps
  let stored: UserIndex | undefined
  for (const input of inputs) {
    for (let tries = 1; ; tries += 1) {
      stored ??= indexUsers(await accounts.users(accountId))
      const found = findListed(stored, accountId, input)
      const user = found
        ? changedByList(deps, found, input)
        : buildUser(deps, accountId, withListedId(accountId, input))
      if (!user) break
      try {
        await accounts.putUser(user, found ? { revision: userRevision(found) } : { isNew: true })
        stored.add(user)
        break
      } catch (thrown) {
        if (!isConcurrent(thrown, found) || tries === MAX_TRIES) throw thrown
        // Another node may have added, changed or removed it meanwhile.
        stored = indexUsers(await accounts.users(accountId))
        if (!found && isIdUsed(thrown) && !findListed(stored, accountId, input)) {
          deps.log.debug({ accountId, userId: user.id }, 'a listed user was removed and is not created again')
          break
        }
      }
    }
  }
}

const isIdUsed = (thrown: unknown): boolean =>
  errorCode(thrown) === 'Conflict' && (thrown as HookswitchError).field === 'id'

function isConcurrent(thrown: unknown, found: User | undefined): boolean {
  const code = errorCode(thrown)
  return code === 'Conflict' || code === 'RevisionConflict' || (code === 'NotFound' && found !== undefined)
}

/** By the id; without one, by the id that the list gave it, which it keeps under another name, or else by the name. */
function findListed(stored: UserIndex, accountId: string, { id, username }: UserInput): User | undefined {
  if (id !== undefined) return stored.find(id)
  return stored.find(listedUserId(accountId, username)) ?? stored.find(username)
}

/** The stored user with what the list names; `undefined`: it is stored so. */
function changedByList(deps: UserDeps, found: User, input: UserInput): User | undefined {
  const { id: _, username, password, ...given } = input
  const fields = defined(given)
  const { listedKeys, ...listed } = found
  const keys = deriveCredentialKeys(deps.cipher, found.accountId, username, password)
  // The keys also differ when only the first service secret was replaced: then they are derived and written again.
  const hasSameKeys = keys.every((key) => (listedKeys ?? found.credentialKeys).includes(key))
  const hasSameFields = Object.entries(fields).every(([name, value]) => found[name as keyof User] === value)
  const credentials = { accountId: found.accountId, username, credentialKeys: listedKeys ?? [] }
  if (hasPassword(deps.cipher, credentials, password)) {
    // Another password was set since the list named this one: it stays, with the name that is part of its keys.
    if (hasSameKeys && hasSameFields) return undefined
    const revision = userRevision(found) + 1
    return { ...found, ...fields, listedKeys: keys, modifiedMs: deps.clock.now(), revision }
  }
  const isStored = listedKeys === undefined && found.username === username && hasSameKeys && hasSameFields
  return isStored ? undefined : { ...withCredentials(deps, listed, username, password), ...fields }
}
