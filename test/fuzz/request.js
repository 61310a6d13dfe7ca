// @ts-check
/** Builds valid requests from the OpenAPI document, and their bytes. */
import { OPERATION_INPUTS } from './operations.js'

/**
 * @typedef {import('./operations.js').Random} Random
 * @typedef {object} RequestParts a request before serialization
 * @property {string} operation
 * @property {string} method
 * @property {string[]} segments path segments, encoded
 * @property {[string, string][]} query
 * @property {[string, string][]} headers
 * @property {unknown} body the JSON body with its envelope; undefined: no body
 *
 * @typedef {object} Request a request as it is sent
 * @property {string} operation
 * @property {string} method
 * @property {string} target
 * @property {[string, string][]} headers
 * @property {Buffer | undefined} body
 * @property {number | undefined} chunkBytes size of chunks; undefined: not chunked, with Content-Length
 * @property {string[]} mutations names of the applied mutations
 *
 * @typedef {{ operation: string, method: string, path: string, isOpen: boolean }} Operation
 */

/** Returns the operations of an OpenAPI document. @param {any} document @returns {Operation[]} */
export function documentedOperations(document) {
  const documented = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'parameters')
      .map(([method, { operationId, security }]) => ({
        operation: operationId,
        method: method.toUpperCase(),
        path,
        isOpen: security !== undefined,
      })),
  )
  const missing = documented
    .filter(({ operation }) => !(operation in OPERATION_INPUTS))
    .map(({ operation }) => operation)
  const obsolete = Object.keys(OPERATION_INPUTS).filter((name) =>
    documented.every(({ operation }) => operation !== name),
  )
  if (missing.length + obsolete.length > 0)
    throw new Error(`test/fuzz/operations.js: ${[...missing, ...obsolete].join(', ')}`)
  return documented
}

/**
 * Builds a valid request of an operation.
 *
 * @param {Random} random
 * @param {Operation} operation
 * @param {import('./operations.js').KnownValues} known
 * @returns {RequestParts}
 */
export function validRequest(random, { operation, method, path, isOpen }, known) {
  const { params, query, headers, data } = OPERATION_INPUTS[operation]?.(random, known) ?? {}
  /** @type {Record<string, string>} */
  const all = { account_id: random.pick(['parent', 'parent', 'parent', 'child']), ...params }
  const filled = path.replace(/\{([a-z_]+)\}/g, (_, name) => encodeURIComponent(all[name] ?? 'unknown'))
  const token = known.tokens.at(-1 - random.integer(0, Math.min(2, Math.max(0, known.tokens.length - 1))))
  return {
    operation,
    method,
    segments: [random.pick(['v1', 'v2']), ...filled.slice(1).split('/')],
    query: [...(query ?? [])],
    headers: [
      ...(headers ?? []),
      ...(isOpen || token === undefined ? [] : [/** @type {[string, string]} */ (['x-auth-token', token])]),
    ],
    body: data === undefined ? undefined : { data },
  }
}

/** @param {RequestParts} parts @returns {Request} */
export function buildRequest({ operation, method, segments, query, headers, body }) {
  const search = query
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`)
    .join('&')
  return {
    operation,
    method,
    target: `/${segments.join('/')}${search === '' ? '' : `?${search}`}`,
    headers: body === undefined ? headers : [['content-type', 'application/json'], ...headers],
    body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
    chunkBytes: undefined,
    mutations: [],
  }
}

/** @param {Request} request @returns {Buffer} */
export function requestBytes({ method, target, headers, body, chunkBytes }) {
  const length =
    body === undefined
      ? ''
      : chunkBytes === undefined
        ? `content-length: ${body.length}\r\n`
        : 'transfer-encoding: chunked\r\n'
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const head = Buffer.from(
    `${method} ${target} HTTP/1.1\r\nhost: api.example.com\r\n${length}${lines}\r\n`,
    'latin1',
  )
  if (body === undefined) return head
  return Buffer.concat([head, chunkBytes === undefined ? body : chunked(body, chunkBytes)])
}

/** @param {Buffer} content @param {number} chunkBytes */
function chunked(content, chunkBytes) {
  const parts = []
  for (let offset = 0; offset < content.length; offset += chunkBytes) {
    const part = content.subarray(offset, offset + chunkBytes)
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

/** Returns a shell command that sends the same bytes. @param {Buffer} bytes @param {Request | undefined} request */
export function replayCommand(bytes, request) {
  const raw = `printf %s ${bytes.toString('base64')} | base64 -d | nc 127.0.0.1 8000`
  if (!request || request.chunkBytes !== undefined) return raw
  const { method, target, headers, body } = request
  const quote = (/** @type {string} */ text) => `'${text.replaceAll("'", "'\\''")}'`
  const isText =
    (body === undefined || (!body.includes(0) && body.equals(Buffer.from(body.toString())))) &&
    (body?.length ?? 0) < 4_000
  const isPlain =
    [target, ...headers.flat()].every((text) => /^[\x20-\x7e]*$/.test(text)) && target.startsWith('/')
  if (!isText || !isPlain) return raw
  const flags = headers.map(([name, value]) => `-H ${quote(value === '' ? `${name};` : `${name}: ${value}`)}`)
  const data = body === undefined ? [] : [`--data-binary ${quote(body.toString())}`]
  return ['curl -i --path-as-is -X', method, ...flags, ...data, quote(`http://127.0.0.1:8000${target}`)].join(
    ' ',
  )
}
