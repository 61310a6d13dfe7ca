/** Builds a request from an endpoint and its parameters. Pure. */
import type { CallOptions, CallParameters, Endpoint } from './call.js'
import { invalidOption } from './error.js'

/** A request without its token. */
export interface PreparedRequest {
  readonly method: Endpoint['method']
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** The parameter that the client fills in, and its place in a path. */
export const ACCOUNT_PARAMETER = 'accountId'
export const ACCOUNT_PLACEHOLDER = '{account_id}'

const camel = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/**
 * Checks the parameters. Without an account the URL keeps `ACCOUNT_PLACEHOLDER`.
 *
 * @param base URL of the API with the version
 * @throws `invalid_option` naming the parameter
 */
export function prepareRequest(
  base: string,
  { method, path, headers: headerNames = {} }: Endpoint,
  { data, ...parameters }: CallParameters,
  { requestId }: Pick<CallOptions, 'requestId'>,
): PreparedRequest {
  const inPath = new Set<string>()
  const filled = path.replace(/\{(\w+)\}/g, (whole, wireName: string) => {
    const name = camel(wireName)
    inPath.add(name)
    const isLeft = whole === ACCOUNT_PLACEHOLDER && parameters[name] === undefined
    return isLeft ? whole : segment(name, parameters[name])
  })
  const query = new URLSearchParams()
  const headers: Record<string, string> = { accept: 'application/json' }
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || inPath.has(name)) continue
    const header = Object.hasOwn(headerNames, name) ? headerNames[name] : undefined
    if (header) headers[header.toLowerCase()] = entityTag(name, value)
    else appendQuery(query, name, value)
  }
  if (requestId !== undefined) headers['x-request-id'] = printable('requestId', requestId, 128)
  const search = query.toString()
  const request = { method, url: `${base}${filled}${search === '' ? '' : `?${search}`}`, headers }
  if (data === undefined) return request
  return { ...request, headers: { ...headers, 'content-type': 'application/json' }, body: toJson(data) }
}

function toJson(data: unknown): string {
  try {
    return JSON.stringify({ data })
  } catch {
    throw invalidOption('data', 'cannot be written as JSON')
  }
}

/** One percent-encoded segment. URL parsers remove dot segments, also encoded ones, and so would change the path. */
export function segment(name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw invalidOption(name, 'is required, a non-empty string')
  if (value === '.' || value === '..') throw invalidOption(name, 'must not be a dot segment')
  try {
    return encodeURIComponent(value)
  } catch {
    throw invalidOption(name, 'must be well-formed Unicode')
  }
}

function appendQuery(query: URLSearchParams, name: string, value: unknown): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [key, item] of Object.entries(value)) query.append(key, queryText(`${name}.${key}`, item))
  } else query.append(snake(name), queryText(name, value))
}

function queryText(name: string, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value)
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  if (Array.isArray(value)) return JSON.stringify(value)
  throw invalidOption(name, 'must be a string, a number, a boolean or a list of these')
}

/** Accepts a revision (`3`), an entity tag (`"3"`) and `*`. */
function entityTag(name: string, value: unknown): string {
  const text = printable(name, value, 1_024)
  return /^[\w.-]+$/.test(text) ? `"${text}"` : text
}

function printable(name: string, value: unknown, maxLength: number): string {
  if (typeof value === 'string' && /^[ -~]+$/.test(value) && value.length <= maxLength) return value
  throw invalidOption(name, `must be 1 to ${maxLength} printable ASCII characters`)
}
