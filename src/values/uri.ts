/**
 * The URI of a webhook: one canonical spelling that is stored, returned and connected to.
 *
 * It is parsed by the WHATWG URL parser, which the sender also uses, so that no text can mean one host when it is checked
 * and another when it is connected to: `2130706433`, `0x7f.1` and `127.0.0.1.` are all 127.0.0.1 here. Whether the host
 * is allowed is decided by the address policy.
 */
import { parseUrl } from './parse-url.js'

/** Maximum length of a URI in characters, both as given and in canonical form. */
export const MAX_URI_LENGTH = 2048

/** A canonical URI and its parts. */
interface CanonicalUri {
  readonly uri: string
  /** Scheme, host and port: the unit that connections are shared by. */
  readonly origin: string
  /** As in `URL.hostname`: lower case, punycode, addresses in standard spelling, IPv6 in brackets. */
  readonly hostname: string
}

/**
 * Returns the canonical form of a URI, or a phrase that names the rule it violates.
 *
 * Only http and https; no user information; no white space, control characters or backslashes anywhere (the URL parser
 * would silently drop or convert them). The fragment is removed, since it is never sent (RFC 9110, 7.1).
 */
export function canonicalizeUri(text: string): CanonicalUri | { readonly problem: string } {
  if (text.length > MAX_URI_LENGTH) return { problem: `must be at most ${MAX_URI_LENGTH} characters` }
  if (/[\s\p{Cc}\p{Cf}\p{Cs}\\]/u.test(text)) {
    return { problem: 'must have no spaces, control characters or backslashes' }
  }
  if (!/^https?:\/\/[^/?#]/i.test(text)) return { problem: 'must be an absolute http or https URL' }
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return { problem: 'must have no user name or password' }
  const url = parseUrl(text)
  if (!url) return { problem: 'must be a valid URL' }
  url.hash = ''
  if (url.port === '0') return { problem: 'must not have port 0' }
  const uri = url.href
  if (uri.length > MAX_URI_LENGTH)
    return { problem: `must be at most ${MAX_URI_LENGTH} characters when encoded` }
  if (parseUrl(uri)?.href !== uri) return { problem: 'must be a valid URL' }
  return { uri, origin: url.origin, hostname: url.hostname }
}
