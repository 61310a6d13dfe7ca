import type { JsonSchema } from '../values/json-schema.js'

/** Neither control characters nor lone surrogates. Linear: the pattern is also tried on strings that are too long. */
const PRINTABLE = '^[^\\p{Cc}\\p{Cs}]*$'

/**
 * The fields of an account that clients of the HTTP API write, in this package's spelling. Source: KAZOO
 * `schemas/accounts.json`; `checkAccount` checks the rest.
 */
export const accountSchema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: {
      type: 'string',
      description: 'Name of the account. Unique by its letters and digits, in any case.',
      minLength: 1,
      maxLength: 128,
      pattern: PRINTABLE,
    },
    realm: {
      type: 'string',
      description: 'SIP realm, unique. Spaces are removed, and it is lower-cased. Default: generated.',
      minLength: 4,
      maxLength: 253,
      pattern: '^[.\\w-]+$',
    },
    enabled: {
      type: 'boolean',
      description:
        'False: no logins, no valid tokens, no events. Changed only with a token of an ancestor. Default: as the parent.',
    },
    timezone: {
      type: 'string',
      description: 'Time zone; `inherit` stands for that of the parent. Default: that of the parent.',
      minLength: 5,
      maxLength: 32,
      pattern: PRINTABLE,
    },
    language: {
      type: 'string',
      description: 'Language tag, shown at login. Default: that of the parent.',
      maxLength: 35,
      pattern: '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$',
    },
    flags: {
      type: 'array',
      description: 'Labels, shown in lists.',
      items: { type: 'string' },
    },
  },
} as const satisfies JsonSchema

/**
 * The fields of a user that clients of the HTTP API write, in this package's spelling. Source: KAZOO
 * `schemas/users.json`; `checkUser` checks the rest.
 */
export const userSchema = {
  type: 'object',
  required: ['firstName', 'lastName'],
  properties: {
    firstName: { type: 'string', description: 'First name.', minLength: 1, maxLength: 128 },
    lastName: { type: 'string', description: 'Last name.', minLength: 1, maxLength: 128 },
    username: {
      type: 'string',
      description: 'User name, lower-cased, unique in the account. A user without one cannot sign in.',
      minLength: 1,
      maxLength: 256,
      pattern: '^[+@.\\w-]+$',
    },
    password: {
      type: 'string',
      description: 'Password. Never shown. Required with a new user name.',
      maxLength: 1024,
      writeOnly: true,
    },
    email: { type: 'string', description: 'E-mail address.', minLength: 3, maxLength: 254 },
    enabled: {
      type: 'boolean',
      description: 'False: the user cannot sign in, and its tokens are invalid.',
      default: true,
    },
    privLevel: {
      type: 'string',
      description: '`admin`: manages the account and all accounts below. `user`: reads its own account.',
      enum: ['user', 'admin'],
      default: 'user',
    },
    timezone: { type: 'string', description: 'Time zone.', maxLength: 64 },
    language: { type: 'string', description: 'Language tag.', maxLength: 64 },
    requirePasswordUpdate: {
      type: 'boolean',
      description: 'Tells a user interface to ask for a new password.',
      default: false,
    },
    verified: { type: 'boolean', description: 'Stored only.', default: false },
  },
} as const satisfies JsonSchema

/** Fields of a user whose values never appear in errors. */
export const SECRET_USER_FIELDS: readonly string[] = ['password']
