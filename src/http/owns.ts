/** An absolute target (RFC 9112, section 3.2.2) has scheme and authority before its path. */
const OURS = /^(?:[Hh][Tt][Tt][Pp][Ss]?:\/\/[^/?#]+)?\/v[12](?:[/?]|$)/

/**
 * Whether a request target belongs to us: the path `/v1` or `/v2`, or one below. What is there decides `handle`;
 * a host's framework goes on with everything else.
 *
 * @param url path and query as sent, relative to the mount point, or an absolute target
 */
export function owns(url: string): boolean {
  return OURS.test(url)
}
