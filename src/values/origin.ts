/** Scheme, host and port of a canonical http or https URI: what a connection leads to. */
export function originOf(uri: string): string {
  for (let at = uri.indexOf('//') + 2; at < uri.length; at++) {
    const code = uri.charCodeAt(at)
    // `/`, `?`, `#`
    if (code === 47 || code === 63 || code === 35) return uri.slice(0, at)
  }
  return uri
}
