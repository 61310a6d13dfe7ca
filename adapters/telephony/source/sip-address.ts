/** The parts of SIP addresses that an event shows. */

/** A SIP, SIPS or tel URI taken apart. */
export interface SipAddress {
  /** Without password and parameters; '' when the URI has none. */
  readonly user: string
  /** Without port and parameters, lower-cased; '' for tel URIs. */
  readonly domain: string
}

const URI = /^(?:sips?:)(?:([^@]*)@)?(\[[^\]]*\]|[^:;?>@]*)/i
const TEL = /^tel:([^;?>]*)/i

/** Takes a URI apart (RFC 3261 19.1, RFC 3966); `undefined` for anything else. */
export function sipAddress(uri: string | undefined): SipAddress | undefined {
  if (uri === undefined) return undefined
  const tel = TEL.exec(uri)
  if (tel) return { user: tel[1] ?? '', domain: '' }
  const sip = URI.exec(uri)
  if (!sip) return undefined
  return { user: (sip[1] ?? '').split(/[:;]/, 1)[0] ?? '', domain: (sip[2] ?? '').toLowerCase() }
}

/** `user@realm`, as KAZOO writes addresses in events; only the part there is, where one is missing. */
export function userAtRealm(address: SipAddress | undefined): string | undefined {
  if (!address) return undefined
  return [address.user, address.domain].filter((part) => part !== '').join('@') || undefined
}

/** A display name without its quotes and backslashes (RFC 3261 25.1, quoted-string). */
export function displayName(raw: string | undefined): string | undefined {
  if (raw === undefined) return undefined
  const quoted = /^"(.*)"$/s.exec(raw.trim())
  const name = quoted ? (quoted[1] ?? '').replace(/\\(.)/gs, '$1') : raw.trim()
  return name === '' ? undefined : name
}
