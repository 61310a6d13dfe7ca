/**
 * The common conditions of a filter, as the form shows them: whose side of a call, and which numbers. A filter that somebody
 * wrote otherwise is shown as JSON. Pure.
 */

/** @internal */
export interface CallFilter {
  /** The leg of the caller, or those of who is called; empty: both. */
  readonly direction: '' | 'inbound' | 'outbound'
  /** Numbers of callers, separated by commas: `+493055501*` begins with, `*42` ends with; empty: all. */
  readonly caller: string
  /** The same of who is called. */
  readonly called: string
}

type JsonObject = Readonly<Record<string, unknown>>

/** The fields of an event that hold the numbers. */
const NUMBER_FIELDS = { caller: 'caller_id_number', called: 'callee_id_number' } as const

/** A number or the name of a SIP user, with a star at one end. */
const ENTRY = /^\*?[\w+#.@-]{1,64}\*?$/

/** People write numbers with these between the digits. */
const SEPARATORS = /[\s()/-]/g

/**
 * The filter of the service; `undefined`: there is no condition.
 *
 * @throws the name of a field whose text is no list of numbers, as `CallFilterError`
 */
export function filterOf({ direction, caller, called }: CallFilter): JsonObject | undefined {
  const parts: JsonObject[] = direction === '' ? [] : [{ exact: { call_direction: direction } }]
  for (const [name, text] of [
    ['caller', caller],
    ['called', called],
  ] as const) {
    const conditions = entriesOf(text).map((entry) => conditionOf(name, entry))
    if (conditions.length > 0) parts.push(conditions.length === 1 ? conditions[0]! : { any: conditions })
  }
  return parts.length > 1 ? { all: parts } : parts[0]
}

/** A text that is no list of numbers. */
export class CallFilterError extends Error {
  constructor(readonly field: 'caller' | 'called') {
    super(field)
  }
}

function entriesOf(text: string): readonly string[] {
  return text
    .split(/[,;\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => (/^\*?[+(\d]/.test(entry) ? entry.replace(SEPARATORS, '') : entry))
}

function conditionOf(name: 'caller' | 'called', entry: string): JsonObject {
  const field = NUMBER_FIELDS[name]
  const [isSuffix, isPrefix] = [entry.startsWith('*'), entry.endsWith('*')]
  if (!ENTRY.test(entry) || (isSuffix && isPrefix)) throw new CallFilterError(name)
  if (isSuffix) return { suffix: { [field]: entry.slice(1) } }
  return isPrefix ? { prefix: { [field]: entry.slice(0, -1) } } : { exact: { [field]: entry } }
}

/** The conditions of a stored filter; `undefined`: it has others, or another form. */
export function callFilterOf(filter: JsonObject | undefined): CallFilter | undefined {
  const found: Conditions = { direction: '', caller: '', called: '' }
  if (filter === undefined) return found
  const parts = Array.isArray(filter.all) ? filter.all : [filter]
  for (const part of parts) {
    const conditions: readonly unknown[] = Array.isArray(part?.any) ? part.any : [part]
    for (const condition of conditions) readCondition(condition, found)
  }
  try {
    return JSON.stringify(filterOf(found)) === JSON.stringify(filter) ? found : undefined
  } catch {
    return undefined
  }
}

type Conditions = { -readonly [Name in keyof CallFilter]: CallFilter[Name] }

/** Adds what a condition says; whether that is all of it, `callFilterOf` checks. */
function readCondition(condition: unknown, found: Conditions): void {
  if (typeof condition !== 'object' || condition === null) return
  for (const [dialect, fields] of Object.entries(condition)) {
    for (const [field, value] of Object.entries((fields ?? {}) as JsonObject)) {
      const text = dialect === 'suffix' ? `*${value}` : dialect === 'prefix' ? `${value}*` : String(value)
      if (field === 'call_direction' && (text === 'inbound' || text === 'outbound')) found.direction = text
      for (const name of ['caller', 'called'] as const)
        if (field === NUMBER_FIELDS[name]) found[name] = [found[name], text].filter(Boolean).join(', ')
    }
  }
}
