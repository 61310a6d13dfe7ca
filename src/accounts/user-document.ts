/**
 * Users as documents of the HTTP API: validation, defaults, replacement and merge, and what a change does to the
 * credentials. Pure. Source: KAZOO `cb_users`, `kzd_users`.
 */
import type { Failure } from '../errors.js'
import { jsonMergePatch } from '../values/json-merge-patch.js'
import { toSchemaFailures } from '../values/schema-failures.js'
import { validateUser } from '../values/validators.generated.js'
import { SECRET_USER_FIELDS } from './account-schema.js'
import { documentFailures, type UncheckedDocument, withoutUndefined } from './document.js'
import { displayNames, type User } from './user.js'

/** The checked fields of a user that clients write. */
type UserFields = Required<Pick<User, 'firstName' | 'lastName'>> &
  Pick<
    User,
    | 'username'
    | 'email'
    | 'enabled'
    | 'privLevel'
    | 'timezone'
    | 'language'
    | 'requirePasswordUpdate'
    | 'verified'
  > & { readonly password?: string }

/** A checked document. */
export interface CheckedUser {
  readonly fields: UserFields
  readonly extra: Readonly<Record<string, unknown>>
}

/** What a change does to a user's credentials; `needs_password`: it is refused, because a new name needs one. */
export type CredentialChange = 'keep' | 'derive' | 'generate_username' | 'remove' | 'needs_password'

/** One `@` between two parts without white space. Linear, unlike the grammar of RFC 5322. */
const EMAIL = /^[^\s@]+@[^\s@]+$/

const lower = (text: unknown) => (typeof text === 'string' ? text.toLowerCase() : text)

/**
 * Validates a whole document, credentials included. Also returns the fields if there are failures, so that the caller
 * can look for a taken user name and report everything at once.
 *
 * @param before the stored user, whose user name is accepted even where the host's rules were wider
 */
export function checkUser(
  input: UncheckedDocument,
  before?: User,
): {
  readonly checked: CheckedUser
  readonly credentials: CredentialChange
  readonly failures: readonly Failure[]
} {
  const { password, ...others } = input.fields
  const fields = withoutUndefined({
    ...others,
    username: lower(input.fields.username),
    // KAZOO: an empty password counts as absent.
    password: password === '' ? undefined : password,
  }) as unknown as UserFields
  const options = { secret: SECRET_USER_FIELDS }
  const failures: Failure[] = validateUser(fields)
    ? []
    : [...toSchemaFailures(validateUser.errors, fields, options)]
  const isUnchanged = (path: string) =>
    before !== undefined &&
    ((path === 'username' && isSameName(fields.username, before.username)) ||
      (path === 'firstName' && fields.firstName === displayNames(before).firstName))
  const kept = failures.filter(({ path }) => !isUnchanged(path))
  if (typeof fields.email === 'string' && !EMAIL.test(fields.email)) kept.push(wrongEmail(fields.email))
  const credentials = credentialChange(fields, before)
  if (credentials === 'needs_password') kept.push(passwordRequired(String(fields.username)))
  return {
    checked: { fields, extra: input.extra ?? {} },
    credentials,
    failures: [...kept, ...documentFailures({ fields: others, ...(input.extra && { extra: input.extra }) })],
  }
}

const isSameName = (a: string | undefined, b: string | undefined) =>
  typeof a === 'string' && a === b?.toLowerCase()

/** KAZOO `cb_users:maybe_rehash_creds`. */
function credentialChange({ username, password }: UserFields, before: User | undefined): CredentialChange {
  const hasPassword = password !== undefined
  if (username === undefined) return hasPassword ? 'generate_username' : 'remove'
  if (hasPassword) return 'derive'
  return isSameName(username, before?.username) ? 'keep' : 'needs_password'
}

/** A user's document after a merge patch (RFC 7396). The password is never stored, so it is not part of the target. */
export function mergeUser(user: User, patch: UncheckedDocument): UncheckedDocument {
  const { username, email, enabled, privLevel, timezone, language, requirePasswordUpdate, verified } = user
  const stored = withoutUndefined({
    ...displayNames(user),
    username,
    email,
    enabled,
    privLevel: privLevel ?? 'admin',
    timezone,
    language,
    requirePasswordUpdate,
    verified,
  })
  return {
    fields: jsonMergePatch(stored, patch.fields) as Record<string, unknown>,
    extra: jsonMergePatch(user.extra ?? {}, patch.extra ?? {}) as Record<string, unknown>,
  }
}

/** The fields of a user's row that its document determines, without credentials. */
export function rowFields({
  fields,
  extra,
}: CheckedUser): Omit<
  User,
  | 'id'
  | 'accountId'
  | 'username'
  | 'credentialKeys'
  | 'credentialVersion'
  | 'listedKeys'
  | 'createdMs'
  | 'modifiedMs'
  | 'revision'
> {
  const { username: _, password: __, ...rest } = fields
  return {
    ...rest,
    enabled: fields.enabled ?? true,
    privLevel: fields.privLevel ?? 'user',
    ...(Object.keys(extra).length > 0 && { extra }),
  }
}

/** Fields that a user may send for itself only as they are stored. */
const OWN_FIELDS = ['privLevel', 'enabled', 'username'] as const

/**
 * Whether a user without admin rights may write this to its own document: it must not raise its rights or rename
 * itself.
 */
export function isOwnChangeAllowed(user: User, { fields }: UncheckedDocument): boolean {
  const stored = {
    privLevel: user.privLevel ?? 'admin',
    enabled: user.enabled ?? true,
    username: user.username,
  }
  return OWN_FIELDS.every((name) => {
    const value = fields[name]
    if (value === undefined) return true
    return name === 'username' ? isSameName(lower(value) as string, stored.username) : value === stored[name]
  })
}

/** What a user without admin rights writes to its own document: the fields that it may not change keep their values. */
export function ownReplacement(user: User, input: UncheckedDocument): UncheckedDocument {
  const { privLevel = 'admin', enabled = true, username } = user
  return { ...input, fields: { ...input.fields, ...withoutUndefined({ privLevel, enabled, username }) } }
}

const wrongEmail = (value: string): Failure => ({
  path: 'email',
  rule: 'wrong_format',
  message: 'Field is not in the correct format',
  value,
})

/** KAZOO's words (`kzd_users`), which clients show. */
const passwordRequired = (username: string): Failure => ({
  path: 'password',
  rule: 'required',
  message: 'The password must be provided when creating / updating the user name',
  cause: username,
})

export const usernameTaken = (username: string): Failure => ({
  path: 'username',
  rule: 'unique',
  message: 'Username must be unique within account',
  cause: username,
})
