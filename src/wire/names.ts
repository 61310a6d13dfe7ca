/**
 * How the settings of a webhook are spelled on the wire (KAZOO) and inside. Only these names are translated: any
 * other public key is the client's own and keeps its spelling, so that `httpVerb` never becomes `http_verb`.
 */
export const SETTING_NAMES = {
  name: 'name',
  uri: 'uri',
  hook: 'hook',
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
  ordering: 'ordering',
} as const

/** Keys that only the server writes: a client that sends back what it read must succeed. */
const SERVER_OWNED: ReadonlySet<string> = new Set(['id', 'disable_reason'])

const WIRE_NAMES: Readonly<Record<string, string>> = Object.freeze(
  Object.fromEntries(Object.entries(SETTING_NAMES).map(([wire, inside]) => [inside, wire])),
)

/** What a client says of a webhook, sorted into our settings (not yet judged) and its own keys. */
export interface NamedWebhook {
  readonly settings: Record<string, unknown>
  readonly extra?: Record<string, unknown>
}

const isPrivate = (key: string) => key.startsWith('_') || key.startsWith('pvt_')

/**
 * Sorts the keys of a webhook in a request. Server-owned keys are ignored, keys that start with `_` or `pvt_` are
 * dropped (KAZOO keeps its private fields there), unknown public ones are kept for the client.
 */
export function readWebhook(data: Readonly<Record<string, unknown>>): NamedWebhook {
  const settings: Record<string, unknown> = {}
  const extra: Record<string, unknown> = {}
  let extras = false
  for (const key of Object.keys(data)) {
    if (Object.hasOwn(SETTING_NAMES, key)) {
      settings[SETTING_NAMES[key as keyof typeof SETTING_NAMES]] = data[key]
    } else if (!SERVER_OWNED.has(key) && !isPrivate(key)) {
      extra[key] = data[key]
      extras = true
    }
  }
  return extras ? { settings, extra } : { settings }
}

/** A dotted path inside a webhook as the client spells it: only its first part is ours to rename. */
export function wirePath(path: string): string {
  return renameFirst(path, (name) => nameIn(WIRE_NAMES, name) ?? name)
}

/** What a table says of a name that a client chose: `constructor` is in none, though every object has one. */
export function nameIn(table: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/** The first part of a dotted path, renamed. */
export function renameFirst(path: string, nameOf: (name: string) => string): string {
  const end = path.indexOf('.')
  return end < 0 ? nameOf(path) : nameOf(path.slice(0, end)) + path.slice(end)
}
