/** Response headers of the page: what its browser may load, and what caches may keep. Pure. */

const TRUSTED_TYPES = "require-trusted-types-for 'script'; trusted-types 'none'"

/**
 * Headers of every response. The page has no inline script and builds no HTML from text, so the policy allows neither.
 *
 * @param apiOrigin origin of an API on another host; absent: the page's own
 * @param frameAncestors origins that may show the page in a frame
 */
export function securityHeaders(
  apiOrigin: string | undefined,
  frameAncestors: readonly string[],
): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `connect-src 'self'${apiOrigin === undefined ? '' : ` ${apiOrigin}`}`,
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ')}`,
    TRUSTED_TYPES,
  ]
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  }
}

/** An SVG that is opened as a page runs no script and loads nothing. */
export const LOGO_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
})

/** The page itself is checked on each visit, so that a new version takes effect at once. */
export const REVALIDATE = 'no-cache'
/** URLs of assets contain a hash of their content. */
export const IMMUTABLE = 'public, max-age=31536000, immutable'

/**
 * The best encoding that the client accepts. A quality of 0 excludes an encoding (RFC 9110, section
 * 12.5.3).
 *
 * @param accepted the header `Accept-Encoding`
 */
export function chooseEncoding(accepted: string | undefined): 'br' | 'gzip' | undefined {
  const names = (accepted ?? '')
    .toLowerCase()
    .split(',')
    .map((entry) => entry.split(';').map((part) => part.trim()))
    .filter(([, ...parameters]) => !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)))
    .map(([name]) => name)
  return (['br', 'gzip'] as const).find((name) => names.includes(name))
}

/** Whether `If-None-Match` names this entity tag (RFC 9110, section 13.1.2: weak comparison). */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((entry) => entry.trim() === '*' || entry.trim().replace(/^W\//, '') === tag)
}
