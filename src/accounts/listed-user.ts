/**
 * Users of a list that is read at every start. A restart changes a password only when the list's password has changed, and
 * does not create a user again that was removed. Pure.
 */
import { sha256 } from '../values/hash.js'
import type { UserInput } from './account-input.js'
import type { User } from './user.js'

const ID_DIGITS = 32

/**
 * The id of a listed user for which the list names none. Derived, so that the store knows it at later starts if the user was
 * removed: ids of removed users are not used again.
 */
export function listedUserId(accountId: string, username: string): string {
  return sha256(`listed user ${accountId}:${username.toLowerCase()}`).slice(0, ID_DIGITS)
}

/** A listed user with its id. */
export function withListedId(accountId: string, input: UserInput): UserInput {
  return input.id === undefined ? { ...input, id: listedUserId(accountId, input.username) } : input
}

/**
 * The listed password after a change of the credentials by anyone but the list.
 *
 * @param isSame whether the credentials stay what they are
 */
export function listedKeysAfter(before: User, isSame: boolean): Pick<User, 'listedKeys'> {
  const { listedKeys = isSame ? [] : before.credentialKeys } = before
  return listedKeys.length > 0 ? { listedKeys } : {}
}
