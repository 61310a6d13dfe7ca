/** Where URLs lead: parsed and judged once, since the same few endpoints are called over and over. */
import type { CompiledPolicy } from '../values/address-policy.js'
import { parseUrl } from '../values/parse-url.js'
import { MAX_URI_LENGTH } from '../values/uri.js'
import type { Target } from './connect.js'
import { type NoAnswer, noResponse } from './failure.js'

/** URLs remembered in each of two generations, some 300 bytes each: taking one apart costs as much as signing a request. */
const MAX_PLACES = 10_000

/** Where a URL leads, parsed and judged. */
export interface Place {
  readonly origin: string
  readonly path: string
  readonly target: Target
}

/** Says where a URL leads, or why it is not to be called: the first gate. */
export type Locate = (url: string) => Place | NoAnswer

export function createPlaces(policy: CompiledPolicy): Locate {
  // At the bound the older ones are forgotten, so that a stream of new URLs never drives out those in use.
  let newer = new Map<string, Place | NoAnswer>()
  let older = newer

  return (url) => {
    const known = newer.get(url)
    if (known) return known
    const place = older.get(url) ?? parsePlace(url, policy)
    // A longer one carries a payload as its query and will not come again.
    if (url.length > MAX_URI_LENGTH) return place
    if (newer.size >= MAX_PLACES) {
      older = newer
      newer = new Map()
    }
    newer.set(url, place)
    return place
  }
}

function parsePlace(text: string, policy: CompiledPolicy): Place | NoAnswer {
  const url = parseUrl(text)
  const secure = url?.protocol === 'https:'
  if (!url || (!secure && url.protocol !== 'http:'))
    return noResponse('blocked_address', 'not an http or https URL')
  const verdict = policy.judgeHost(url.hostname)
  if (verdict.blocked) return noResponse('blocked_address', `the host is ${verdict.reason}`)
  const port = Number(url.port) || (secure ? 443 : 80)
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    target: { hostname: url.hostname, port, secure },
  }
}
