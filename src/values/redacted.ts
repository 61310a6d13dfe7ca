/**
 * What may be logged: fields named like a secret lose their value, errors are reduced to what they say, URLs to where
 * they lead. A second line of defence: nothing hands secrets to the log to begin with.
 */

const REDACTED = '[redacted]'

/** By its last words: `tokenTtlSeconds` and `credentialVersion` are no secrets. In snake_case. */
const SECRET_NAME =
  /(^(key|auth)|_auth|authorization|cookie|token|jwt|bearer|(api|access|private|secret|signing)_?key|pass_?w(or)?d|pass_?phrase|credential|secret|signature|md5|sha1?|digest)s?(_?(hash|header|value))?$/

/** True for a field or header of such a name: `apiKey`, `X-Auth-Token`, `oldPassword`, `client_secret`, … */
export function isSecretName(name: string): boolean {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/[-.\s]/g, '_')
  return SECRET_NAME.test(words.toLowerCase())
}

const MAX_DEPTH = 6
/** Values of one entry of the log; what is beyond is left out. */
const MAX_VALUES = 1_000
const MAX_TEXT = 10_000
const MAX_HEADER_NAME = 64

/** Fields as they may be logged: plain data that shares nothing with what was given. */
export function redacted(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  let left = MAX_VALUES

  function ofEntries(value: object, depth: number): Record<string, unknown> {
    const kept: [string, unknown][] = []
    for (const [name, one] of Object.entries(value)) {
      if (left <= 0) break
      kept.push([name, ofNamed(name, one, depth)])
    }
    return Object.fromEntries(kept)
  }

  function ofNamed(name: string, value: unknown, depth: number): unknown {
    left -= 1
    return value !== undefined && value !== null && isSecretName(name) ? REDACTED : ofValue(value, depth)
  }

  /** Headers are lists of names and values in turn: what follows a secret name is a secret. */
  function ofList(list: readonly unknown[], depth: number): readonly unknown[] {
    return list.slice(0, Math.max(0, left)).map((item, index) => {
      const before = list[index - 1]
      const name = typeof before === 'string' && before.length <= MAX_HEADER_NAME ? before : ''
      return ofNamed(name, item, depth)
    })
  }

  function ofValue(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return redactedText(value)
    if (typeof value === 'bigint' || typeof value === 'symbol') return redactedText(String(value))
    if (typeof value === 'function') return '[function]'
    if (typeof value !== 'object' || value === null) return value
    if (depth >= MAX_DEPTH) return '[deeper]'
    if (value instanceof Error) return ofError(value, depth)
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
    if (Array.isArray(value)) return ofList(value, depth + 1)
    const { toJSON } = value as { toJSON?: unknown }
    return typeof toJSON === 'function' ? ofValue(toJSON.call(value), depth + 1) : ofEntries(value, depth + 1)
  }

  /** Drivers hang connections, queries and requests onto their errors: none of that is logged. */
  function ofError(error: Error, depth: number): Record<string, unknown> {
    const { name, message, code, cause } = error as Error & { code?: unknown; cause?: unknown }
    return {
      name: redactedText(String(name)),
      message: redactedText(String(message)),
      ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
      ...(cause instanceof Error ? { cause: ofValue(cause, depth + 1) } : {}),
    }
  }

  return ofEntries(fields, 0)
}

const URL_IN_TEXT = /\b([a-z][a-z0-9+.-]{0,30}:\/\/)([^\s"'<>`]+)/gi
const SIGNING_SECRET = /\bwhsec_[\w+/=-]+/g
const AUTHORIZATION = /\b(bearer|basic) +[\w+/=.~-]{6,}/gi

/** A sentence as it may be logged: URLs without user and query, no signing secret, no `Authorization`. */
export function redactedText(text: string): string {
  return text
    .slice(0, MAX_TEXT)
    .replace(URL_IN_TEXT, (_, scheme: string, rest: string) => scheme + whereTo(rest))
    .replace(SIGNING_SECRET, `whsec_${REDACTED}`)
    .replace(AUTHORIZATION, `$1 ${REDACTED}`)
}

/**
 * Host and path of what follows `://`. It may be no URL at all: a password that was not escaped holds `/`, `?` or `#`,
 * so where there may be one, all up to the last `@` is gone.
 */
function whereTo(rest: string): string {
  const [authority = ''] = rest.split(/[/?#]/, 1)
  const at = rest.lastIndexOf('@')
  const hasColon = authority.includes(':') && !authority.startsWith('[')
  if (at >= 0 && (hasColon || authority.includes('@'))) {
    return `${REDACTED}@${withoutQuery(rest.slice(at + 1))}`
  }
  const hasPort = /:\d*\W*$/.test(authority)
  return hasColon && !hasPort ? authority.replace(/:.*$/s, '') : withoutQuery(rest)
}

const withoutQuery = (text: string) => text.replace(/[?#].*$/s, '')
