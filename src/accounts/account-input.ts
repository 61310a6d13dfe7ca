/**
 * Validates the input of the account operations and derives new account values from it. Pure. Limits are those of the HTTP
 * API (`account-schema`); realms, user names and ids follow rules that are wider, because a host imports what it has.
 */

import { type Failure, invalidInput } from '../errors.js'
import { suggestionOf } from '../values/closest-name.js'
import { defined } from '../values/defined.js'
import { isId } from '../values/ids.js'
import { type Account, accountRevision, normalizeRealm } from './account.js'
import { accountSchema, userSchema } from './account-schema.js'
import { isApiKey } from './api-key.js'
import { BLANK_NAME, withoutUndefined } from './document.js'

/** Input of `accounts.addUser`, and a user in the input of `accounts.create`. */
export interface UserInput {
  /** `^[A-Za-z0-9_-]{1,64}$`. Default: a generated id. */
  readonly id?: string | undefined
  /** 1 to 255 characters without a colon (which ends the name in `username:password`, RFC 7617). Unique within the account, ignoring case. */
  readonly username: string
  /** 1 to 1024 characters. Never stored. */
  readonly password: string
  /** 1 to 128 characters. Default: shown as the user name. */
  readonly firstName?: string | undefined
  /** 1 to 128 characters. Default: shown as `-`. */
  readonly lastName?: string | undefined
  /** 3 to 254 characters. Default: none. */
  readonly email?: string | undefined
  /** False: the user cannot sign in. Default true. */
  readonly enabled?: boolean | undefined
  /** `user`: reads its own account and changes its own document. Default `admin`. */
  readonly privLevel?: 'user' | 'admin' | undefined
}

/** Input of `accounts.create`. */
export interface AccountInput {
  /** `^[A-Za-z0-9_-]{1,64}$`. Default: a generated id. */
  readonly id?: string | undefined
  /** 1 to 128 characters. */
  readonly name: string
  /** SIP realm, 1 to 253 characters without white space. Unique after trimming and lower-casing. */
  readonly realm: string
  /** Id of an existing account. Default: none, the account is a root. */
  readonly parentId?: string | undefined
  /** Default true. */
  readonly enabled?: boolean | undefined
  /** 32 to 128 characters of `A-Z a-z 0-9 _ -`. Default: a generated key of 64 hex digits. */
  readonly apiKey?: string | undefined
  /** Language tag returned at login. Default `en-us` (KAZOO). */
  readonly language?: string | undefined
  /** Default false. */
  readonly isReseller?: boolean | undefined
  /** Id of the reseller account. Default: none. */
  readonly resellerId?: string | undefined
  /** Time zone, 5 to 32 characters, kept as given. Default: the option `defaultTimezone`. */
  readonly timezone?: string | undefined
  /** Labels, shown in lists over HTTP. Default: none. */
  readonly flags?: readonly string[] | undefined
  /** Users to create with the account. Default: none. */
  readonly users?: readonly UserInput[] | undefined
}

/** Input of `accounts.update`. Omitted fields keep their value; `null` removes the field. */
export interface AccountChange {
  /** 1 to 128 characters. */
  readonly name?: string | undefined
  /** SIP realm, 1 to 253 characters without white space, unique. */
  readonly realm?: string | undefined
  /** Id of an existing account that is neither this one nor below it; `null` makes this account a root. */
  readonly parentId?: string | null | undefined
  /**
   * False: its logins and tokens are refused and its webhooks receive no events. Accounts below it are not
   * affected.
   */
  readonly enabled?: boolean | undefined
  /** Language tag returned at login. */
  readonly language?: string | undefined
  /** Whether the account is a reseller. */
  readonly isReseller?: boolean | undefined
  /** Id of the reseller account; `null` removes it. */
  readonly resellerId?: string | null | undefined
  /** Time zone, 5 to 32 characters, kept as given. */
  readonly timezone?: string | undefined
  /** Labels, shown in lists over HTTP. */
  readonly flags?: readonly string[] | undefined
}

type Check = (value: unknown, path: string) => readonly Failure[]

/** Shared: a list of accounts has a million valid values. */
const VALID: readonly Failure[] = []

const failure = (path: string, rule: string, message: string, target?: unknown): Failure =>
  target === undefined ? { path, rule, message } : { path, rule, message, target }

const wrongType = (path: string, type: string): Failure =>
  failure(path, 'type', `Value did not match type(s): ${type}`, type)

