/** Scheme, host and port of a canonical http or https URI: the unit that connections are shared by. */
export function originOf(uri: string): string {
  for (let index = uri.indexOf('//') + 2; index < uri.length; index++) {
    const code = uri.charCodeAt(index)
    // `/`, `?`, `#`
    if (code === 47 || code === 63 || code === 35) return uri.slice(0, index)
  }
  return uri
}
