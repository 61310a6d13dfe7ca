/** Validates the settings of a webhook and fills in their defaults. Pure. */
import type { Failure } from '../errors.js'
import type { CompiledAddressPolicy } from '../values/address-policy.js'
import { MAX_FAILURES, toSchemaFailures } from '../values/schema-failures.js'
import { canonicalizeUri } from '../values/uri.js'
import { validateWebhook } from '../values/validators.generated.js'
import { ALL_HOOKS, type CatalogueEntry, HOOK_ALIASES, isRegisteredHook, OBJECT_HOOK } from './catalogue.js'
import { filterFailures } from './event-filter.js'
import { findHeaderProblem, findRepeatedNames, MAX_HEADER_BYTES } from './request-headers.js'
import { reservedFieldOf } from './reserved-fields.js'
import type { BodyFormat, WebhookSettings } from './webhook.js'
import { SECRET_SETTINGS } from './webhook-schema.js'

/** The service's options that the validation of settings depends on. */
export interface SettingsRules {
  readonly catalogue: readonly CatalogueEntry[]
  readonly addressPolicy: CompiledAddressPolicy
  /** Body format of webhooks that specify none. */
  readonly defaultFormat: BodyFormat
  /** Retries of webhooks that specify none. Default 5. */
  readonly defaultRetries?: number
}

/** Defaults of omitted settings; they are stored and shown like given ones. */
export const SETTINGS_DEFAULTS = Object.freeze({
  httpVerb: 'post',
  retries: 5,
  format: 'json',
  enabled: true,
  includeSubaccounts: false,
  includeInternalLegs: true,
  ordering: 'call',
} as const)

/** Maximum size of a webhook's custom data as JSON, in bytes. @internal */
export const MAX_DATA_BYTES = 65_536

/** The order in which settings are stored and shown. */
export const SETTING_NAMES: readonly (keyof WebhookSettings)[] = [
  'name',
  'uri',
  'hook',
  'only',
  'filter',
  'httpVerb',
  'retries',
  'format',
  'enabled',
  'includeSubaccounts',
  'includeInternalLegs',
  'customData',
  'customRequestHeaders',
  'group',
  'maxAgeSeconds',
  'rateLimit',
  'ordering',
]

const failure = (path: string, message: string): Failure => ({
  path,
  rule: 'error',
  message,
  target: message,
})

function uriFailures(uri: string, rules: SettingsRules): readonly Failure[] {
  const canonical = canonicalizeUri(uri)
  const target = 'problem' in canonical ? canonical.problem : hostProblem(canonical.hostname, rules)
  if (target === undefined) return []
  // The message is KAZOO's, which clients compare; the target gives the reason.
  return [{ path: 'uri', rule: 'error', message: 'invalid client URL', target }]
}

/** Checks a literal address or a localhost name. Other names are checked by their addresses when a request is sent. */
function hostProblem(hostname: string, { addressPolicy }: SettingsRules): string | undefined {
  const check = addressPolicy.checkHost(hostname)
  return check.blocked ? `must not lead to ${check.reason}` : undefined
}

/** `only` narrows `all`: with another hook it would have no effect, or forbid everything. */
function onlyFailures(only: readonly string[], hook: string, rules: SettingsRules): readonly Failure[] {
  if (hook !== ALL_HOOKS) return [failure('only', "is only for webhooks with the hook 'all'")]
  return only.flatMap((id, index) => {
    if (isRegisteredHook(rules.catalogue, id)) return []
    const target = rules.catalogue.map((entry) => entry.id)
    const message = 'Value not found in enumerated list of values'
    return [{ path: `only.${index}`, rule: 'enum', message, target, value: id }]
  })
}

/** Returns the kind that a name means: KAZOO's for some of them, other values unchanged. */
function resolveAlias(name: unknown, { catalogue }: SettingsRules): unknown {
  if (typeof name !== 'string' || isRegisteredHook(catalogue, name)) return name
  return HOOK_ALIASES.get(name) ?? name
}

function hookFailures(hook: string, rules: SettingsRules): readonly Failure[] {
  if (hook === ALL_HOOKS || isRegisteredHook(rules.catalogue, hook)) return []
  const target = [ALL_HOOKS, ...rules.catalogue.map(({ id }) => id)]
  return [
    {
      path: 'hook',
      rule: 'enum',
      message: 'Value not found in enumerated list of values',
      target,
      value: hook,
    },
  ]
}

/** The size is limited because every event includes the data. */
function dataFailures(data: Readonly<Record<string, string>>, hook: string): readonly Failure[] {
  if (Buffer.byteLength(JSON.stringify(data)) > MAX_DATA_BYTES) {
    const message = `must have at most ${MAX_DATA_BYTES} bytes in total`
    return [{ path: 'customData', rule: 'maxSize', message, target: MAX_DATA_BYTES }]
  }
  const failures = Object.keys(data).flatMap((key) => {
    const field = reservedFieldOf(key, hook)
    if (field === undefined) return []
    return [failure(`customData.${key}`, `may not be set: receivers rely on '${field}' of the event`)]
  })
  return failures.slice(0, MAX_FAILURES)
}

