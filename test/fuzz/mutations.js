// @ts-check
/** What may be done to a request in parts, layer by layer. Each changes it in place. */
import { KEYS } from './operations.js'

/**
 * @typedef {import('./operations.js').Random} Random
 * @typedef {import('./operations.js').Known} Known
 * @typedef {import('./request.js').Wanted} Wanted
 * @typedef {(wanted: Wanted, random: Random, known: Known) => void} Mutation
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
  'another method'(wanted, random) {
    wanted.method = random.pick(METHODS)
  },
  'a segment more'(wanted, random) {
    wanted.segments.splice(random.integer(0, wanted.segments.length), 0, random.pick(SEGMENTS))
  },
  'another segment'(wanted, random) {
    wanted.segments[random.integer(0, wanted.segments.length - 1)] = random.pick([...SEGMENTS, ...IDS])
  },
  'a segment less'(wanted, random) {
    wanted.segments.splice(random.integer(0, wanted.segments.length - 1), 1)
  },
  'an id of another kind'(wanted, random, known) {
    const all = [...IDS, ...known.webhooks, ...known.deliveries, ...known.calls, ...known.tokens.slice(0, 1)]
    const at = random.integer(1, Math.max(1, wanted.segments.length - 1))
    wanted.segments[at] = encodeURIComponent(random.pick(all))
  },
  'a segment encoded'(wanted, random) {
    const at = random.integer(0, wanted.segments.length - 1)
    const hex = (/** @type {string} */ char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`
    wanted.segments[at] =
      wanted.segments[at]?.replace(/[a-z0-9]/g, (char) => (random.chance(0.3) ? hex(char) : char)) ?? ''
  },
  'a segment in capitals'(wanted, random) {
    const at = random.integer(0, wanted.segments.length - 1)
    wanted.segments[at] = wanted.segments[at]?.toUpperCase() ?? ''
  },
  'a slash behind'(wanted) {
    wanted.segments.push('')
  },
  'a query more'(wanted, random, known) {
    const values = [...TEXTS, ...METHODS, ...known.cursors, ...known.tokens.slice(-1)]
    wanted.query.push([random.pick(QUERY_KEYS), random.pick(values)])
  },
  'a query twice'(wanted, random) {
    if (wanted.query.length > 0) wanted.query.push([random.pick(wanted.query)[0], random.pick(TEXTS)])
  },
  'no token'(wanted) {
    wanted.headers = wanted.headers.filter(([name]) => name !== 'x-auth-token')
  },
  'another token'(wanted, random) {
    const values = ['', 'undefined', 'x', 'x'.repeat(43), 'y'.repeat(5_000), KEYS.parent, '\u00ff']
    wanted.headers = wanted.headers.map(([name, value]) => [
      name,
      name === 'x-auth-token' ? random.pick(values) : value,
    ])
  },
  'the token elsewhere'(wanted, random) {
    const token = wanted.headers.find(([name]) => name === 'x-auth-token')?.[1]
    if (token === undefined) return
    wanted.headers = wanted.headers.filter(([name]) => name !== 'x-auth-token')
    const place = random.pick(['query', 'body', 'bearer', 'Bearer', 'twice', 'basic'])
    if (place === 'query') wanted.query.push(['auth_token', token])
    else if (place === 'body') wanted.body = { ...Object(wanted.body), auth_token: token }
    else if (place === 'twice')
      wanted.headers.push(['X-Auth-Token', token], ['x-auth-token', random.pick([token, 'other'])])
    else wanted.headers.push(['authorization', `${place} ${token}`])
  },
  'a tunnelled verb'(wanted, random) {
    const verb = random.pick(['PUT', 'put', 'PATCH', 'DELETE', 'GET', 'HEAD', 'BREW', '', 7, null])
    if (random.chance(0.5)) wanted.body = { ...Object(wanted.body), verb }
    else wanted.query.push(['verb', String(verb)])
    if (random.chance(0.7)) wanted.method = 'POST'
  },
}
