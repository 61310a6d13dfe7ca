/** Admits request bodies before they are read: a stranger sends little, and nobody holds what others need. */
import { isWellFormedToken } from '../auth/token.js'
import type { BodyLimits } from '../values/body-limits.js'
import { parseQuery } from '../wire/query.js'
import { findToken, getHeader, mayHaveQueryToken, type TokenInQuery } from '../wire/request-head.js'
import { resolveClientAddress, type TrustedProxies } from './client-address.js'
import {
  type BodyAdmission,
  type BodyProblem,
  MAX_BODY_BYTES,
  MAX_UNIDENTIFIED_BODY_BYTES,
  type RequestHead,
} from './message.js'
import type { PublishAdmission, UnreadPublish } from './publish-admission.js'

interface BodyAdmissionOptions extends BodyLimits {
  readonly trustedProxies: TrustedProxies
  readonly tokenInQuery: TokenInQuery
  readonly publishes: PublishAdmission
}

/** The token in the head of a request, if it may be valid. It may also stand in the body. */
function tokenOf({ headers, url }: RequestHead, tokenInQuery: TokenInQuery): string | undefined {
  const lookup = findToken(headers, parseQuery(url), {}, mayHaveQueryToken(headers, tokenInQuery))
  const token = lookup.hasConflict ? undefined : lookup.token
  return isWellFormedToken(token) ? token : undefined
}

/** The path that events are published at, with the account's id as clients write it. */
const PUBLISH_PATH = /^\/v[12]\/accounts\/([^/?]+)\/events\/?(?:\?|$)/

/** The place of a publish that has to wait before its body is read. */
function placeOf(
  publishes: PublishAdmission,
  { headers, url }: RequestHead,
  token: string,
): UnreadPublish | undefined {
  const accountId = PUBLISH_PATH.exec(url)?.[1]
  const bytes = Number(getHeader(headers, 'content-length') ?? MAX_BODY_BYTES)
  if (accountId === undefined || !(bytes <= MAX_BODY_BYTES)) return undefined
  return publishes.beforeReading(accountId, token, bytes)
}

export function createBodyAdmission({
  maxUnfinishedBodyBytes,
  maxUnfinishedBodyBytesPerAddress,
  trustedProxies,
  tokenInQuery,
  publishes,
}: BodyAdmissionOptions): (head: RequestHead) => BodyAdmission {
  let total = 0
  /** Bytes of unfinished bodies by client address; one without bytes has no entry. */
  const byAddress = new Map<string, number>()

  function add(address: string | undefined, bytes: number): void {
    total += bytes
    if (address === undefined) return
    const held = (byAddress.get(address) ?? 0) + bytes
    if (held > 0) byAddress.set(address, held)
    else byAddress.delete(address)
  }

  return (head) => {
    const token = tokenOf(head, tokenInQuery)
    const maxBytes = token === undefined ? MAX_UNIDENTIFIED_BODY_BYTES : MAX_BODY_BYTES
    const excess: BodyProblem = token === undefined ? 'no_token' : 'too_large'
    const place = token === undefined ? undefined : placeOf(publishes, head, token)
    // Without an address its limit does not apply: it would be one for all clients.
    const address = resolveClientAddress(
      head.remoteAddress,
      getHeader(head.headers, 'x-forwarded-for'),
      trustedProxies,
    )
    let size = 0
    return {
      maxBytes,
      excess,
      ...(place && { ready: place.ready.then((isReady) => (isReady ? undefined : 'account_busy')) }),
      take(bytes) {
        if (size + bytes > maxBytes) return excess
        if (total + bytes > maxUnfinishedBodyBytes) return 'busy'
        const ofAddress = address === undefined ? 0 : (byAddress.get(address) ?? 0)
        if (ofAddress + bytes > maxUnfinishedBodyBytesPerAddress) return 'address_busy'
        size += bytes
        add(address, bytes)
        return undefined
      },
      end() {
        add(address, -size)
        size = 0
        place?.end()
      },
    }
  }
}
