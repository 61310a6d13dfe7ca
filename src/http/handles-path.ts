/** The paths below which every path is the API's. */
export const ROOT_PATHS: readonly string[] = Object.freeze(['/v1', '/v2'])

/** An absolute-form target (RFC 9112, section 3.2.2) has a scheme and an authority before its path. */
const API_PATH = /^(?:[Hh][Tt][Tt][Pp][Ss]?:\/\/[^/?#]+)?\/v[12](?:[/?]|$)/

/**
 * Returns whether a request target is `/v1`, `/v2` or a path below. `handle` decides whether such a path exists; the
 * host's framework handles every other path.
 *
 * @param url path and query as sent, relative to the mount point, or an absolute-form target
 */
export function handlesPath(url: string): boolean {
  return API_PATH.test(url)
}