/** Checks a string of `min` to `max` characters. Failures never contain the value: it may be a secret. */
function text(min: number, max: number, ...rules: readonly (readonly [RegExp, string])[]): Check {
  return (value, path) => {
    if (typeof value !== 'string') return [wrongType(path, 'string')]
    // Characters are counted only where the number of UTF-16 units does not decide.
    const isCertain = value.length >= 2 * min && value.length <= max
    const length = isCertain ? value.length : [...value].length
    if (length < min) return [failure(path, 'minLength', `String must be at least ${min} characters`, min)]
    if (length > max)
      return [failure(path, 'maxLength', `String must not be more than ${max} characters`, max)]
    for (const [pattern, message] of rules) {
      if (!pattern.test(value)) return [failure(path, 'pattern', message, pattern.source)]
    }
    return VALID
  }
}

/** A string with the limits that a field has in the HTTP API. */
const textLike = (
  { minLength = 1, maxLength }: { readonly minLength?: number; readonly maxLength: number },
  ...rules: readonly (readonly [RegExp, string])[]
) => text(minLength, maxLength, ...rules)

const NO_CONTROL = [/^[^\p{Cc}\p{Cs}]*$/u, 'String must not have control characters'] as const

const id: Check = (value, path) => {
  if (typeof value !== 'string') return [wrongType(path, 'string')]
  return isId(value)
    ? VALID
    : [failure(path, 'pattern', 'Id must be 1 to 64 of A-Z a-z 0-9 _ -', '^[A-Za-z0-9_-]{1,64}$')]
}
const flag: Check = (value, path) => (typeof value === 'boolean' ? VALID : [wrongType(path, 'boolean')])
const nullable =
  (check: Check): Check =>
  (value, path) =>
    value === null ? VALID : check(value, path)
const username = text(
  1,
  255,
  NO_CONTROL,
  [/^[^:]*$/, 'User name must not have a colon'],
  [/^\S(.*\S)?$/s, 'User name must not begin or end with white space'],
)
const { properties: ofAccount } = accountSchema
const { properties: ofUser } = userSchema
const password = textLike(ofUser.password)
const normalizedRealm = text(1, 253, [/^[^\s\p{Cc}\p{Cs}]*$/u, 'Realm must not have white space'])
const realm: Check = (value, path) =>
  normalizedRealm(typeof value === 'string' ? normalizeRealm(value) : value, path)
const apiKey: Check = (value, path) => {
  if (typeof value !== 'string') return [wrongType(path, 'string')]
  return isApiKey(value) ? VALID : [failure(path, 'pattern', 'API key must be 32 to 128 of A-Z a-z 0-9 _ -')]
}

const COMMON: Readonly<Record<string, Check>> = {
  name: textLike(ofAccount.name, NO_CONTROL, [/\S/, BLANK_NAME]),
  realm,
  enabled: flag,
  language: textLike({ minLength: 2, ...ofAccount.language }, [
    new RegExp(ofAccount.language.pattern),
    'Language must be a language tag like en-us',
  ]),
  isReseller: flag,
  timezone: textLike(ofAccount.timezone, NO_CONTROL),
  flags: (value, path) => {
    if (!Array.isArray(value)) return [wrongType(path, 'array')]
    return value.flatMap((item, index) => text(0, 255)(item, `${path}.${index}`))
  },
}
const USER: Readonly<Record<string, Check>> = {
  id,
  username,
  password,
  firstName: textLike(ofUser.firstName, NO_CONTROL),
  lastName: textLike(ofUser.lastName, NO_CONTROL),
  email: textLike(ofUser.email, NO_CONTROL),
  enabled: flag,
  privLevel: (value, path) =>
    (ofUser.privLevel.enum as readonly unknown[]).includes(value)
      ? VALID
      : [failure(path, 'enum', 'Value not found in enumerated list of values', ofUser.privLevel.enum)],
}
const CHANGE: Readonly<Record<string, Check>> = {
  ...COMMON,
  parentId: nullable(id),
  resellerId: nullable(id),
}
const ACCOUNT: Readonly<Record<string, Check>> = {
  ...COMMON,
  id,
  parentId: id,
  resellerId: id,
  apiKey,
  users: checkUsers,
}

function checkUsers(value: unknown, path: string): readonly Failure[] {
  if (!Array.isArray(value)) return [wrongType(path, 'array')]
  const failures = value.flatMap((user, index) =>
    check(user, `${path}.${index}`, USER, ['username', 'password']),
  )
  return failures.length > 0
    ? failures
    : [...findDuplicates(value, path, 'username'), ...findDuplicates(value, path, 'id')]
}

