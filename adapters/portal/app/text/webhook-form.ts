/** The values of the form of a webhook, to and from the document. Pure. */
import type { Webhook } from 'hookswitch/client'
import { CallFilterError, callFilterOf, filterOf } from './call-filter.js'

export interface FormValues {
  readonly name: string
  readonly uri: string
  /** All kinds of events, also those that the service gets later. */
  readonly isAll: boolean
  /** The chosen kinds, where they are not all. */
  readonly kinds: readonly string[]
  readonly verb: string
  readonly format: string
  readonly retries: string
  readonly maxAge: string
  readonly maxAgeUnit: AgeUnit
  readonly rate: string
  readonly ordering: string
  readonly group: string
  readonly hasSubaccounts: boolean
  readonly hasInternalLegs: boolean
  /** `name: value`, one per line. */
  readonly headers: string
  /** The same. */
  readonly customData: string
  /** The conditions of the filter, unless it is written as JSON. */
  readonly direction: '' | 'inbound' | 'outbound'
  readonly caller: string
  readonly called: string
  readonly isFilterJson: boolean
  /** JSON. */
  readonly filter: string
}

/** Units of the maximum age, in seconds. */
export const AGE_UNITS = { day: 86_400, hour: 3_600, minute: 60, second: 1 } as const
export type AgeUnit = keyof typeof AGE_UNITS

/** What the service gets; it checks the values. */
export type SettingsInput = Readonly<Record<string, unknown>>

/** The value of `hook` for all kinds of events. */
const ALL = 'all'
/** Events about accounts and users: a webhook of this kind alone must say which; one of several kinds gets all of them. */
const OBJECT = 'object'

export function formValues(webhook?: Webhook): FormValues {
  const conditions = callFilterOf(webhook?.filter)
  const seconds = webhook?.max_age_seconds
  const unit =
    (Object.keys(AGE_UNITS) as AgeUnit[]).find((name) => (seconds ?? 1) % AGE_UNITS[name] === 0) ?? 'second'
  return {
    name: webhook?.name ?? '',
    uri: webhook?.uri ?? '',
    isAll: webhook?.hook === ALL && webhook.only === undefined,
    kinds: webhook === undefined ? [] : webhook.hook === ALL ? (webhook.only ?? []) : [webhook.hook],
    verb: webhook?.http_verb ?? 'post',
    format: webhook?.format ?? 'json',
    retries: webhook === undefined ? '' : String(webhook.retries),
    maxAge: seconds === undefined ? '' : String(seconds / AGE_UNITS[unit]),
    maxAgeUnit: seconds === undefined ? 'hour' : unit,
    rate: webhook?.rate_limit === undefined ? '' : String(webhook.rate_limit),
    ordering: webhook?.ordering ?? 'call',
    group: webhook?.group ?? '',
    hasSubaccounts: webhook?.include_subaccounts ?? false,
    hasInternalLegs: webhook?.include_internal_legs ?? true,
    headers: pairsText(webhook?.custom_request_headers),
    customData: pairsText(webhook?.custom_data),
    direction: conditions?.direction ?? '',
    caller: conditions?.caller ?? '',
    called: conditions?.called ?? '',
    isFilterJson: conditions === undefined,
    filter: webhook?.filter === undefined ? '' : JSON.stringify(webhook.filter, undefined, 2),
  }
}

/** A field whose value the service would not understand. */
export type FormProblem = 'kinds' | 'headers' | 'customData' | 'filter' | 'caller' | 'called'

type FormResult =
  | { readonly settings: SettingsInput; readonly problem?: undefined }
  | { readonly problem: FormProblem }

