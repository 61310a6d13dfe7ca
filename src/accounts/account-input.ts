import { type Failure, invalidInput } from '../errors.js'
import { isId } from '../values/ids.js'
import { type Account, realmKey } from './account.js'
import { isApiKey } from './api-key.js'

/** A user to be made. */
export interface UserInput {
  /** `^[A-Za-z0-9_-]{1,64}$`; default: a new id. */
  readonly id?: string
  /** 1 to 255 characters, no colon (it ends the name in `username:password`, RFC 7617), unique in its account in any case. */
  readonly username: string
  /** 1 to 1024 characters. Never kept. */
  readonly password: string
}

/** An account to be made. */
export interface AccountInput {
  /** `^[A-Za-z0-9_-]{1,64}$`; default: a new id. */
  readonly id?: string
  /** 1 to 128 characters. */
  readonly name: string
  /** SIP realm, 1 to 253 characters without white space; unique when trimmed and lower-cased. */
  readonly realm: string
  /** An existing account; default: none, a root. */
  readonly parentId?: string
  /** Default true. */
  readonly enabled?: boolean
  /** 32 to 128 of `A-Z a-z 0-9 _ -`; default: a new one of 64 hex digits. */
  readonly apiKey?: string
  /** Language tag shown at login; default `en-us` (KAZOO). */
  readonly language?: string
  /** Default false. */
  readonly isReseller?: boolean
  readonly resellerId?: string
  readonly users?: readonly UserInput[]
}

/** What may be changed of an account; what is left out stays. `null` removes. */
export interface AccountChange {
  readonly name?: string
  readonly realm?: string
  readonly parentId?: string | null
  readonly enabled?: boolean
  readonly language?: string
  readonly isReseller?: boolean
  readonly resellerId?: string | null
}

type Check = (value: unknown, path: string) => readonly Failure[]

const failure = (path: string, rule: string, message: string, target?: unknown): Failure =>
  target === undefined ? { path, rule, message } : { path, rule, message, target }

const wrongType = (path: string, type: string): Failure =>
  failure(path, 'type', `Value did not match type(s): ${type}`, type)

/** A text of `min` to `max` characters. The value itself is never reported: it may be a secret. */
function text(min: number, max: number, ...rules: readonly (readonly [RegExp, string])[]): Check {
  return (value, path) => {
    if (typeof value !== 'string') return [wrongType(path, 'string')]
    const length = [...value].length
    if (length < min) return [failure(path, 'minLength', `String must be at least ${min} characters`, min)]
    if (length > max)
      return [failure(path, 'maxLength', `String must not be more than ${max} characters`, max)]
    const broken = rules.find(([pattern]) => !pattern.test(value))
    return broken ? [failure(path, 'pattern', broken[1], broken[0].source)] : []
  }
}

const NO_CONTROL = [/^[^\p{Cc}\p{Cs}]*$/u, 'String must not have control characters'] as const

const id: Check = (value, path) => {
  if (typeof value !== 'string') return [wrongType(path, 'string')]
  return isId(value)
    ? []
    : [failure(path, 'pattern', 'Id must be 1 to 64 of A-Z a-z 0-9 _ -', '^[A-Za-z0-9_-]{1,64}$')]
}
const flag: Check = (value, path) => (typeof value === 'boolean' ? [] : [wrongType(path, 'boolean')])
const nullable =
  (check: Check): Check =>
  (value, path) =>
    value === null ? [] : check(value, path)
const username = text(
  1,
  255,
  NO_CONTROL,
  [/^[^:]*$/, 'User name must not have a colon'],
  [/^\S(.*\S)?$/s, 'User name must not begin or end with white space'],
)
const password = text(1, 1024)
const realm: Check = (value, path) =>
  text(1, 253, [/^[^\s\p{Cc}\p{Cs}]*$/u, 'Realm must not have white space'])(
    typeof value === 'string' ? realmKey(value) : value,
    path,
  )
const apiKey: Check = (value, path) => {
  if (typeof value !== 'string') return [wrongType(path, 'string')]
  return isApiKey(value) ? [] : [failure(path, 'pattern', 'API key must be 32 to 128 of A-Z a-z 0-9 _ -')]
}

