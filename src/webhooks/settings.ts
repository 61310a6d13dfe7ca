import type { Failure } from '../errors.js'
import type { CompiledPolicy, HostVerdict } from '../values/address-policy.js'
import { toFailures } from '../values/schema-failures.js'
import { canonicalUri, judgeUri } from '../values/uri.js'
import { ALL_HOOKS, type CatalogueEntry, isKnownHook } from './catalogue.js'
import { headerProblem, MAX_HEADER_BYTES, repeatedNames } from './request-headers.js'
import type { BodyFormat, WebhookSettings } from './webhook.js'
import { SECRET_SETTINGS } from './webhook-schema.js'
import { validateWebhook } from './webhook-validator.generated.js'

/** What decides about a webhook's settings besides themselves. */
export interface SettingsRules {
  readonly catalogue: readonly CatalogueEntry[]
  readonly policy: CompiledPolicy
  /** Format of webhooks that name none. */
  readonly defaultFormat: BodyFormat
}

/** What a webhook has where its owner says nothing: written into the stored document, and shown. */
export const SETTINGS_DEFAULTS = Object.freeze({
  httpVerb: 'post',
  retries: 2,
  format: 'json',
  enabled: true,
  includeSubaccounts: false,
  includeInternalLegs: true,
  ordering: 'call',
} as const)

/** Most bytes of a webhook's custom data, as JSON. */
export const MAX_DATA_BYTES = 65_536

/** The order in which settings are stored and shown. */
const ORDER: readonly (keyof WebhookSettings)[] = [
  'name',
  'uri',
  'hook',
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
  'ordering',
]

const failure = (path: string, message: string): Failure => ({
  path,
  rule: 'error',
  message,
  target: message,
})

function uriFailures(uri: string, rules: SettingsRules): readonly Failure[] {
  const canonical = canonicalUri(uri)
  const target = 'problem' in canonical ? canonical.problem : refusedHost(judgeUri(canonical, rules.policy))
  if (target === undefined) return []
  // KAZOO's sentence, which clients compare; why stands beside it.
  return [{ path: 'uri', rule: 'error', message: 'invalid client URL', target }]
}

function refusedHost(verdict: HostVerdict): string | undefined {
  return verdict.blocked ? `must not lead to ${verdict.reason}` : undefined
}

function hookFailures(hook: string, rules: SettingsRules): readonly Failure[] {
  if (hook === ALL_HOOKS || isKnownHook(rules.catalogue, hook)) return []
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

/** Every event carries it. */
function dataFailures(data: Readonly<Record<string, string>>): readonly Failure[] {
  if (Buffer.byteLength(JSON.stringify(data)) <= MAX_DATA_BYTES) return []
  const message = `must have at most ${MAX_DATA_BYTES} bytes in all`
  return [{ path: 'customData', rule: 'maxSize', message, target: MAX_DATA_BYTES }]
}

function headerFailures(headers: Readonly<Record<string, string>>): readonly Failure[] {
  const path = 'customRequestHeaders'
  const failures = Object.entries(headers).flatMap(([name, value]) => {
    const problem = headerProblem(name, value)
    return problem === undefined ? [] : [failure(`${path}.${name}`, problem)]
  })
  for (const name of repeatedNames(Object.keys(headers)))
    failures.push(failure(`${path}.${name}`, 'occurs twice'))
  const bytes = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (bytes > MAX_HEADER_BYTES) failures.push(failure(path, `at most ${MAX_HEADER_BYTES} bytes in all`))
  return failures
}

/**
 * Settings with their defaults and the canonical URI, or every rule that they break, at once.
 *
 * @param input known keys in this package's spelling; others are left out
 */
export function checkSettings(
  input: Readonly<Record<string, unknown>>,
  rules: SettingsRules,
): { readonly settings: WebhookSettings } | { readonly failures: readonly Failure[] } {
  const filled: Record<string, unknown> = { ...SETTINGS_DEFAULTS, format: rules.defaultFormat }
  for (const key of ORDER) if (Object.hasOwn(input, key) && input[key] !== undefined) filled[key] = input[key]
  const failures: Failure[] = []
  if (!validateWebhook(filled))
    failures.push(...toFailures(validateWebhook.errors, filled, { secret: SECRET_SETTINGS }))
  const broken = new Set(failures.map(({ path }) => path.split('.')[0]!))
  const { uri, hook, customData, customRequestHeaders } = filled as unknown as WebhookSettings
  if (!broken.has('uri')) failures.push(...uriFailures(uri, rules))
  if (!broken.has('hook')) failures.push(...hookFailures(hook, rules))
  if (!broken.has('customData') && customData) failures.push(...dataFailures(customData))
  if (!broken.has('customRequestHeaders') && customRequestHeaders)
    failures.push(...headerFailures(customRequestHeaders))
  if (failures.length > 0) return { failures }
  const settings: Record<string, unknown> = {}
  for (const key of ORDER) if (filled[key] !== undefined) settings[key] = filled[key]
  settings.uri = (canonicalUri(uri) as { uri: string }).uri
  return { settings: settings as unknown as WebhookSettings }
}

/** True for the keys that an owner of a webhook decides about. */
export function isSetting(key: string): key is keyof WebhookSettings {
  return (ORDER as readonly string[]).includes(key)
}
