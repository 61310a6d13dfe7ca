// @ts-check
/**
 * Rules for requests that a server may handle differently from `node`, with the reason. They generalize the table of
 * `test/adapters/http/exemptions.ts`. Responses to such requests are checked but not compared, and requests that change
 * state go to the second server group.
 */

/**
 * @typedef {import('./request.js').Request} Request
 * @typedef {object} Exemption
 * @property {readonly string[]} servers
 * @property {string} reason
 * @property {(request: Request, isApiPath: boolean) => boolean} covers `isApiPath`: the target is below `/v1` or `/v2`
 */

const pathOf = (/** @type {string} */ target) =>
  target.replace(/^[a-z]+:\/\/[^/?#]*/i, '').replace(/[?#].*$/, '')

/** @param {string} target */
function isDecodable(target) {
  try {
    decodeURIComponent(target.replace(/[?#].*$/, ''))
    return true
  } catch {
    return false
  }
}

/** @param {Request} request */
function contentType(request) {
  return request.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
}

/** Returns whether `express.json()` passes the body on unchanged: no JSON type, or plain JSON. @param {Request} request */
function isPlainJson(request) {
  const { body, headers } = request
  if (body === undefined || !/^application\/json\s*(;|$)/i.test(contentType(request))) return true
  const isEncoded = headers.some(([name]) => name.toLowerCase() === 'content-encoding')
  if (isEncoded || /charset/i.test(contentType(request)) || body.length > 100_000) return false
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    return /^[\x20\x09\x0a\x0d]*[[{]/.test(text) && typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}

/** @type {readonly Exemption[]} */
export const EXEMPTIONS = [
  {
    servers: ['fetch'],
    reason:
      'the URL standard (WHATWG) resolves dot segments, treats a backslash as a slash and encodes characters that are not allowed in a URL',
    covers: ({ target }) =>
      /(^|\/)(\.|%2e){1,2}(\/|$)/i.test(pathOf(target)) || /[^\x21-\x7e]|["<>`{}|^'\\#]/.test(target),
  },
  {
    servers: ['fetch'],
    reason:
      'the URL standard (WHATWG) parses an unusual absolute target to another host or path, or rejects it',
    covers: ({ target }) => !target.startsWith('/') && !/^https?:\/\/[a-z.]+(:\d+)?\//i.test(target),
  },
  {
    servers: ['fetch'],
    reason: 'a Request with one of these methods cannot have a body',
    covers: ({ method, body }) => (method === 'GET' || method === 'HEAD') && body !== undefined,
  },
  {
    servers: ['fetch'],
    reason: 'a Request cannot have this method',
    covers: ({ method }) => method === 'TRACE',
  },
  {
    servers: ['fastify'],
    reason:
      "Fastify's router decodes the path, including its version, before it finds a route, and rejects a path that it cannot decode",
    covers: ({ target }) => !isDecodable(target) || /^\/[^/]*%/.test(pathOf(target)),
  },
  {
    servers: ['fastify'],
    reason:
      "Fastify's router recognizes an absolute target only by a lower-case http:// or https://, with or without a host, and rejects a host that it cannot decode",
    covers: ({ target }) => !target.startsWith('/') && !/^https?:\/\/[\w.:[\]-]+\//.test(target),
  },
  {
    servers: ['fastify'],
    reason: "Fastify's router ends the path at a hash or a semicolon",
    covers: ({ target }) => /[#;]/.test(target),
  },
  {
    servers: ['fastify'],
    reason: 'Fastify itself parses bodies of host paths, and rejects those that it cannot parse',
    covers: ({ body }, isApiPath) => !isApiPath && body !== undefined,
  },
  {
    servers: ['express5AfterJson'],
    reason: 'express.json() rejects or decodes it',
    covers: (request) => !isPlainJson(request),
  },
  {
    servers: ['server'],
    reason: 'createServer rejects two Host headers (RFC 9112, section 3.2); a plain Node server does not',
    covers: ({ headers }) => headers.some(([name]) => name.toLowerCase() === 'host'),
  },
  {
    servers: ['server', 'fetch'],
    reason:
      'createServer and fetchHandler have no host application, so the service also handles paths outside the API',
    covers: (_, isApiPath) => !isApiPath,
  },
]

/** @param {string} server @param {Request} request @param {boolean} isApiPath */
export const isExempt = (server, request, isApiPath) =>
  EXEMPTIONS.some((entry) => entry.servers.includes(server) && entry.covers(request, isApiPath))
