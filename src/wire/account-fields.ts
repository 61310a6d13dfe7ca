/**
 * Wire names (KAZOO) of the fields of accounts and users. Any other public key belongs to the client and stays
 * unchanged.
 */
import { accountSchema, userSchema } from '../accounts/account-schema.js'
import type { UncheckedDocument } from '../accounts/document.js'
import type { Failure } from '../errors.js'
import { lookUpName, parseFields, renameFirstSegment } from './field-names.js'

const ACCOUNT_NAMES = {
  name: 'name',
  realm: 'realm',
  enabled: 'enabled',
  timezone: 'timezone',
  language: 'language',
  flags: 'flags',
} as const

/** The wire names of the fields of a user, and their internal names. */
const USER_NAMES = {
  first_name: 'firstName',
  last_name: 'lastName',
  username: 'username',
  password: 'password',
  email: 'email',
  enabled: 'enabled',
  priv_level: 'privLevel',
  timezone: 'timezone',
  language: 'language',
  require_password_update: 'requirePasswordUpdate',
  verified: 'verified',
} as const

/** Neither stored nor shown: no mail is sent, and no hash is imported. */
const DROPPED = ['send_email_on_creation', 'sync', 'credentials', 'accept_charges']

/** Keys that only the service writes; ignored, so that a client can send back a document that it has read. */
const SERVER_OWNED: ReadonlySet<string> = new Set([
  ...DROPPED,
  'id',
  'created',
  'is_reseller',
  'reseller_id',
  'superduper_admin',
  'wnm_allow_additions',
  'billing_mode',
  'api_key',
  'parent_id',
  'notification_preference',
  'trial_time_left',
  'descendants_count',
  'tree',
])
const SERVER_OWNED_OF_USER: ReadonlySet<string> = new Set([...DROPPED, 'id'])

/** Splits the keys of an account in a request (`parseFields`). */
export const parseAccountFields = (data: unknown): UncheckedDocument =>
  parseFields(data, ACCOUNT_NAMES, SERVER_OWNED, accountSchema)

/** Splits the keys of a user in a request (`parseFields`). */
export const parseUserFields = (data: unknown): UncheckedDocument =>
  parseFields(data, USER_NAMES, SERVER_OWNED_OF_USER, userSchema)

const WIRE_NAMES: Readonly<Record<string, string>> = Object.freeze(
  Object.fromEntries(Object.entries(USER_NAMES).map(([wire, inside]) => [inside, wire])),
)

/** The wire name of a field of an account or user. */
export const accountWireName = (name: string): string => lookUpName(WIRE_NAMES, name) ?? name

/** KAZOO's text for a missing field, whose name it shows as the value (`kz_json_schema`). */
const MISSING = 'Field is required but missing'

/** Translates the path of a failure of an account or user to wire names. */
export function toAccountFailure(failure: Failure): Failure {
  const path = renameFirstSegment(failure.path, accountWireName)
  if (failure.rule !== 'required' || failure.message !== MISSING) return { ...failure, path }
  return { path, rule: failure.rule, message: failure.message, value: path }
}
