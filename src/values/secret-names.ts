/** Which names of fields and headers are those of secrets: one list, for logs and for attempt records. */

/** Words that make a name secret, also inside a longer word: `authtoken`, `MyPassword`. */
const LONG_WORDS = [
  'authorization',
  'bearer',
  'cookie',
  'credential',
  'jwt',
  'pass_?code',
  'pass_?phrase',
  'pass_?w(?:or)?d',
  'secret',
  'signature',
  'token',
]
/** Words that do so only when they stand alone: `X-Pin`, not `X-Ping`. */
const SHORT_WORDS = [
  'cred',
  'hmac',
  'otp',
  'pass',
  'pin',
  'pwd',
  'sid',
  'totp',
  'session_?id',
  'session_?key',
]
/** Words that name a secret in a log, where `credentialVersion`, `idempotencyKey` and `author` do not. */
const LOG_WORDS = ['(?:api|access|private|secret|signing)_?key', 'md5', 'sha1?', 'digest']
/** In a header the same words and these. */
const HEADER_WORDS = ['auth', 'key']
const SHORT_HEADER_WORDS = ['session']
/** Words that do so only at the end of the name: `X-Access`, not `Access-Control-Allow-Origin`. */
const LAST_HEADER_WORDS = ['access', 'login']

const oneOf = (...words: readonly string[]) => `(?:${words.join('|')})`

/** Matches the last words of a name: `tokenTtlSeconds` and `credentialVersion` are not secrets. */
const SECRET_FIELD = new RegExp(
  `(?:^${oneOf('key', 'auth')}|_auth|(?:^|_)${oneOf(...SHORT_WORDS)}|${oneOf(...LONG_WORDS, ...LOG_WORDS)})s?(?:_?(?:hash|header|value))?$`,
)

const SECRET_HEADER = new RegExp(
  `${oneOf(...LONG_WORDS, ...HEADER_WORDS)}|(?:^|_)${oneOf(...SHORT_WORDS, ...SHORT_HEADER_WORDS)}s?(?:_|$)|(?:^|_)${oneOf(...LAST_HEADER_WORDS)}$`,
)

/** In snake_case: `apiKey`, `Api-Key` and `API key` become `api_key`. */
function toWords(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[-.\s]/g, '_')
    .toLowerCase()
}

/** True for a log field or header named like a secret: `apiKey`, `X-Auth-Token`, `oldPassword`, `client_secret`, … */
export function isSecretName(name: string): boolean {
  return SECRET_FIELD.test(toWords(name))
}

/**
 * True for a header named like a credential. Wider than `isSecretName`: what a receiver sends is unknown, and a value
 * that is hidden in vain costs less than one that is shown.
 */
export function isSecretHeader(name: string): boolean {
  return SECRET_HEADER.test(toWords(name))
}