/** User names are compared ignoring case, ids exactly. */
function findDuplicates(
  users: readonly UserInput[],
  path: string,
  field: 'username' | 'id',
): readonly Failure[] {
  const seen = new Set<string>()
  return users.flatMap((user, index) => {
    const key = field === 'username' ? user.username.toLowerCase() : user.id
    if (key === undefined || !seen.has(key)) {
      if (key !== undefined) seen.add(key)
      return []
    }
    return [failure(`${path}.${index}.${field}`, 'uniqueItems', 'List of items is not unique')]
  })
}

/** Returns every violated rule of one object: unknown keys (by name), missing keys and invalid values. */
function check(
  input: unknown,
  path: string,
  fields: Readonly<Record<string, Check>>,
  required: readonly string[],
): readonly Failure[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return [wrongType(path, 'object')]
  const pathOf = (key: string) => (path === '' ? key : `${path}.${key}`)
  const given = input as Readonly<Record<string, unknown>>
  const failures: Failure[] = []
  for (const key of Object.keys(given)) {
    if (given[key] === undefined) continue
    if (Object.hasOwn(fields, key)) failures.push(...fields[key]!(given[key], pathOf(key)))
    else {
      // Only the first failure suggests a name: an object may have many unknown keys.
      const suggestion = failures.length === 0 ? suggestionOf(key, Object.keys(fields)) : ''
      failures.push(failure(pathOf(key), 'additionalProperties', `Unknown field${suggestion}`))
    }
  }
  for (const key of required) {
    if (!Object.prototype.propertyIsEnumerable.call(given, key) || given[key] === undefined)
      failures.push(failure(pathOf(key), 'required', 'Field is required but missing'))
  }
  return failures
}

function parsed<T extends object>(input: unknown, failures: readonly Failure[]): T {
  if (failures.length > 0) throw invalidInput(failures)
  return withoutUndefined(input as T)
}

/** Validates the input of `accounts.create`. @throws `InvalidInput` with every violated rule */
export function parseAccountInput(input: unknown): AccountInput {
  return parsed(input, check(input, '', ACCOUNT, ['name', 'realm']))
}

/** Validates the input of `accounts.update`. @throws `InvalidInput` with every violated rule */
export function parseAccountChange(input: unknown): AccountChange {
  return parsed(input, check(input, '', CHANGE, []))
}

/** Validates the input of `accounts.addUser`. @throws `InvalidInput` with every violated rule */
export function parseUserInput(input: unknown): UserInput {
  return parsed(input, check(input, '', USER, ['username', 'password']))
}

/** Validates a new password. @throws `InvalidInput` */
export function parsePassword(input: unknown): string {
  const failures = password(input, 'password')
  if (failures.length > 0) throw invalidInput(failures)
  return input as string
}

/** Builds a new account from validated input. `nowMs`: wall clock, Unix ms. */
export function buildAccount(input: AccountInput, accountId: string, nowMs: number): Account {
  return {
    id: accountId,
    name: input.name,
    realm: normalizeRealm(input.realm),
    ...(input.parentId === undefined ? {} : { parentId: input.parentId }),
    enabled: input.enabled ?? true,
    language: input.language ?? 'en-us',
    isReseller: input.isReseller ?? false,
    ...(input.resellerId === undefined ? {} : { resellerId: input.resellerId }),
    ...(input.timezone === undefined ? {} : { timezone: input.timezone }),
    ...(input.flags === undefined ? {} : { flags: input.flags }),
    createdMs: nowMs,
    modifiedMs: nowMs,
    revision: 1,
  }
}

/** Applies a validated change to an account. `nowMs`: wall clock, Unix ms. */
export function applyAccountChange(account: Account, change: AccountChange, nowMs: number): Account {
  const { parentId, resellerId, realm: newRealm, ...plain } = change
  const { parentId: oldParent, resellerId: oldReseller, ...rest } = account
  const parent = parentId === undefined ? oldParent : parentId
  const reseller = resellerId === undefined ? oldReseller : resellerId
  return {
    ...rest,
    ...defined(plain),
    ...(newRealm === undefined ? {} : { realm: normalizeRealm(newRealm) }),
    ...(parent === undefined || parent === null ? {} : { parentId: parent }),
    ...(reseller === undefined || reseller === null ? {} : { resellerId: reseller }),
    modifiedMs: nowMs,
    revision: accountRevision(account) + 1,
  }
}

export const belowItself = failure('parentId', 'error', 'An account cannot be its own ancestor')

/** @throws `InvalidInput` (field `parentId`) if the parent does not exist, is the account itself or is below it */
export function assertValidParent(accountId: string, lineageOfParent: readonly Account[]): void {
  if (lineageOfParent.length === 0) {
    throw invalidInput([failure('parentId', 'error', 'The account does not exist')])
  }
  if (lineageOfParent.some((account) => account.id === accountId)) {
    throw invalidInput([belowItself])
  }
}
