/** Audit records: who changed what, and from where. Pure. Values of secrets and numbers of calls are in none of them. */
import type { ErrorCode } from '../errors.js'
import { toCanonicalJson } from '../values/canonical-json.js'
import { REDACTED, redactText } from '../values/redact.js'
import { isSecretName } from '../values/secret-names.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { HookswitchEvents } from './core.js'

/** One change that was made, or one login that was refused. */
export type AuditRecord = HookswitchEvents['audit']

/** What was changed. */
export type AuditDetails = Omit<
  AuditRecord,
  'action' | 'refused' | 'by' | 'byAccountId' | 'byUserId' | 'address' | 'requestId'
>

/** The value of a field; `[not shown]` where it has parts, such as those of filters, headers and `customData`. */
type AuditValue = NonNullable<AuditRecord['before']>[string]

/** Longest value, characters. */
const MAX_VALUE = 200
/** Ids in one record. */
const MAX_IDS = 20
/** Say nothing about what was changed, or are not for reading. */
const UNNAMED =
  /^(id|accountId|revision|epoch|health|secrets|isListed|credentialKeys|listedKeys|disableReason|deleted|.*Ms)$/
/** The name that people know. */
const NAMES: Readonly<Record<string, string>> = {
  credentialVersion: 'password',
  sealedHeaders: 'customRequestHeaders',
}

type Fields = Readonly<Record<string, unknown>>

/** Settings of a webhook are fields of it. */
function fieldsOf(document: object): Fields {
  const { settings, ...fields } = document as Partial<Webhook>
  return { ...fields, ...settings }
}

function shownValue(name: string, value: unknown): AuditValue {
  if (isSecretName(name)) return REDACTED
  if (typeof value === 'string') return redactText(value).slice(0, MAX_VALUE)
  return typeof value === 'number' || typeof value === 'boolean' || value === null ? value : '[not shown]'
}

/** The fields in which two versions of a document differ. A text is cut; what has parts is named without its value. */
export function changesOf(
  before: object | undefined,
  after: object | undefined,
): Pick<AuditDetails, 'before' | 'after'> {
  const [old, now] = [fieldsOf(before ?? {}), fieldsOf(after ?? {})]
  const names = Object.keys({ ...old, ...now }).filter(
    (name) => !UNNAMED.test(name) && toCanonicalJson(old[name]) !== toCanonicalJson(now[name]),
  )
  const part = (fields: Fields) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const known = NAMES[name]
        if (fields[name] === undefined) return []
        return [[known ?? name, known ? REDACTED : shownValue(name, fields[name])]]
      }),
    )
  return { ...(before && { before: part(old) }), ...(after && { after: part(now) }) }
}

/** Some of the ids, and how many are left out. */
export const idsOf = (ids: readonly string[]): readonly string[] =>
  ids.length <= MAX_IDS ? ids : [...ids.slice(0, MAX_IDS), `${ids.length - MAX_IDS} more`]

/** Whether a login was refused for what it says, or because there were too many. */
export const isRefusedLogin = (code: ErrorCode | undefined): code is NonNullable<AuditRecord['refused']> =>
  code === 'InvalidCredentials' || code === 'AccountLocked' || code === 'TooManyLogins'
