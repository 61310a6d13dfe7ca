/** JSON of users. Never shows credentials. */
import { displayNames, type User } from '../accounts/user.js'
import { toGregorian } from '../values/gregorian-time.js'
import type { JsonObject } from './webhook-json.js'

/**
 * The whole user. Times are Gregorian seconds (KAZOO).
 *
 * @param deleted the user was just deleted
 */
export function userJson(user: User, deleted?: true): JsonObject {
  const { firstName, lastName } = displayNames(user)
  return {
    id: user.id,
    first_name: firstName,
    last_name: lastName,
    username: user.username?.toLowerCase(),
    email: user.email,
    enabled: user.enabled ?? true,
    priv_level: user.privLevel ?? 'admin',
    timezone: user.timezone,
    language: user.language,
    require_password_update: user.requirePasswordUpdate ?? false,
    verified: user.verified ?? false,
    ...user.extra,
    _read_only: { created: toGregorian(user.createdMs), modified: toGregorian(user.modifiedMs), deleted },
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A user as shown in a list (KAZOO `users/crossbar_listing`). */
export function userSummaryJson(user: User): JsonObject {
  const { extra = {} } = user
  const { firstName, lastName } = displayNames(user)
  return {
    id: user.id,
    features: listOf(extra.features),
    flags: listOf(extra.flags),
    username: user.username?.toLowerCase(),
    email: user.email,
    first_name: firstName,
    last_name: lastName,
    priv_level: user.privLevel ?? 'admin',
    enabled: user.enabled ?? true,
    timezone: user.timezone,
    feature_level: extra.feature_level,
    presence_id: extra.presence_id,
    service: extra.service,
  }
}
