// @ts-check
/**
 * Where a face may make something else of a request than `node` does, and why: the rules behind the table of
 * `test/adapters/http/exemptions.ts`. Such a request goes to a face of its own, whose answer has to be none of ours that
 * fails and is not compared.
 */

/**
 * @typedef {import('./request.js').Request} Request
 * @typedef {object} Exemption
 * @property {readonly string[]} faces
 * @property {string} why
 * @property {(request: Request, isOurs: boolean) => boolean} covers `isOurs`: the target is below `/v1` or `/v2`
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

/** What `express.json()` leaves as it is: no JSON type, or plain JSON whose values are all that counts. @param {Request} request */
function isPlainJson(request) {
  const { body, headers } = request
  if (body === undefined || !/^application\/json\s*(;|$)/i.test(contentType(request))) return true
  const encoding = headers.some(([name]) => name.toLowerCase() === 'content-encoding')
  if (encoding || /charset/i.test(contentType(request)) || body.length > 100_000) return false
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
    faces: ['fetch'],
    why: 'the URL standard (WHATWG) resolves dot segments, takes a backslash for a slash and encodes what may not stand in a URL',
    covers: ({ target }) =>
      /(^|\/)(\.|%2e){1,2}(\/|$)/i.test(pathOf(target)) || /[^\x21-\x7e]|["<>`{}|^'\\#]/.test(target),
  },
  {
    faces: ['fetch'],
    why: 'the URL standard (WHATWG) finds another host or path, or none, in an absolute target that is unusual',
    covers: ({ target }) => !target.startsWith('/') && !/^https?:\/\/[a-z.]+(:\d+)?\//i.test(target),
  },
  {
    faces: ['fetch'],
    why: 'a Request with one of these methods cannot carry a body',
    covers: ({ method, body }) => (method === 'GET' || method === 'HEAD') && body !== undefined,
  },
  { faces: ['fetch'], why: 'a Request cannot have this method', covers: ({ method }) => method === 'TRACE' },
  {
    faces: ['fastify'],
    why: "Fastify's router decodes the path, its version too, before it looks for a route, and refuses what it cannot decode",
    covers: ({ target }) => !isDecodable(target) || /^\/[^/]*%/.test(pathOf(target)),
  },
  {
    faces: ['fastify'],
    why: "Fastify's router takes an absolute target for one where it begins with http:// or https:// in small letters, host or not, and refuses a host that it cannot decode",
    covers: ({ target }) => !target.startsWith('/') && !/^https?:\/\/[\w.:[\]-]+\//.test(target),
  },
  {
    faces: ['fastify'],
    why: "Fastify's router takes a hash or a semicolon for the end of the path",
    covers: ({ target }) => /[#;]/.test(target),
  },
  {
    faces: ['fastify'],
    why: 'Fastify itself reads the body of a path that is not ours, and refuses what it cannot',
    covers: ({ body }, isOurs) => !isOurs && body !== undefined,
  },
  {
    faces: ['express5AfterJson'],
    why: 'express.json() refuses or decodes it itself',
    covers: (request) => !isPlainJson(request),
  },
  {
    faces: ['server'],
    why: 'our own server refuses two Host headers (RFC 9112, 3.2); a plain server of Node leaves that to its handler',
    covers: ({ headers }) => headers.some(([name]) => name.toLowerCase() === 'host'),
  },
  {
    faces: ['server', 'fetch'],
    why: 'our own server has no host to go on to, and a function of fetch cannot go on to one, so foreign paths are answered by the service',
    covers: (_, isOurs) => !isOurs,
  },
]

/** @param {string} face @param {Request} request @param {boolean} isOurs */
export const isExempt = (face, request, isOurs) =>
  EXEMPTIONS.some((entry) => entry.faces.includes(face) && entry.covers(request, isOurs))
