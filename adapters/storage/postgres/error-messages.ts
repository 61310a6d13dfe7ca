/**
 * The messages for errors of the server and the driver: one sentence each, which says what to do. `InvalidOption`
 * applies while a store opens; later the same error is an outage (`StoreUnavailable`).
 */
import type { ErrorCode } from 'hookswitch/store'

/** By SQLSTATE, or its class (PostgreSQL, appendix A). */
export const MESSAGES_BY_SQLSTATE: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  '28P01': [
    'InvalidOption',
    'PostgreSQL rejected the user name or password: correct them in the connection string',
  ],
  '28': ['InvalidOption', 'PostgreSQL rejected this user: check its pg_hba.conf and the role'],
  '3D000': ['InvalidOption', 'this PostgreSQL database does not exist: create it, or correct its name'],
  '42501': [
    'InvalidOption',
    'the PostgreSQL user lacks a privilege: grant it CREATE on the database, or make it owner of the schema',
  ],
  '25006': [
    'StoreUnavailable',
    'the PostgreSQL server is read-only: connect to the primary, or reset default_transaction_read_only',
  ],
  '53300': [
    'StoreUnavailable',
    'PostgreSQL has no connection left: raise its limit (server, database or user), or lower maxConnections',
  ],
  '53100': ['StoreUnavailable', 'the disk of the PostgreSQL server is full'],
  '53200': ['StoreUnavailable', 'the PostgreSQL server is out of memory'],
  '53': ['StoreUnavailable', 'the PostgreSQL server lacks a resource'],
  '57P01': ['StoreUnavailable', 'the PostgreSQL server closed the connection, as it does when it restarts'],
  '57P03': [
    'StoreUnavailable',
    'the PostgreSQL server is starting, stopping or recovering, or a standby: connect to the primary',
  ],
  '57014': ['StoreUnavailable', 'PostgreSQL cancelled a statement that exceeded its time limit'],
  '57': ['StoreUnavailable', 'the PostgreSQL server closed the connection'],
  '55P03': ['StoreUnavailable', 'a lock in PostgreSQL was not free within its time limit'],
  '25P03': ['StoreUnavailable', 'PostgreSQL ended a transaction that was idle for too long'],
  '40': ['StoreUnavailable', 'other transactions changed the same rows in PostgreSQL again and again'],
  '08': ['StoreUnavailable', 'the connection to PostgreSQL was lost'],
  '58': ['StoreUnavailable', 'the PostgreSQL server cannot access its files'],
  '3F000': [
    'StoreCorrupt',
    'the schema of this store is missing: it was dropped or renamed, or this is another database',
  ],
  '42P01': [
    'StoreCorrupt',
    'a table of this store is missing: it was dropped, or the schema is not of this version',
  ],
  '42703': [
    'StoreCorrupt',
    'a column of this store is missing: it was dropped, or the schema is not of this version',
  ],
  '42704': [
    'StoreCorrupt',
    'an object of this store is missing: it was dropped, or the schema is not of this version',
  ],
  '42883': ['StoreCorrupt', 'a function is missing, or the schema is not of this version'],
  '42P06': [
    'InvalidOption',
    'another program creates the same schema: choose another with the option schema',
  ],
  '42P07': [
    'InvalidOption',
    'the schema contains a table that is not of hookswitch: choose another with the option schema',
  ],
  '42710': [
    'InvalidOption',
    'the schema contains an object that is not of hookswitch: choose another with the option schema',
  ],
  '42': [
    'StoreUnavailable',
    'PostgreSQL does not understand a statement: the server, or a setting of it, is not as hookswitch expects',
  ],
  XX001: ['StoreCorrupt', 'PostgreSQL found damaged data: restore it from a backup'],
  XX002: ['StoreCorrupt', 'PostgreSQL found a damaged index: REINDEX the schema of this store'],
  '22': [
    'InvalidInput',
    'PostgreSQL cannot store this value: a text contains a NUL character, or a number is out of range',
  ],
  // Two nodes that insert the same key or number: a repetition reads what the other has written.
  '23505': ['StoreUnavailable', 'other transactions wrote the same rows in PostgreSQL again and again'],
  '23': ['InvalidInput', 'PostgreSQL cannot store this value: a constraint of a table forbids it'],
  '44': ['InvalidInput', 'PostgreSQL cannot store this value: the check option of a view forbids it'],
  '54': ['InvalidInput', 'PostgreSQL cannot store this value: it exceeds a limit of the server'],
  P0: ['InvalidInput', 'PostgreSQL cannot store this value: a trigger or function forbids it'],
}

/** By the error codes of Node and the sentences of `pg`, for errors without an SQLSTATE. */
export const MESSAGES_BY_DRIVER_ERROR: readonly {
  /** Any of these codes. */
  readonly codes?: readonly string[]
  /** Sentence of `pg` for an error without a code. */
  readonly pattern?: RegExp
  readonly message: readonly [ErrorCode, string]
}[] = [
  {
    codes: ['ECONNREFUSED'],
    message: [
      'StoreUnavailable',
      'no PostgreSQL server listens at this address: start it, or correct host and port',
    ],
  },
  {
    codes: ['ENOTFOUND', 'EAI_AGAIN'],
    message: [
      'StoreUnavailable',
      'the host name of the PostgreSQL server cannot be resolved: correct it, or check the DNS',
    ],
  },
  {
    codes: ['EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EHOSTDOWN'],
    message: ['StoreUnavailable', 'the PostgreSQL server cannot be reached: check host, port and firewall'],
  },
  {
    codes: ['ENOENT'],
    message: [
      'StoreUnavailable',
      'no PostgreSQL server has its socket in this folder: start it, or correct the path',
    ],
  },
  {
    pattern: /^SASL: .*password|client password must be a string/i,
    message: ['InvalidOption', 'PostgreSQL requires a password: add it to the connection string'],
  },
  {
    pattern: /does not support SSL/i,
    message: [
      'InvalidOption',
      'this PostgreSQL server does not support TLS: enable it there, or omit ssl and sslmode',
    ],
  },
  {
    codes: [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'CERT_HAS_EXPIRED',
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    message: [
      'InvalidOption',
      'the certificate of the PostgreSQL server is not trusted: pass its certificate authority as ssl.ca',
    ],
  },
  {
    pattern: /^another server has taken over/,
    message: [
      'StoreUnavailable',
      'another PostgreSQL server has taken over: its deliveries are loaded first',
    ],
  },
  {
    pattern: /timeout exceeded when trying to connect/,
    message: ['StoreUnavailable', 'all connections to PostgreSQL are busy, or it does not answer'],
  },
  {
    pattern: /connection timeout|timeout expired/i,
    message: ['StoreUnavailable', 'no PostgreSQL server answered in time: check host, port and firewall'],
  },
  {
    pattern: /^the server is silent/,
    message: ['StoreUnavailable', 'PostgreSQL does not answer: it hangs, or the network drops its packets'],
  },
  {
    pattern: /^no answer within/,
    message: ['StoreUnavailable', 'PostgreSQL did not answer in time: the connection was closed'],
  },
  {
    pattern: /after calling end on the pool/,
    message: ['StoreUnavailable', 'the pool of PostgreSQL connections was ended'],
  },
]
