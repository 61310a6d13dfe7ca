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

interface BodyAdmissionOptions extends BodyLimits {
  readonly trustedProxies: TrustedProxies
  readonly tokenInQuery: TokenInQuery
}

/** Whether the head of a request has a token that may be valid. It may also stand in the body. */
function hasToken({ headers, url }: RequestHead, tokenInQuery: TokenInQuery): boolean {
  const lookup = findToken(headers, parseQuery(url), {}, mayHaveQueryToken(headers, tokenInQuery))
  return isWellFormedToken(lookup.hasConflict ? undefined : lookup.token)
}

export function createBodyAdmission({
  maxUnfinishedBodyBytes,
  maxUnfinishedBodyBytesPerAddress,
  trustedProxies,
  tokenInQuery,
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
    const isIdentified = hasToken(head, tokenInQuery)
    const maxBytes = isIdentified ? MAX_BODY_BYTES : MAX_UNIDENTIFIED_BODY_BYTES
    const excess: BodyProblem = isIdentified ? 'too_large' : 'no_token'
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
      },
    }
  }
}
