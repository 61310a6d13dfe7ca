/**
 * Redacts log fields: removes the values of fields named like a secret, reduces errors to name and message and URLs to
 * host and path. A second line of defence: secrets are not passed to the log in the first place.
 */

import { isSecretName } from './secret-names.js'

/** Stands in place of a secret, in logs and documents. */
export const REDACTED = '[redacted]'

const MAX_DEPTH = 6
/** Maximum number of values in one log entry; further ones are omitted. */
const MAX_VALUES = 1_000
const MAX_TEXT = 10_000
const MAX_HEADER_NAME = 64

/** Returns a redacted deep copy of log fields, as plain data. */
export function redactFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  let remaining = MAX_VALUES

  function redactEntries(value: object, depth: number): Record<string, unknown> {
    const entries: [string, unknown][] = []
    for (const [name, member] of Object.entries(value)) {
      if (remaining <= 0) break
      entries.push([name, redactNamed(name, member, depth)])
    }
    return Object.fromEntries(entries)
  }

  function redactNamed(name: string, value: unknown, depth: number): unknown {
    remaining -= 1
    return value !== undefined && value !== null && isSecretName(name) ? REDACTED : redactValue(value, depth)
  }

  /** Header lists alternate names and values: the item after a secret name is redacted. */
  function redactList(list: readonly unknown[], depth: number): readonly unknown[] {
    return list.slice(0, Math.max(0, remaining)).map((item, index) => {
      const before = list[index - 1]
      const name = typeof before === 'string' && before.length <= MAX_HEADER_NAME ? before : ''
      return redactNamed(name, item, depth)
    })
  }

  function redactValue(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return redactText(value)
    if (typeof value === 'bigint' || typeof value === 'symbol') return redactText(String(value))
    if (typeof value === 'function') return '[function]'
    if (typeof value !== 'object' || value === null) return value
    if (depth >= MAX_DEPTH) return '[deeper]'
    if (value instanceof Error) return redactError(value, depth)
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
    if (Array.isArray(value)) return redactList(value, depth + 1)
    const { toJSON } = value as { toJSON?: unknown }
    return typeof toJSON === 'function'
      ? redactValue(toJSON.call(value), depth + 1)
      : redactEntries(value, depth + 1)
  }

  /** Drivers attach connections, queries and requests to their errors; none of that is logged. */
  function redactError(error: Error, depth: number): Record<string, unknown> {
    const { name, message, code, cause } = error as Error & { code?: unknown; cause?: unknown }
    return {
      name: redactText(String(name)),
      message: redactText(String(message)),
      ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
      ...(cause instanceof Error ? { cause: redactValue(cause, depth + 1) } : {}),
    }
  }

  return redactEntries(fields, 0)
}

/** What follows the scheme of a URL. */
const URL_IN_TEXT = /:\/\/([^\s"'<>`]+)/g
const SIGNING_SECRET = /\bwhsec_[\w+/=-]+/g
const AUTHORIZATION = /\b(bearer|basic) +[\w+/=.~-]{6,}/gi

/** Redacts a log message: user and query of URLs, signing secrets and `Authorization` values. */
export function redactText(text: string): string {
  return text
    .slice(0, MAX_TEXT)
    .replace(URL_IN_TEXT, (_, rest: string) => `://${hostAndPath(rest)}`)
    .replace(SIGNING_SECRET, `whsec_${REDACTED}`)
    .replace(AUTHORIZATION, `$1 ${REDACTED}`)
}

/**
 * Host and path of the text after `://`. It may not be a valid URL: an unescaped password can contain `/`, `?` or `#`,
 * so if there may be a password, everything up to the last `@` is removed.
 */
function hostAndPath(rest: string): string {
  const [authority = ''] = rest.split(/[/?#]/, 1)
  const at = rest.lastIndexOf('@')
  const hasColon = authority.includes(':') && !authority.startsWith('[')
  if (at >= 0 && (hasColon || authority.includes('@'))) {
    return `${REDACTED}@${withoutQuery(rest.slice(at + 1))}`
  }
  const hasPort = /^[^:]*:\d*\W*$/.test(authority)
  return hasColon && !hasPort ? authority.replace(/:.*$/s, '') : withoutQuery(rest)
}

const withoutQuery = (text: string) => text.replace(/[?#].*$/s, '')
