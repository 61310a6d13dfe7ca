/**
 * Requests for which a server may behave differently from `node`, with the reason: the framework changes or rejects them
 * before the adapter runs. The tests fail if an exemption is no longer needed.
 */
import type { ServerName } from './servers.js'

export interface Exemption {
  readonly servers: readonly ServerName[]
  /** Names in the table of requests. */
  readonly requests: readonly string[]
  /** Applies only to this mount point. Default: to both. */
  readonly mounted?: 'root' | 'prefix'
  readonly reason: string
}

const AFTER_JSON: readonly ServerName[] = ['express4AfterJson', 'express5AfterJson']

export const EXEMPTIONS: readonly Exemption[] = [
  {
    servers: ['fetch'],
    requests: [
      'a dot segment',
      'a double dot segment',
      'dot segments that leave the API',
      'dot segments that reach the API',
      'encoded dots',
      'a backslash',
    ],
    reason:
      'the URL standard (WHATWG) resolves dot segments, also encoded ones, and treats a backslash as a slash',
  },
  {
    servers: ['fetch'],
    requests: ['quotes, brackets and bars', 'brackets and quotes in the query'],
    reason: 'the URL standard (WHATWG) percent-encodes characters that are not allowed in a path or query',
  },
  {
    servers: ['fetch'],
    requests: ['GET with a body', 'HEAD with a body'],
    reason: 'a Request with one of these methods cannot have a body',
  },
  {
    servers: ['fetch'],
    requests: ['TRACE without a body'],
    reason: 'a Request cannot have this method',
  },
  {
    servers: ['fastify'],
    requests: ['a lone percent sign', 'an invalid escape', 'an escape of invalid UTF-8'],
    reason:
      "Fastify's router decodes the path before it finds a route, and rejects a path that it cannot decode",
  },
  {
    servers: AFTER_JSON,
    requests: [
      'a truncated document',
      'text instead of JSON',
      'white space only',
      'a NUL in a string',
      'null',
      'a string',
      'JSON with an unknown charset',
      'an unknown content encoding',
      '110 KB',
    ],
    reason:
      'express.json() rejects it: invalid JSON, no object or list, an unknown encoding, or above its limit',
  },
  {
    servers: AFTER_JSON,
    requests: ['gzip', 'JSON with another charset', 'a byte order mark', 'invalid UTF-8'],
    reason: 'express.json() decodes bodies that the API rejects',
  },
  {
    servers: ['express4', 'express4AfterJson'],
    requests: ['a leading double slash'],
    mounted: 'prefix',
    reason: 'Express 4 also removes a slash that follows the mount point',
  },
]

/** Exemptions for the steps of the API script. */
export const STEP_EXEMPTIONS: readonly Exemption[] = [
  {
    servers: ['fetch'],
    requests: ['a dot segment', 'encoded dots'],
    reason: 'the URL standard (WHATWG) resolves dot segments, also encoded ones',
  },
  {
    servers: ['fastify'],
    requests: ['a lone percent sign'],
    reason:
      "Fastify's router decodes the path before it finds a route, and rejects a path that it cannot decode",
  },
  {
    servers: AFTER_JSON,
    requests: [
      'a login with invalid JSON',
      'a too large login',
      'a too large chunked login',
      'a truncated new webhook',
      'a new webhook with invalid UTF-8',
    ],
    reason: 'express.json() rejects it: invalid JSON, or above its limit',
  },
]

const covers = (exemption: Exemption, server: ServerName, request: string) =>
  exemption.servers.includes(server) && exemption.requests.includes(request)

export const isExempt = (server: ServerName, request: string, mounted: 'root' | 'prefix'): boolean =>
  EXEMPTIONS.some((entry) => covers(entry, server, request) && (entry.mounted ?? mounted) === mounted)

export const isExemptStep = (server: ServerName, step: string): boolean =>
  STEP_EXEMPTIONS.some((entry) => covers(entry, server, step))
