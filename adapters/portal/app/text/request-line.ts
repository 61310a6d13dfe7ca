/** A request as text of HTTP/1.1. Pure. */

export interface RequestLine {
  readonly method: string
  /** Path and query. */
  readonly target: string
  /** Names in lower case; what a receiver reads is first. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

interface Request {
  readonly method: string
  readonly uri: string
  readonly headers: Readonly<Record<string, string>>
}

export function requestLine({ method, uri, headers }: Request): RequestLine {
  const { host, target } = parts(uri)
  const others = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => name !== 'host')
    .sort(([a], [b]) => rank(a) - rank(b))
  return { method: method.toUpperCase(), target, headers: [['host', host], ...others] }
}

/** What a receiver reads; the others follow. */
const FIRST = ['content-type', 'x-hook-event', 'webhook-id', 'webhook-timestamp', 'webhook-signature']
const rank = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length)

function parts(uri: string): { readonly host: string; readonly target: string } {
  try {
    const { host, pathname, search } = new URL(uri)
    return { host, target: pathname + search }
  } catch {
    return { host: '', target: uri }
  }
}
