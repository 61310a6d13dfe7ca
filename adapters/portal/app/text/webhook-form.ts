/** The values of the form of a webhook, to and from the document. Pure. */
import type { Webhook } from 'hookswitch/client'

export interface FormValues {
  readonly name: string
  readonly uri: string
  readonly hook: string
  /** Kinds of events, separated by commas or spaces. */
  readonly only: string
  readonly verb: string
  readonly format: string
  readonly retries: string
  readonly maxAge: string
  readonly rate: string
  readonly ordering: string
  readonly group: string
  readonly isEnabled: boolean
  readonly hasSubaccounts: boolean
  readonly hasInternalLegs: boolean
  /** `name: value`, one per line. */
  readonly headers: string
  /** The same. */
  readonly customData: string
  /** JSON. */
  readonly filter: string
}

/** What the service gets; it checks the values. */
export type SettingsInput = Readonly<Record<string, unknown>>

export function formValues(webhook?: Webhook): FormValues {
  return {
    name: webhook?.name ?? '',
    uri: webhook?.uri ?? '',
    hook: webhook?.hook ?? 'all',
    only: (webhook?.only ?? []).join(', '),
    verb: webhook?.http_verb ?? 'post',
    format: webhook?.format ?? 'json',
    retries: webhook === undefined ? '' : String(webhook.retries),
    maxAge: webhook?.max_age_seconds === undefined ? '' : String(webhook.max_age_seconds),
    rate: webhook?.rate_limit === undefined ? '' : String(webhook.rate_limit),
    ordering: webhook?.ordering ?? 'call',
    group: webhook?.group ?? '',
    isEnabled: webhook?.enabled ?? true,
    hasSubaccounts: webhook?.include_subaccounts ?? false,
    hasInternalLegs: webhook?.include_internal_legs ?? true,
    headers: pairsText(webhook?.custom_request_headers),
    customData: pairsText(webhook?.custom_data),
    filter: webhook?.filter === undefined ? '' : JSON.stringify(webhook.filter, undefined, 2),
  }
}

type FormResult =
  | { readonly settings: SettingsInput; readonly problem?: undefined }
  | { readonly problem: 'headers' | 'customData' | 'filter' }

/** Empty fields are left out; decimal numbers are sent as numbers, other text as it is, so that the service names the field. */
export function settingsOf(values: FormValues): FormResult {
  const headers = parsePairs(values.headers)
  if (!headers) return { problem: 'headers' }
  const customData = parsePairs(values.customData)
  if (!customData) return { problem: 'customData' }
  const filter = parseObject(values.filter)
  if (!filter) return { problem: 'filter' }
  const only = values.only.split(/[\s,]+/).filter((hook) => hook !== '')
  return {
    settings: {
      name: values.name,
      uri: values.uri.trim(),
      hook: values.hook,
      ...(values.hook === 'all' && only.length > 0 ? { only } : {}),
      http_verb: values.verb,
      format: values.format,
      enabled: values.isEnabled,
      include_subaccounts: values.hasSubaccounts,
      include_internal_legs: values.hasInternalLegs,
      ordering: values.ordering,
      ...(values.retries === '' ? {} : { retries: numberOr(values.retries) }),
      ...(values.maxAge === '' ? {} : { max_age_seconds: numberOr(values.maxAge) }),
      ...(values.rate === '' ? {} : { rate_limit: numberOr(values.rate) }),
      ...(values.group === '' ? {} : { group: values.group }),
      ...(headers.size === 0 ? {} : { custom_request_headers: Object.fromEntries(headers) }),
      ...(customData.size === 0 ? {} : { custom_data: Object.fromEntries(customData) }),
      ...(values.filter.trim() === '' ? {} : { filter }),
    },
  }
}

/**
 * The merge patch from a document to these settings: fields that the form has cleared are removed, others that the form
 * does not know stay. The service replaces a filter, and merges other objects.
 */
export function patchOf(webhook: Webhook, settings: SettingsInput): SettingsInput {
  const removable = [
    'only',
    'retries',
    'max_age_seconds',
    'rate_limit',
    'group',
    'custom_request_headers',
    'custom_data',
    'filter',
  ] as const
  const patch: Record<string, unknown> = { ...settings }
  for (const name of removable) {
    const before = webhook[name]
    const after = settings[name]
    if (before === undefined) continue
    if (after === undefined) patch[name] = null
    else if (name !== 'filter' && isObject(before) && isObject(after))
      patch[name] = objectPatch(before, after)
  }
  return patch
}

type JsonObject = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A merge patch merges objects at every depth, so what is gone must be named (RFC 7396). */
function objectPatch(before: JsonObject, after: JsonObject): JsonObject {
  const patch: Record<string, unknown> = {}
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) patch[name] = null
  for (const [name, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, name) ? before[name] : undefined
    patch[name] = isObject(old) && isObject(value) ? objectPatch(old, value) : value
  }
  return patch
}

function pairsText(pairs: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(pairs ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

function parsePairs(text: string): ReadonlyMap<string, string> | undefined {
  const pairs = new Map<string, string>()
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon)).trim()
    if (name === '') return undefined
    pairs.set(name, line.slice(colon + 1).trim())
  }
  return pairs
}

function parseObject(text: string): JsonObject | undefined {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const numberOr = (text: string): number | string =>
  /^-?\d{1,15}(\.\d{1,15})?$/.test(text.trim()) ? Number(text) : text
