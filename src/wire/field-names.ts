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

/** The keys of a webhook in a request, split into settings (not yet validated) and the client's own keys. */
export interface WebhookFields {
  readonly settings: Record<string, unknown>
  readonly extra?: Record<string, unknown>
}

const isPrivate = (key: string) => key.startsWith('_') || key.startsWith('pvt_')

/**
 * Splits the keys of a webhook in a request. Drops keys that only the service writes and keys that start with `_` or
 * `pvt_` (KAZOO's private fields). Keeps unknown public keys for the client.
 */
export function parseWebhookFields(data: Readonly<Record<string, unknown>>): WebhookFields {
  const settings: Record<string, unknown> = {}
  const extra: Record<string, unknown> = {}
  let hasExtra = false
  for (const key of Object.keys(data)) {
    if (Object.hasOwn(SETTING_NAMES, key)) {
      settings[SETTING_NAMES[key as keyof typeof SETTING_NAMES]] = data[key]
    } else if (!SERVER_OWNED.has(key) && !isPrivate(key)) {
      extra[key] = data[key]
      hasExtra = true
    }
  }
  return hasExtra ? { settings, extra } : { settings }
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
