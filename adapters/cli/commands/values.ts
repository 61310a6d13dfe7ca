/** Reads values of flags: times, limits and documents. */
import { wrongFlag } from '../read-flags.js'
import type { CommandContext, Flag } from './command.js'

/** Flags of a document that is sent. */
export const DOCUMENT_FLAGS: readonly Flag[] = [
  {
    name: 'set',
    value: 'FIELD=TEXT',
    isRepeatable: true,
    description: 'set a field, FIELD:=JSON to JSON; a dotted name is nested',
  },
  {
    name: 'data',
    value: 'FILE',
    isFile: true,
    description: 'JSON object with the fields, - for the standard input',
  },
]
export const IF_MATCH: Flag = {
  name: 'if-match',
  value: 'REVISION',
  description: 'fail unless the document still has this revision',
}
export const YES: Flag = { name: 'yes', description: 'confirm what cannot be undone' }

/** The Unix epoch in Gregorian seconds, the API's times. */
const GREGORIAN_EPOCH_SECONDS = 62_167_219_200
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const DEFAULT_LIMIT = 100

/** Description of a time, for the help. */
export const TIME = 'a time like 2030-01-15T12:00Z, or an age like 30m, 2h or 7d'

/**
 * Reads an ISO 8601 time or an age as Gregorian seconds.
 *
 * @throws `InvalidOption` naming the flag
 */
export function timeFlag(context: Pick<CommandContext, 'flag' | 'now'>, name: string): number | undefined {
  const text = context.flag(name)
  if (text === undefined) return undefined
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const ms = unit ? context.now() - Number(count) * UNIT_SECONDS[unit]! * 1_000 : isoTime(text)
  if (Number.isNaN(ms)) throw wrongFlag(`--${name}`, `must be ${TIME}, not '${text}'`)
  return Math.floor(ms / 1_000) + GREGORIAN_EPOCH_SECONDS
}

const isoTime = (text: string) => (/^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN)

/** Reads an integer of at least `min`. @throws `InvalidOption` naming the flag */
export function integerFlag(
  context: Pick<CommandContext, 'flag'>,
  name: string,
  min: number,
): number | undefined {
  const text = context.flag(name)
  if (text === undefined) return undefined
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min) return value
  throw wrongFlag(`--${name}`, `must be an integer of at least ${min}, not '${text}'`)
}

/** Reads `--limit`. @throws `InvalidOption` */
export function limitFlag(context: Pick<CommandContext, 'flag'>): number {
  if (context.flag('limit') === 'all') return Number.POSITIVE_INFINITY
  return integerFlag(context, 'limit', 1) ?? DEFAULT_LIMIT
}

/** Requires `--yes` for what cannot be undone. @throws `InvalidOption` */
export function confirm(context: Pick<CommandContext, 'has'>, what: string): void {
  if (!context.has('yes')) throw wrongFlag('--yes', `is required: ${what}`)
}

/** Parses JSON. @throws `InvalidOption` naming `source`; the message does not quote the text */
export function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    throw wrongFlag(source, 'is not JSON')
  }
}

/** Reads the one line of a file with a secret. @throws `InvalidOption` naming the flag */
export async function readSecretFile(
  context: Pick<CommandContext, 'read'>,
  path: string,
  flag: string,
): Promise<string> {
  const secret = (await context.read(path, flag))
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim()
  if (secret === '') throw wrongFlag(flag, 'names an empty file')
  if (/\s/.test(secret) && flag !== '--password-file') throw wrongFlag(flag, 'must name a file with one word')
  return secret
}

/**
 * Builds a document from `--data FILE`, the flags of its fields and `--set`, the latter last.
 *
 * @param fields names of flags that are fields: `http-verb` becomes `http_verb`
 * @throws `InvalidOption` naming the flag
 */
export async function documentFrom(
  context: Pick<CommandContext, 'flag' | 'list' | 'read'>,
  fields: readonly string[],
): Promise<Readonly<Record<string, unknown>>> {
  const path = context.flag('data')
  const parsed =
    path === undefined ? {} : parseJson((await context.read(path, '--data')).toString('utf8'), '--data')
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw wrongFlag('--data', 'must hold a JSON object')
  }
  const document = { ...parsed } as Record<string, unknown>
  for (const name of fields) {
    const value = context.flag(name)
    // The service converts texts that spell numbers and booleans.
    if (value !== undefined) document[name.replaceAll('-', '_')] = value
  }
  for (const assignment of context.list('set')) set(document, assignment)
  return document
}

/** `retries=3`, `custom_data.crm=7`: text, which the service converts where it can; `flags:=["vip"]`, `group:=null`: JSON. */
function set(document: Record<string, unknown>, assignment: string): void {
  const [, path = '', operator, text = ''] = /^([^=]*?)(:?=)(.*)$/s.exec(assignment) ?? []
  const names = path.split('.')
  if (names.some((name) => name === '' || name === '__proto__')) {
    throw wrongFlag('--set', 'must be FIELD=TEXT or FIELD:=JSON')
  }
  const last = names.pop()!
  let target = document
  for (const name of names) {
    const inner = Object.hasOwn(target, name) ? target[name] : undefined
    const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner)
    const next = isObject ? { ...(inner as Record<string, unknown>) } : {}
    target[name] = next
    target = next
  }
  target[last] = operator === ':=' ? parseJson(text, `--set: ${path}`) : text
}