/** Empty fields are left out; decimal numbers are sent as numbers, other text as it is, so that the service names the field. */
export function settingsOf(values: FormValues): FormResult {
  const headers = parsePairs(values.headers)
  if (!headers) return { problem: 'headers' }
  const customData = parsePairs(values.customData)
  if (!customData) return { problem: 'customData' }
  const filter = readFilter(values)
  if (typeof filter === 'string') return { problem: filter }
  if (!values.isAll && values.kinds.length === 0) return { problem: 'kinds' }
  return {
    settings: {
      name: values.name,
      uri: values.uri.trim(),
      ...chosenEvents(values, customData),
      http_verb: values.verb,
      format: values.format,
      include_subaccounts: values.hasSubaccounts,
      include_internal_legs: values.hasInternalLegs,
      ordering: values.ordering,
      ...(values.retries === '' ? {} : { retries: numberOr(values.retries) }),
      ...(values.maxAge === '' ? {} : { max_age_seconds: ageOf(values) }),
      ...(values.rate === '' ? {} : { rate_limit: numberOr(values.rate) }),
      ...(values.group === '' ? {} : { group: values.group }),
      ...(headers.size === 0 ? {} : { custom_request_headers: Object.fromEntries(headers) }),
      ...(customData.size === 0 ? {} : { custom_data: Object.fromEntries(customData) }),
      ...(filter === undefined ? {} : { filter }),
    },
  }
}

/** One kind is the webhook's `hook`; several are all kinds, with a list of those that it gets. */
function chosenEvents(
  { isAll, kinds }: Pick<FormValues, 'isAll' | 'kinds'>,
  customData: ReadonlyMap<string, string>,
): SettingsInput {
  if (isAll) return { hook: ALL }
  const [first] = kinds
  if (kinds.length === 1 && (first !== OBJECT || customData.has('type'))) return { hook: first }
  return { hook: ALL, only: kinds }
}

/** @returns the filter, `undefined` for none, or the name of the field that cannot be read */
function readFilter(values: FormValues): JsonObject | undefined | 'filter' | 'caller' | 'called' {
  if (values.isFilterJson)
    return values.filter.trim() === '' ? undefined : (parseObject(values.filter) ?? 'filter')
  try {
    return filterOf(values)
  } catch (thrown) {
    if (thrown instanceof CallFilterError) return thrown.field
    throw thrown
  }
}

function ageOf({ maxAge, maxAgeUnit }: FormValues): number | string {
  const amount = numberOr(maxAge)
  return typeof amount === 'number' ? amount * AGE_UNITS[maxAgeUnit] : amount
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

/**
 * The merge patch of what the form changes, and of nothing else.
 *
 * @param start the document that the form began with
 * @param current the document as it is now
 * @param settings the settings of the form
 * @returns `undefined`: somebody else has changed one of these fields to another value
 */
export function changesOf(
  start: Webhook,
  current: Webhook,
  settings: SettingsInput,
): SettingsInput | undefined {
  const before = settingsOf(formValues(start))
  const isChanged = (name: string) =>
    before.problem !== undefined || !isSame(before.settings[name], settings[name])
  // The form has one field for both.
  const areKindsChanged = isChanged('hook') || isChanged('only')
  const changes: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(patchOf(current, settings))) {
    if (!(name === 'hook' || name === 'only' ? areKindsChanged : isChanged(name))) continue
    const key = name as keyof Webhook
    if (!isSame(start[key], current[key]) && !isSame(current[key], settings[name])) return undefined
    changes[name] = value
  }
  return changes
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

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
    .map(([name, value]) => `${name}: ${isPlain(value) ? value : JSON.stringify(value)}`)
    .join('\n')
}

/** Whether a value can be written as one plain line; others are written as JSON strings. */
const isPlain = (value: string) => value === value.trim() && !/[\r\n]|^"/.test(value)

function parsePairs(text: string): ReadonlyMap<string, string> | undefined {
  const pairs = new Map<string, string>()
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon)).trim()
    if (name === '') return undefined
    pairs.set(name, parseValue(line.slice(colon + 1).trim()))
  }
  return pairs
}

function parseValue(text: string): string {
  if (!text.startsWith('"')) return text
  try {
    return String(JSON.parse(text))
  } catch {
    return text
  }
}

/** `undefined`: the text is no JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const numberOr = (text: string): number | string =>
  /^-?\d{1,15}(\.\d{1,15})?$/.test(text.trim()) ? Number(text) : text
