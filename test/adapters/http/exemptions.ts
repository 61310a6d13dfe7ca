/**
 * Where an adapter may make something else of a request than `node` does, and why: what never reaches it as sent. Each
 * is asserted to be needed still.
 */
import type { FaceName } from './faces.js'

export interface Exemption {
  readonly faces: readonly FaceName[]
  /** Names of the table of requests. */
  readonly requests: readonly string[]
  /** Only where mounted so; else everywhere. */
  readonly mounted?: 'root' | 'prefix'
  readonly why: string
}

const AFTER_JSON: readonly FaceName[] = ['express4AfterJson', 'express5AfterJson']

export const EXEMPTIONS: readonly Exemption[] = [
  {
    faces: ['fetch'],
    requests: [
      'a dot segment',
      'a double dot segment',
      'dots that leave us',
      'dots that reach us',
      'encoded dots',
      'a backslash',
    ],
    why: 'the URL standard (WHATWG) resolves dot segments, encoded ones too, and takes a backslash for a slash',
  },
  {
    faces: ['fetch'],
    requests: ['quotes, brackets and bars', 'brackets and quotes in the query'],
    why: 'the URL standard (WHATWG) percent-encodes what may not stand in a path or query',
  },
  {
    faces: ['fetch'],
    requests: ['GET with a body', 'HEAD with a body'],
    why: 'a Request with one of these methods cannot carry a body',
  },
  {
    faces: ['fetch'],
    requests: ['TRACE without a body'],
    why: 'a Request cannot have this method',
  },
  {
    faces: ['fastify'],
    requests: ['a lone percent sign', 'an escape that is none', 'an escape that is no UTF-8'],
    why: "Fastify's router decodes the path before it looks for a route, and refuses what it cannot decode",
  },
  {
    faces: AFTER_JSON,
    requests: [
      'a truncated document',
      'text instead of JSON',
      'white space only',
      'a NUL in a string',
      'null',
      'a string',
      'JSON of an unknown charset',
      'an unknown encoding',
      '110 KB',
    ],
    why: 'express.json() refuses it itself: bad JSON, no object or list, an unknown encoding, above its limit',
  },
  {
    faces: AFTER_JSON,
    requests: ['gzip', 'JSON of another charset', 'a byte order mark', 'bytes that are no UTF-8'],
    why: 'express.json() decodes what we would refuse',
  },
  {
    faces: ['express4', 'express4AfterJson'],
    requests: ['a leading double slash'],
    mounted: 'prefix',
    why: 'Express 4 cuts a slash that follows the mount point along with it',
  },
]

/** The same for the steps of the visit to the whole interface. */
export const STEP_EXEMPTIONS: readonly Exemption[] = [
  {
    faces: ['fetch'],
    requests: ['a dot segment', 'encoded dots'],
    why: 'the URL standard (WHATWG) resolves dot segments, encoded ones too',
  },
  {
    faces: ['fastify'],
    requests: ['a lone percent sign'],
    why: "Fastify's router decodes the path before it looks for a route, and refuses what it cannot decode",
  },
  {
    faces: AFTER_JSON,
    requests: [
      'a login that is no JSON',
      'a login that is too large',
      'one too large in chunks',
      'one that ends too soon',
      'one that is no UTF-8',
    ],
    why: 'express.json() refuses it itself: bad JSON, or above its limit',
  },
]

const covers = (exemption: Exemption, face: FaceName, request: string) =>
  exemption.faces.includes(face) && exemption.requests.includes(request)

export const isExempt = (face: FaceName, request: string, mounted: 'root' | 'prefix'): boolean =>
  EXEMPTIONS.some((entry) => covers(entry, face, request) && (entry.mounted ?? mounted) === mounted)

export const isExemptStep = (face: FaceName, step: string): boolean =>
  STEP_EXEMPTIONS.some((entry) => covers(entry, face, step))
