/** Caches parsed and checked URLs, since the same few endpoints are called repeatedly. */
import type { CompiledAddressPolicy } from '../values/address-policy.js'
import { parseUrl } from '../values/parse-url.js'
import { MAX_URI_LENGTH } from '../values/uri.js'
import type { Target } from './connect.js'
import { noResponse, type SendFailure } from './error-classifier.js'

/** URLs in each of two generations, about 300 bytes each: parsing a URL costs as much as signing a request. */
const MAX_TARGETS = 10_000

/** A parsed URL whose host the address policy does not block. */
export interface ParsedTarget {
  readonly origin: string
  /** Path and query. */
  readonly path: string
  readonly target: Target
}

/** Parses a URL, or returns why it must not be called. */
type TargetCache = (url: string) => ParsedTarget | SendFailure

/**
 * Creates the cache. Two generations of a `Map` instead of an LRU cache: a hit takes 10–20 ns instead of 20–30 ns, and a
 * stream of new URLs does not evict those in use either.
 */
export function createTargetCache(policy: CompiledAddressPolicy): TargetCache {
  let newer = new Map<string, ParsedTarget | SendFailure>()
  let older = newer

  return (url) => {
    const cached = newer.get(url)
    if (cached) return cached
    const parsed = older.get(url) ?? parseTarget(url, policy)
    // A longer URL carries a payload in its query and does not recur.
    if (url.length > MAX_URI_LENGTH) return parsed
    if (newer.size >= MAX_TARGETS) {
      older = newer
      newer = new Map()
    }
    newer.set(url, parsed)
    return parsed
  }
}

function parseTarget(text: string, policy: CompiledAddressPolicy): ParsedTarget | SendFailure {
  const url = parseUrl(text)
  const secure = url?.protocol === 'https:'
  if (!url || (!secure && url.protocol !== 'http:'))
    return noResponse('blocked_address', 'blocked_address', 'not an http or https URL')
  const check = policy.checkHost(url.hostname)
  if (check.blocked) return noResponse('blocked_address', 'blocked_address', `the host is ${check.reason}`)
  const port = Number(url.port) || (secure ? 443 : 80)
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    target: { hostname: url.hostname, port, secure },
  }
}
