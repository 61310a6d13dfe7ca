/** Parses SIP and tel URIs into the parts that events contain. */

/** A parsed SIP, SIPS or tel URI. */
interface SipAddress {
  /** Without password and parameters; '' where the URI has none. */
  readonly user: string
  /** Without port and parameters, in lower case; '' for tel URIs. */
  readonly domain: string
}

const URI = /^(?:sips?:)(?:([^@]*)@)?(\[[^\]]*\]|[^:;?>@]*)/i
const TEL = /^tel:([^;?>]*)/i

/** Parses a URI (RFC 3261 19.1, RFC 3966); `undefined` for anything else. */
export function sipAddress(uri: string | undefined): SipAddress | undefined {
  if (uri === undefined) return undefined
  const tel = TEL.exec(uri)
  if (tel) return { user: tel[1] ?? '', domain: '' }
  const sip = URI.exec(uri)
  if (!sip) return undefined
  return { user: (sip[1] ?? '').split(/[:;]/, 1)[0] ?? '', domain: (sip[2] ?? '').toLowerCase() }
}

/** Formats `user@realm`, as KAZOO writes addresses in events; only the user or the realm where the other is missing. */
export function userAtRealm(address: SipAddress | undefined): string | undefined {
  if (!address) return undefined
  return [address.user, address.domain].filter((part) => part !== '').join('@') || undefined
}

/** Returns a display name without its quotes and escapes (RFC 3261 25.1, quoted-string); `undefined` if it is empty. */
export function displayName(raw: string | undefined): string | undefined {
  if (raw === undefined) return undefined
  const quoted = /^"(.*)"$/s.exec(raw.trim())
  const name = quoted ? (quoted[1] ?? '').replace(/\\(.)/gs, '$1') : raw.trim()
  return name === '' ? undefined : name
}
