/**
 * The URI of a webhook: one canonical spelling that is stored, returned and dialled.
 *
 * The text is read by the WHATWG URL parser, the same that the sender uses, so that nothing can mean one host when it
 * is judged and another when it is dialled: `2130706433`, `0x7f.1` and `127.0.0.1.` are all 127.0.0.1 here.
 */
import type { CompiledPolicy, HostVerdict } from './address-policy.js'
import { parseUrl } from './parse-url.js'

/** Longest URI, in characters, as given and as stored. */
export const MAX_URI_LENGTH = 2048

export interface CanonicalUri {
  readonly uri: string
  /** Scheme, host and port: what a connection belongs to. */
  readonly origin: string
  /** As in `URL.hostname`: lower case, punycode, addresses in standard spelling, IPv6 in brackets. */
  readonly hostname: string
}

/**
 * The canonical form of a URI, or the rule that it breaks as a sentence.
 *
 * Only http and https, no user information, no white space, control character or backslash anywhere (the URL parser
 * would silently drop or turn them). A fragment is never sent (RFC 9110, 7.1) and is left out.
 */
export function canonicalUri(text: string): CanonicalUri | { readonly problem: string } {
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

/** The first gate: judges what the URI itself says, an address or a name of this machine. Names are judged when resolved. */
export function judgeUri(uri: Pick<CanonicalUri, 'hostname'>, policy: CompiledPolicy): HostVerdict {
  return policy.judgeHost(uri.hostname)
}
