import type { ErrorCode } from 'hookswitch/store'

/**
 * What is said of a failure: one sentence, which tells what to do. By SQLSTATE, or its class, where the server spoke
 * (PostgreSQL, appendix A), else by what Node or `pg` call it. `InvalidOption` holds while a store opens; later it is
 * an outage.
 */
export const SAID_BY_STATE: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  '28P01': [
    'InvalidOption',
    'PostgreSQL refused user name or password: correct them in the connection string',
  ],
  '28': ['InvalidOption', 'PostgreSQL does not let this user in: see its pg_hba.conf and the role'],
  '3D000': ['InvalidOption', 'this PostgreSQL database does not exist: create it, or correct its name'],
  '42501': [
    'InvalidOption',
    'the PostgreSQL user lacks a right: grant it CREATE on the database, or make it owner of the schema',
  ],
  '25006': ['StoreUnavailable', 'the PostgreSQL server is read-only: connect to the primary'],
  '53300': [
    'StoreUnavailable',
    'PostgreSQL has no connection left: raise its limit (server, database or user), or lower maxConnections',
  ],
  '53100': ['StoreUnavailable', 'the disk of the PostgreSQL server is full'],
  '53200': ['StoreUnavailable', 'the PostgreSQL server is out of memory'],
  '53': ['StoreUnavailable', 'the PostgreSQL server lacks a resource'],
  '57P01': [
    'StoreUnavailable',
    'the PostgreSQL server ended the connection, as it does when it is restarted',
  ],
  '57P03': ['StoreUnavailable', 'the PostgreSQL server is starting, stopping or recovering'],
  '57014': ['StoreUnavailable', 'PostgreSQL took longer than it may, and was stopped'],
  '57': ['StoreUnavailable', 'the PostgreSQL server ended the connection'],
  '25P03': ['StoreUnavailable', 'PostgreSQL ended a transaction in which nothing was said for too long'],
  '40': ['StoreUnavailable', 'PostgreSQL found the same rows changed by others again and again'],
  '08': ['StoreUnavailable', 'the connection to PostgreSQL was lost'],
  '58': ['StoreUnavailable', 'the PostgreSQL server has trouble with its files'],
  '3F000': ['StoreCorrupt', 'the schema of this store is gone: restore it from a backup'],
  '42': ['StoreCorrupt', 'a table of this store is missing or was changed: restore it from a backup'],
  XX001: ['StoreCorrupt', 'PostgreSQL found damaged data: restore it from a backup'],
  XX002: ['StoreCorrupt', 'PostgreSQL found a damaged index: REINDEX the schema of this store'],
  '22': [
    'InvalidInput',
    'PostgreSQL cannot take this value: a text has a NUL character, or a number is out of range',
  ],
}

export const SAID_BY_NODE: readonly {
  /** Any of these codes. */
  readonly is?: readonly string[]
  /** What `pg` says without a code. */
  readonly words?: RegExp
  readonly said: readonly [ErrorCode, string]
}[] = [
  {
    is: ['ECONNREFUSED'],
    said: ['StoreUnavailable', 'no PostgreSQL server listens there: start it, or correct host and port'],
  },
  {
    is: ['ENOTFOUND', 'EAI_AGAIN'],
    said: [
      'StoreUnavailable',
      'the host name of the PostgreSQL server is not known: correct it, or check the DNS',
    ],
  },
  {
    is: ['EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EHOSTDOWN'],
    said: ['StoreUnavailable', 'the PostgreSQL server cannot be reached: check host, port and firewall'],
  },
  {
    is: ['ENOENT'],
    said: [
      'StoreUnavailable',
      'no PostgreSQL server has its socket in this folder: start it, or correct the path',
    ],
  },
  {
    words: /^SASL: .*password|client password must be a string/i,
    said: ['InvalidOption', 'PostgreSQL asks for a password: write it in the connection string'],
  },
  {
    words: /does not support SSL/i,
    said: [
      'InvalidOption',
      'this PostgreSQL server speaks no TLS: switch it on there, or leave out ssl and sslmode',
    ],
  },
  {
    is: [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'CERT_HAS_EXPIRED',
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    said: [
      'InvalidOption',
      'the certificate of the PostgreSQL server is not trusted: give its authority as ssl.ca',
    ],
  },
  {
    words: /timeout exceeded when trying to connect/,
    said: ['StoreUnavailable', 'all connections to PostgreSQL are busy, or it does not answer'],
  },
  {
    words: /connection timeout|timeout expired/i,
    said: ['StoreUnavailable', 'no PostgreSQL server answered in time: check host, port and firewall'],
  },
  {
    words: /^no answer within/,
    said: ['StoreUnavailable', 'PostgreSQL did not answer in time: the connection was given up'],
  },
  {
    words: /after calling end on the pool/,
    said: ['StoreUnavailable', 'the pool of PostgreSQL connections was ended'],
  },
]
