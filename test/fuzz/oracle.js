// @ts-check
/** What every answer must be like, whatever was asked (wire.md 3): shares no code with what made it. */

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
/** Of the framework or of the connection. */
const FRAMEWORKS = ['date', 'connection', 'keep-alive', 'x-powered-by', 'transfer-encoding']

/**
 * What two faces must agree on, as text. Ids of requests are made for answers that are not compared too, and so differ.
 *
 * @param {RawResponse} response
 * @param {readonly string[]} sent the ids of requests that the client sent
 */
export function comparable({ status, headers, body }, sent) {
  const kept = Object.entries(headers)
    .filter(([name]) => !FRAMEWORKS.includes(name))
    .sort(([one], [other]) => (one < other ? -1 : 1))
  const id = headers['x-request-id']
  const isMade = id !== undefined && !sent.includes(id) && /^[0-9a-f]{32}$/.test(id)
  const text = JSON.stringify([status, kept.filter(([name]) => !isMade || name !== 'x-request-id')])
  return text + (isMade ? body.replace(new RegExp(`("request_id":\\s*)"${id}"`), '$1"made"') : body)
}

/** Whether Node's parser has answered, before anybody else could. @param {RawResponse} response */
export const isOfParser = ({ status, headers, body }) =>
  [400, 414, 431].includes(status) && body === '' && headers.connection === 'close'

/**
 * What is wrong with an answer, in sentences.
 *
 * @param {RawResponse} response
 * @param {{ method: string, isForeign: boolean, secrets: readonly string[] }} asked isForeign: the host may have answered
 * @returns {string[]}
 */
export function flaws(response, { method, isForeign, secrets }) {
  const { status, headers, body } = response
  const found = secretsIn(response, secrets)
  if (status >= 500) found.push(`status ${status}`)
  for (const value of Object.values(headers))
    if (/[\0-\x08\x0a-\x1f\x7f]/.test(value)) found.push('a control character in a header')
  const isEmpty = method === 'HEAD' || status === 204 || status === 304
  if (isEmpty && body !== '') found.push('a body where none may be')
  if (isForeign || isEmpty) return found
  if (headers['content-type'] !== 'application/json')
    return [...found, `content type ${headers['content-type']}`]
  if (headers['content-length'] !== String(Buffer.byteLength(body)))
    found.push(`length ${headers['content-length']}`)
  let json
  try {
    json = JSON.parse(body)
  } catch {
    return [...found, 'no JSON']
  }
  if (json?.openapi !== undefined) return found
  return [...found, ...(status < 400 ? successFlaws(json, headers) : errorFlaws(json, status, headers))]
}

/** @param {RawResponse} response @param {readonly string[]} secrets */
function secretsIn({ headers, body }, secrets) {
  const text = `${JSON.stringify(headers)} ${body}`
  return secrets
    .filter((secret) => text.includes(secret))
    .map((secret) => `the secret "${secret.slice(0, 8)}…" in it`)
}

/** @param {Record<string, unknown>} json @param {readonly string[]} allowed */
const unknownKeys = (json, allowed) =>
  Object.keys(json)
    .filter((key) => !allowed.includes(key))
    .map((key) => `the key ${key}`)

/** @param {any} json @param {Readonly<Record<string, string>>} headers */
function frameFlaws(json, headers) {
  const found = []
  if (typeof json.request_id !== 'string' || json.request_id === '') found.push('no request_id')
  if (
    headers['x-request-id'] !== undefined &&
    Buffer.from(headers['x-request-id'], 'latin1').toString() !== json.request_id
  )
    found.push('another x-request-id in the header')
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(json.timestamp))
    found.push(`timestamp ${json.timestamp}`)
  if (typeof json.node !== 'string') found.push('no node')
  return found
}

/** @param {any} json @param {Readonly<Record<string, string>>} headers */
function successFlaws(json, headers) {
  const found = [...frameFlaws(json, headers), ...unknownKeys(json, [...SUCCESS, ...LIST])]
  if (json.status !== 'success') found.push(`status "${json.status}"`)
  if (!('data' in json)) found.push('no data')
  if ((json.auth_token === undefined) !== (json.version === undefined))
    found.push('one of auth_token and version alone')
  if (json.page_size !== undefined && json.page_size !== json.data?.length)
    found.push('a page_size that does not count')
  for (const [key, value] of Object.entries(json)) if (value === null) found.push(`${key} is null`)
  return found
}

/** @param {any} json @param {number} status @param {Readonly<Record<string, string>>} headers */
function errorFlaws(json, status, headers) {
  const found = [...frameFlaws(json, headers), ...unknownKeys(json, ERROR)]
  if (json.status !== 'error') found.push(`status "${json.status}"`)
  if (json.error !== String(status)) found.push(`error "${json.error}" with status ${status}`)
  if (typeof json.message !== 'string') found.push('no message')
  if (Object.prototype.toString.call(json.data) !== '[object Object]') found.push('data is no object')
  if (status === 401 && ('auth_token' in json || 'version' in json)) found.push('a 401 that tells of a token')
  if (status === 401 && JSON.stringify(json.data) !== '{"message":"invalid credentials"}')
    found.push('a 401 that tells why')
  if (status === 405 && headers.allow === undefined) found.push('a 405 without Allow')
  if (status === 429 && headers['retry-after'] === undefined) found.push('a 429 without Retry-After')
  return found
}