const HEADERS = 'customRequestHeaders'

/** Stops at the limit, so that a document with very many headers is refused before each is looked at. */
function hasTooManyHeaderBytes(headers: object): boolean {
  let bytes = 0
  for (const name in headers) {
    if (!Object.hasOwn(headers, name)) continue
    const value: unknown = (headers as Record<string, unknown>)[name]
    bytes += name.length + (typeof value === 'string' ? value.length : 0)
    if (bytes > MAX_HEADER_BYTES) return true
  }
  return false
}

const OBJECT_ACTIONS = [ALL_HOOKS, 'doc_created', 'doc_edited', 'doc_deleted']

/** A webhook of the hook `object` says which documents and changes it wants (KAZOO `cb_webhooks`). */
function objectFailures(data: Readonly<Record<string, string>>): readonly Failure[] {
  const failures: Failure[] = []
  for (const key of ['type', 'action']) {
    if (data[key]) continue
    const path = `customData.${key}`
    failures.push({ path, rule: 'required', message: 'Field is required but missing', target: 'required' })
  }
  const { action } = data
  if (action && !OBJECT_ACTIONS.includes(action)) {
    const message = 'Value not found in enumerated list of values'
    failures.push({ path: 'customData.action', rule: 'enum', message, target: OBJECT_ACTIONS, value: action })
  }
  return failures
}

function headerFailures(headers: Readonly<Record<string, string>>): readonly Failure[] {
  const path = HEADERS
  const failures = Object.entries(headers).flatMap(([name, value]) => {
    const problem = findHeaderProblem(name, value)
    return problem === undefined ? [] : [failure(`${path}.${name}`, problem)]
  })
  for (const name of findRepeatedNames(Object.keys(headers)))
    failures.push(failure(`${path}.${name}`, 'occurs twice'))
  return failures
}

/**
 * Returns the settings with defaults and the canonical URI, or a failure for every violated rule.
 *
 * @param input keys in this package's spelling; unknown keys are ignored
 */
export function checkSettings(
  input: Readonly<Record<string, unknown>>,
  rules: SettingsRules,
): { readonly settings: WebhookSettings } | { readonly failures: readonly Failure[] } {
  const { defaultFormat, defaultRetries = SETTINGS_DEFAULTS.retries } = rules
  const filled: Record<string, unknown> = {
    ...SETTINGS_DEFAULTS,
    format: defaultFormat,
    retries: defaultRetries,
  }
  for (const key of SETTING_NAMES)
    if (Object.hasOwn(input, key) && input[key] !== undefined) filled[key] = input[key]
  if (filled.hook !== undefined) filled.hook = resolveAlias(filled.hook, rules)
  if (Array.isArray(filled.only)) filled.only = filled.only.map((name) => resolveAlias(name, rules))
  const failures: Failure[] = []
  const { [HEADERS]: headers } = filled
  if (typeof headers === 'object' && headers !== null && hasTooManyHeaderBytes(headers)) {
    failures.push(failure(HEADERS, `must have at most ${MAX_HEADER_BYTES} bytes in total`))
    delete filled[HEADERS]
  }
  if (!validateWebhook(filled))
    failures.push(...toSchemaFailures(validateWebhook.errors, filled, { secret: SECRET_SETTINGS }))
  const invalid = new Set(failures.map(({ path }) => path.split('.')[0]!))
  const { uri, hook, only, filter, customData, customRequestHeaders } = filled as unknown as WebhookSettings
  if (!invalid.has('uri')) failures.push(...uriFailures(uri, rules))
  if (!invalid.has('hook')) failures.push(...hookFailures(hook, rules))
  if (!invalid.has('only') && !invalid.has('hook') && only) failures.push(...onlyFailures(only, hook, rules))
  if (!invalid.has('filter') && filter) failures.push(...filterFailures(filter, 'filter'))
  if (!invalid.has('customData') && customData) failures.push(...dataFailures(customData, hook))
  if (!invalid.has('customData') && hook === OBJECT_HOOK) failures.push(...objectFailures(customData ?? {}))
  if (!invalid.has('customRequestHeaders') && customRequestHeaders)
    failures.push(...headerFailures(customRequestHeaders))
  if (failures.length > 0) return { failures }
  const settings: Record<string, unknown> = {}
  for (const key of SETTING_NAMES) if (filled[key] !== undefined) settings[key] = filled[key]
  settings.uri = (canonicalizeUri(uri) as { uri: string }).uri
  return { settings: settings as unknown as WebhookSettings }
}

/** True for the keys that the owner of a webhook sets. */
export function isSettingName(key: string): key is keyof WebhookSettings {
  return (SETTING_NAMES as readonly string[]).includes(key)
}
