import type { UncheckedDocument } from '../accounts/document.js'
import type { JsonSchema } from '../values/json-schema.js'
import type { UncheckedWebhook } from '../webhooks/view.js'
import { webhookSchema } from '../webhooks/webhook-schema.js'
import { coerce } from './coerce.js'

/**
 * Wire names (KAZOO) of the settings of a webhook, and their internal names. Only these names are translated: any other
 * public key belongs to the client and stays unchanged, so that `httpVerb` never becomes `http_verb`.
 */
export const SETTING_NAMES = {
  name: 'name',
  uri: 'uri',
  hook: 'hook',
  only: 'only',
  filter: 'filter',
  http_verb: 'httpVerb',
  retries: 'retries',
  format: 'format',
  enabled: 'enabled',
  include_subaccounts: 'includeSubaccounts',
  include_internal_legs: 'includeInternalLegs',
  custom_data: 'customData',
  custom_request_headers: 'customRequestHeaders',
  group: 'group',
  max_age_seconds: 'maxAgeSeconds',
  rate_limit: 'rateLimit',
  ordering: 'ordering',
} as const

/** Keys that only the service writes; ignored, so that a client can send back a document that it has read. */
const SERVER_OWNED: ReadonlySet<string> = new Set(['id', 'disable_reason', 'health'])

const WIRE_NAMES: Readonly<Record<string, string>> = Object.freeze(
  Object.fromEntries(Object.entries(SETTING_NAMES).map(([wire, inside]) => [inside, wire])),
)

const isPrivate = (key: string) => key.startsWith('_') || key.startsWith('pvt_')

/**
 * Splits the keys of a document in a request into fields, not yet validated, and the client's own keys. Converts form
 * values. Drops keys that only the service writes and keys that start with `_` or `pvt_` (KAZOO's private fields).
 */
export function parseFields(
  data: unknown,
  names: Readonly<Record<string, string>>,
  serverOwned: ReadonlySet<string>,
  schema: JsonSchema,
): UncheckedDocument {
  const fields: [string, unknown][] = []
  const extra: [string, unknown][] = []
  for (const [key, value] of Object.entries(data as Readonly<Record<string, unknown>>)) {
    const name = lookUpName(names, key)
    if (name !== undefined) fields.push([name, value])
    else if (!serverOwned.has(key) && !isPrivate(key)) extra.push([key, value])
  }
  return {
    fields: coerce(schema, Object.fromEntries(fields)) as Readonly<Record<string, unknown>>,
    ...(extra.length > 0 && { extra: Object.fromEntries(extra) }),
  }
}

/** Splits the keys of a webhook in a request (`parseFields`). */
export function parseWebhookFields(data: unknown): UncheckedWebhook {
  const { fields, ...rest } = parseFields(data, SETTING_NAMES, SERVER_OWNED, webhookSchema)
  return { settings: fields, ...rest }
}

/** Translates a dotted path inside a webhook to wire names. Only its first segment is renamed. */
export function toWirePath(path: string): string {
  return renameFirstSegment(path, (name) => lookUpName(WIRE_NAMES, name) ?? name)
}

/** Looks up a client-supplied name in a table, ignoring inherited properties such as `constructor`. */
export function lookUpName(table: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/** Renames the first segment of a dotted path. */
export function renameFirstSegment(path: string, nameOf: (name: string) => string): string {
  const end = path.indexOf('.')
  return end < 0 ? nameOf(path) : nameOf(path.slice(0, end)) + path.slice(end)
}
