// @ts-check
/** Mutations of a request before serialization: method, path, query, token. Each changes the request in place. */
import { KEYS } from './operations.js'

/**
 * @typedef {import('./operations.js').Random} Random
 * @typedef {import('./operations.js').KnownValues} KnownValues
 * @typedef {import('./request.js').RequestParts} RequestParts
 * @typedef {(parts: RequestParts, random: Random, known: KnownValues) => void} Mutation
 */

const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'PURGE',
  'M-SEARCH',
]
const SEGMENTS = [
  '.',
  '..',
  '%2e',
  '%2E%2e',
  '',
  '%2f',
  '%252e',
  '%00',
  '%zz',
  '%',
  '%c3%28',
  '%ff',
  'attempts',
  'webhooks',
  'descendants',
  'samples',
  'constructor',
  '__proto__',
  'x'.repeat(64),
  'x'.repeat(65),
  'x'.repeat(3_000),
  '\u00fc',
  '%F0%9F%98%80',
  ';v=1',
  'a b'.replace(' ', '+'),
  "'",
  '"',
  '<x>',
  '|',
  '\\',
  '~',
  '*',
  '@',
  ':80',
]
const IDS = [
  'parent',
  'child',
  'other',
  'nobody',
  'PARENT',
  'parent ',
  '%70arent',
  'parent%2F',
  'attempts',
  '0',
]
const TEXTS = [
  '',
  ' ',
  'true',
  'null',
  '-1',
  '1e2',
  '0x10',
  '9007199254740993',
  '99999999999999999999',
  'NaN',
  '1.5',
  ' 5 ',
  '\u0000',
  '\u{1F600}',
  '../..',
  "' or 1=1 --",
  '%24{jndi:ldap://x}',
  '%s%n',
  '<script>',
  'a'.repeat(2_000),
]
const QUERY_KEYS = [
  'page_size',
  'start_key',
  'paginate',
  'created_from',
  'created_to',
  'ascending',
  'filter_name',
  'filter_not_name',
  'filter_',
  'filter_a.b.c',
  'filter___proto__',
  'has_key',
  'key_missing',
  'verb',
  'auth_token',
  'pretty_print',
  'filter_state',
  '__proto__',
  'constructor',
  '_',
]

/** @type {Readonly<Record<string, Mutation>>} */
export const PART_MUTATIONS = {
  'another method'(parts, random) {
    parts.method = random.pick(METHODS)
  },
  'an additional segment'(parts, random) {
    parts.segments.splice(random.integer(0, parts.segments.length), 0, random.pick(SEGMENTS))
  },
  'another segment'(parts, random) {
    parts.segments[random.integer(0, parts.segments.length - 1)] = random.pick([...SEGMENTS, ...IDS])
  },
  'a missing segment'(parts, random) {
    parts.segments.splice(random.integer(0, parts.segments.length - 1), 1)
  },
  'an id of another kind'(parts, random, known) {
    const ids = [...IDS, ...known.webhooks, ...known.deliveries, ...known.calls, ...known.tokens.slice(0, 1)]
    const index = random.integer(1, Math.max(1, parts.segments.length - 1))
    parts.segments[index] = encodeURIComponent(random.pick(ids))
  },
  'an encoded segment'(parts, random) {
    const index = random.integer(0, parts.segments.length - 1)
    const hex = (/** @type {string} */ char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`
    parts.segments[index] =
      parts.segments[index]?.replace(/[a-z0-9]/g, (char) => (random.chance(0.3) ? hex(char) : char)) ?? ''
  },
  'an upper-case segment'(parts, random) {
    const index = random.integer(0, parts.segments.length - 1)
    parts.segments[index] = parts.segments[index]?.toUpperCase() ?? ''
  },
  'a trailing slash'(parts) {
    parts.segments.push('')
  },
  'an additional query parameter'(parts, random, known) {
    const values = [...TEXTS, ...METHODS, ...known.cursors, ...known.tokens.slice(-1)]
    parts.query.push([random.pick(QUERY_KEYS), random.pick(values)])
  },
  'a repeated query parameter'(parts, random) {
    if (parts.query.length > 0) parts.query.push([random.pick(parts.query)[0], random.pick(TEXTS)])
  },
  'no token'(parts) {
    parts.headers = parts.headers.filter(([name]) => name !== 'x-auth-token')
  },
  'another token'(parts, random) {
    const values = ['', 'undefined', 'x', 'x'.repeat(43), 'y'.repeat(5_000), KEYS.parent, '\u00ff']
    parts.headers = parts.headers.map(([name, value]) => [
      name,
      name === 'x-auth-token' ? random.pick(values) : value,
    ])
  },
  'the token in another place'(parts, random) {
    const token = parts.headers.find(([name]) => name === 'x-auth-token')?.[1]
    if (token === undefined) return
    parts.headers = parts.headers.filter(([name]) => name !== 'x-auth-token')
    const place = random.pick(['query', 'body', 'bearer', 'Bearer', 'twice', 'basic'])
    if (place === 'query') parts.query.push(['auth_token', token])
    else if (place === 'body') parts.body = { ...Object(parts.body), auth_token: token }
    else if (place === 'twice')
      parts.headers.push(['X-Auth-Token', token], ['x-auth-token', random.pick([token, 'other'])])
    else parts.headers.push(['authorization', `${place} ${token}`])
  },
  'a tunnelled verb'(parts, random) {
    const verb = random.pick(['PUT', 'put', 'PATCH', 'DELETE', 'GET', 'HEAD', 'BREW', '', 7, null])
    if (random.chance(0.5)) parts.body = { ...Object(parts.body), verb }
    else parts.query.push(['verb', String(verb)])
    if (random.chance(0.7)) parts.method = 'POST'
  },
}
