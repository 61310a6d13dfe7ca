/**
 * Accounts as documents of the HTTP API: validation, defaults, replacement and merge. Pure. Whether a name or realm is
 * taken is decided by the store. Source: KAZOO `cb_accounts`, `kzd_accounts`.
 */
import type { Failure } from '../errors.js'
import { jsonMergePatch } from '../values/json-merge-patch.js'
import { toSchemaFailures } from '../values/schema-failures.js'
import { validateAccount } from '../values/validators.generated.js'
import { type Account, accountRevision, normalizeRealm } from './account.js'
import {
  BLANK_NAME,
  documentFailures,
  requiredFailure,
  type UncheckedDocument,
  withoutUndefined,
} from './document.js'

/** The checked fields of an account that clients write. */
export type AccountFields = Pick<Account, 'name' | 'flags'> &
  Partial<Pick<Account, 'realm' | 'enabled' | 'timezone' | 'language'>>

/** A checked document. */
export interface CheckedAccount {
  readonly fields: AccountFields
  readonly extra: Readonly<Record<string, unknown>>
}

/** Maximum number of accounts in a lineage: how deep sub-accounts may be nested. */
export const MAX_DEPTH = 16

/** Stands for the parent's time zone (KAZOO `kzd_accounts`). */
const INHERIT = 'inherit'

/** The realm as stored: KAZOO only compares it in lower case. */
const cleanRealm = (realm: unknown) =>
  typeof realm === 'string' ? normalizeRealm(realm.replaceAll(' ', '')) : realm

/**
 * Validates a whole document. Also returns the fields if there are failures, so that the caller can look for taken
 * names and report everything at once.
 *
 * @param before the stored account, whose name and realm are accepted even where the host's rules were wider
 */
export function checkAccount(
  input: UncheckedDocument,
  before?: Account,
): { readonly checked: CheckedAccount; readonly failures: readonly Failure[] } {
  const fields = withoutUndefined({ ...input.fields, realm: cleanRealm(input.fields.realm) })
  const failures: Failure[] = validateAccount(fields)
    ? []
    : [...toSchemaFailures(validateAccount.errors, fields)]
  const { name } = fields as { name?: unknown }
  if (typeof name === 'string' && name !== '' && name.trim() === '') {
    failures.push({ path: 'name', rule: 'pattern', message: BLANK_NAME, target: '\\S' })
  }
  const { realm } = fields as { realm?: unknown }
  const isUnchanged = (path: string) =>
    before !== undefined &&
    ((path === 'realm' && realm === before.realm) || (path === 'name' && name === before.name))
  return {
    checked: { fields: fields as unknown as AccountFields, extra: input.extra ?? {} },
    failures: [...failures.filter(({ path }) => !isUnchanged(path)), ...documentFailures(input)],
  }
}

/** Where a new account gets what its document leaves out. */
interface NewAccountContext {
  readonly id: string
  readonly parent: Account
  /** Used if the document has none. */
  readonly generatedRealm: string
  readonly defaultTimezone: string
  /** Unix ms. */
  readonly nowMs: number
}

/** Builds a new account below its parent. */
export function newAccountOf({ fields, extra }: CheckedAccount, context: NewAccountContext): Account {
  const { id, parent, generatedRealm, defaultTimezone, nowMs } = context
  const parentTimezone = parent.timezone ?? defaultTimezone
  return {
    id,
    name: fields.name,
    realm: fields.realm ?? generatedRealm,
    parentId: parent.id,
    enabled: fields.enabled ?? parent.enabled,
    language: fields.language ?? parent.language,
    isReseller: false,
    timezone: timezoneOf(fields.timezone, parentTimezone) ?? parentTimezone,
    ...(fields.flags && { flags: fields.flags }),
    ...(Object.keys(extra).length > 0 && { extra }),
    createdMs: nowMs,
    modifiedMs: nowMs,
    revision: 1,
  }
}

const timezoneOf = (timezone: string | undefined, parentTimezone: string) =>
  timezone === INHERIT ? parentTimezone : timezone

/** The document that replaces an account's: a missing realm, time zone, language or state keeps its value. */
export function replacementOf(account: Account, input: UncheckedDocument): UncheckedDocument {
  const { realm, timezone, language, enabled } = account
  return { ...input, fields: { realm, timezone, language, enabled, ...withoutUndefined(input.fields) } }
}

/**
 * An account's document after a merge patch (RFC 7396).
 *
 * @returns also the failures of `null` for a field that cannot be removed
 */
export function mergeAccount(
  account: Account,
  patch: UncheckedDocument,
): { readonly document: UncheckedDocument; readonly failures: readonly Failure[] } {
  const { name, realm, enabled, timezone, language, flags } = account
  const stored = withoutUndefined({ name, realm, enabled, timezone, language, flags })
  const merged = jsonMergePatch(stored, patch.fields) as Record<string, unknown>
  // A state, time zone or language cannot be absent: `null` keeps it.
  const fields = withoutUndefined({ enabled, timezone, language, ...merged })
  return {
    document: {
      fields,
      extra: jsonMergePatch(account.extra ?? {}, patch.extra ?? {}) as Record<string, unknown>,
    },
    // `checkAccount` reports a missing name.
    failures: patch.fields.realm === null ? [requiredFailure('realm')] : [],
  }
}

/**
 * Applies a checked document to the stored account.
 *
 * @param options `mayEnable`: false leaves `enabled` as it is (KAZOO `maybe_import_enabled`)
 */
export function changedAccount(
  account: Account,
  { fields, extra }: CheckedAccount,
  options: { readonly mayEnable: boolean; readonly parentTimezone: string; readonly nowMs: number },
): Account {
  const { timezone: _, flags: __, extra: ___, ...kept } = account
  const timezone = timezoneOf(fields.timezone, options.parentTimezone)
  return {
    ...kept,
    name: fields.name,
    realm: fields.realm ?? account.realm,
    enabled: options.mayEnable ? (fields.enabled ?? account.enabled) : account.enabled,
    language: fields.language ?? account.language,
    ...(timezone !== undefined && { timezone }),
    ...(fields.flags && { flags: fields.flags }),
    ...(Object.keys(extra).length > 0 && { extra }),
    modifiedMs: options.nowMs,
    revision: accountRevision(account) + 1,
  }
}

/** The account that resells to an account: the stored one, else the nearest reseller above, else the root above. */
export function resellerOf(lineage: readonly Account[]): string | undefined {
  const [account, ...ancestors] = lineage
  return account?.resellerId ?? (ancestors.find(({ isReseller }) => isReseller) ?? ancestors.at(-1))?.id
}

/** KAZOO's words (`kzd_accounts`), which clients show. */
export const nameTaken = (name: string): Failure => ({
  path: 'name',
  rule: 'unique',
  message: 'Account name already in use',
  cause: name,
})

export const realmTaken = (realm: string): Failure => ({
  path: 'realm',
  rule: 'unique',
  message: 'Account realm already in use',
  cause: realm,
})

export const tooDeep: Failure = {
  path: 'account',
  rule: 'maximum',
  message: `Value must be at most ${MAX_DEPTH}`,
  target: MAX_DEPTH,
}

export const subaccountsForbidden = (accountId: string): Failure => ({
  path: 'account',
  rule: 'forbidden',
  message: 'Direct account is not allowed to create sub-accounts',
  cause: accountId,
})