const COMMON: Readonly<Record<string, Check>> = {
  name: text(1, 128, NO_CONTROL, [/\S/, 'Name must not be blank']),
  realm,
  enabled: flag,
  language: text(2, 35, [
    /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/,
    'Language must be a language tag like en-us',
  ]),
  isReseller: flag,
}
const USER: Readonly<Record<string, Check>> = { id, username, password }
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
  users: userList,
}

function userList(value: unknown, path: string): readonly Failure[] {
  if (!Array.isArray(value)) return [wrongType(path, 'array')]
  const failures = value.flatMap((user, index) =>
    check(user, `${path}.${index}`, USER, ['username', 'password']),
  )
  return failures.length > 0
    ? failures
    : [...repeated(value, path, 'username'), ...repeated(value, path, 'id')]
}

/** User names are unique in any case, ids as they are. */
function repeated(users: readonly UserInput[], path: string, field: 'username' | 'id'): readonly Failure[] {
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

/** All broken rules of one object: unknown keys (each named), missing ones, and wrong values. */
function check(
  input: unknown,
  path: string,
  fields: Readonly<Record<string, Check>>,
  required: readonly string[],
): readonly Failure[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return [wrongType(path, 'object')]
  const at = (key: string) => (path === '' ? key : `${path}.${key}`)
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  const missing = required.filter((key) => !given.some(([name]) => name === key))
  return [
    ...given.flatMap(([key, value]) =>
      Object.hasOwn(fields, key)
        ? fields[key]!(value, at(key))
        : [failure(at(key), 'additionalProperties', 'Unknown field')],
    ),
    ...missing.map((key) => failure(at(key), 'required', 'Field is required but missing')),
  ]
}

function accept<T>(input: unknown, failures: readonly Failure[]): T {
  if (failures.length > 0) throw invalidInput(failures)
  return Object.fromEntries(Object.entries(input as object).filter(([, value]) => value !== undefined)) as T
}

/** The input of `accounts.create`. Throws `InvalidInput` with every broken rule at once. */
export function parseAccountInput(input: unknown): AccountInput {
  return accept(input, check(input, '', ACCOUNT, ['name', 'realm']))
}

/** The input of `accounts.update`. Throws `InvalidInput` with every broken rule at once. */
export function parseAccountChange(input: unknown): AccountChange {
  return accept(input, check(input, '', CHANGE, []))
}

/** The input of `accounts.addUser`. Throws `InvalidInput` with every broken rule at once. */
export function parseUserInput(input: unknown): UserInput {
  return accept(input, check(input, '', USER, ['username', 'password']))
}

/** A new password. Throws `InvalidInput`. */
export function parsePassword(input: unknown): string {
  const failures = password(input, 'password')
  if (failures.length > 0) throw invalidInput(failures)
  return input as string
}

/** The new account that a checked input describes. */
export function newAccount(input: AccountInput, accountId: string, nowMs: number): Account {
  return {
    id: accountId,
    name: input.name,
    realm: realmKey(input.realm),
    ...(input.parentId === undefined ? {} : { parentId: input.parentId }),
    enabled: input.enabled ?? true,
    language: input.language ?? 'en-us',
    isReseller: input.isReseller ?? false,
    ...(input.resellerId === undefined ? {} : { resellerId: input.resellerId }),
    createdMs: nowMs,
    modifiedMs: nowMs,
  }
}

/** The account after a checked change. */
export function changedAccount(account: Account, change: AccountChange, nowMs: number): Account {
  const { parentId, resellerId, realm: newRealm, ...plain } = change
  const { parentId: oldParent, resellerId: oldReseller, ...rest } = account
  const parent = parentId === undefined ? oldParent : parentId
  const reseller = resellerId === undefined ? oldReseller : resellerId
  return {
    ...rest,
    ...plain,
    ...(newRealm === undefined ? {} : { realm: realmKey(newRealm) }),
    ...(parent === undefined || parent === null ? {} : { parentId: parent }),
    ...(reseller === undefined || reseller === null ? {} : { resellerId: reseller }),
    modifiedMs: nowMs,
  }
}

/** Throws `InvalidInput` (field `parentId`) unless the parent exists and is not the account or below it. */
export function checkParent(accountId: string, lineageOfParent: readonly Account[]): void {
  if (lineageOfParent.length === 0) {
    throw invalidInput([failure('parentId', 'error', 'There is no such account')])
  }
  if (lineageOfParent.some((account) => account.id === accountId)) {
    throw invalidInput([failure('parentId', 'error', 'An account cannot be below itself')])
  }
}
