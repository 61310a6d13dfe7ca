// @ts-check
/** Rules that every response must satisfy, whatever the request. Shares no code with the implementation. */

/**
 * @typedef {import('../adapters/http/raw.js').RawResponse} RawResponse
 * @typedef {import('./request.js').Request} Request
 */

const SUCCESS = ['data', 'status', 'auth_token', 'request_id', 'revision', 'timestamp', 'version', 'node']
const LIST = ['page_size', 'start_key', 'next_start_key']
const ERROR = [
  'data',
  'error',
  'message',
  'status',
  'request_id',
  'timestamp',
  'node',
  'auth_token',
  'version',
]
/** Headers of the framework or the connection. */
const FRAMEWORK_HEADERS = ['date', 'connection', 'keep-alive', 'x-powered-by', 'transfer-encoding']

/**
 * Returns the parts of a response that must be equal for all servers, as text. Generated request ids differ, because they
 * are also generated for responses that are not compared.
 *
 * @param {RawResponse} response
 * @param {readonly string[]} sent request ids that the client sent
 */
export function comparable({ status, headers, body }, sent) {
  const compared = Object.entries(headers)
    .filter(([name]) => !FRAMEWORK_HEADERS.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const id = headers['x-request-id']
  const isGenerated = id !== undefined && !sent.includes(id) && /^[0-9a-f]{32}$/.test(id)
  const text = JSON.stringify([status, compared.filter(([name]) => !isGenerated || name !== 'x-request-id')])
  return text + (isGenerated ? body.replace(new RegExp(`("request_id":\\s*)"${id}"`), '$1"generated"') : body)
}

/** Returns whether Node's parser responded before the server could. @param {RawResponse} response */
export const isParserResponse = ({ status, headers, body }) =>
  [400, 414, 431].includes(status) && body === '' && headers.connection === 'close'

/**
 * Returns the violations in a response.
 *
 * @param {RawResponse} response
 * @param {{ method: string, isHostResponse: boolean, secrets: readonly string[] }} context isHostResponse: the host may have responded
 * @returns {string[]}
 */
export function findViolations(response, { method, isHostResponse, secrets }) {
  const { status, headers, body } = response
  const violations = leakedSecrets(response, secrets)
  if (status >= 500) violations.push(`status ${status}`)
  for (const value of Object.values(headers))
    if (/[\0-\x08\x0a-\x1f\x7f]/.test(value)) violations.push('a control character in a header')
  const isEmpty = method === 'HEAD' || status === 204 || status === 304
  if (isEmpty && body !== '') violations.push('a body that is not allowed')
  if (isHostResponse || isEmpty) return violations
  if (headers['content-type'] === 'text/event-stream')
    return status === 200 && body === 'retry: 2000\n\n'
      ? violations
      : [...violations, `a stream with status ${status} and the body ${JSON.stringify(body)}`]
  if (headers['content-type'] !== 'application/json')
    return [...violations, `content type ${headers['content-type']}`]
  if (headers['content-length'] !== String(Buffer.byteLength(body)))
    violations.push(`length ${headers['content-length']}`)
  let json
  try {
    json = JSON.parse(body)
  } catch {
    return [...violations, 'invalid JSON']
  }
  if (json?.openapi !== undefined) return violations
  return [
    ...violations,
    ...(status < 400 ? successViolations(json, headers) : errorViolations(json, status, headers)),
  ]
}

/** @param {RawResponse} response @param {readonly string[]} secrets */
function leakedSecrets({ headers, body }, secrets) {
  const text = `${JSON.stringify(headers)} ${body}`
  return secrets
    .filter((secret) => text.includes(secret))
    .map((secret) => `leaks the secret "${secret.slice(0, 8)}…"`)
}

/** @param {Record<string, unknown>} json @param {readonly string[]} allowed */
const unknownKeys = (json, allowed) =>
  Object.keys(json)
    .filter((key) => !allowed.includes(key))
    .map((key) => `unknown key ${key}`)

/** @param {any} json @param {Readonly<Record<string, string>>} headers */
function envelopeViolations(json, headers) {
  const violations = []
  if (typeof json.request_id !== 'string' || json.request_id === '') violations.push('no request_id')
  if (
    headers['x-request-id'] !== undefined &&
    Buffer.from(headers['x-request-id'], 'latin1').toString() !== json.request_id
  )
    violations.push('a different x-request-id in the header')
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(json.timestamp))
    violations.push(`timestamp ${json.timestamp}`)
  if (typeof json.node !== 'string') violations.push('no node')
  return violations
}

/** @param {any} json @param {Readonly<Record<string, string>>} headers */
function successViolations(json, headers) {
  const violations = [...envelopeViolations(json, headers), ...unknownKeys(json, [...SUCCESS, ...LIST])]
  if (json.status !== 'success') violations.push(`status "${json.status}"`)
  if (!('data' in json)) violations.push('no data')
  if ((json.auth_token === undefined) !== (json.version === undefined))
    violations.push('only one of auth_token and version')
  if (json.page_size !== undefined && json.page_size !== json.data?.length)
    violations.push('a wrong page_size')
  for (const [key, value] of Object.entries(json)) if (value === null) violations.push(`${key} is null`)
  return violations
}

/** @param {any} json @param {number} status @param {Readonly<Record<string, string>>} headers */
function errorViolations(json, status, headers) {
  const violations = [...envelopeViolations(json, headers), ...unknownKeys(json, ERROR)]
  if (json.status !== 'error') violations.push(`status "${json.status}"`)
  if (json.error !== String(status)) violations.push(`error "${json.error}" with status ${status}`)
  if (typeof json.message !== 'string') violations.push('no message')
  if (Object.prototype.toString.call(json.data) !== '[object Object]')
    violations.push('data is not an object')
  if (status === 401 && ('auth_token' in json || 'version' in json))
    violations.push('a 401 with auth_token or version')
  if (status === 401 && JSON.stringify(json.data) !== '{"message":"invalid credentials"}')
    violations.push('a 401 that reveals the cause')
  if (status === 405 && headers.allow === undefined) violations.push('a 405 without Allow')
  if (status === 429 && headers['retry-after'] === undefined) violations.push('a 429 without Retry-After')
  return violations
}
