/** Finds mistakes in an address without a request, and suggests a correction. Pure. */

interface AddressProblem {
  readonly code: 'scheme' | 'invalid'
  /** The same with `https://`. */
  readonly better?: string
}

/** `undefined`: it is a URL with http or https. */
export function addressProblem(text: string): AddressProblem | undefined {
  const url = parse(text)
  if (url && (url.protocol === 'https:' || url.protocol === 'http:'))
    return url.hostname === '' ? { code: 'invalid' } : undefined
  // `host:443/path` is a URL with the scheme `host:`.
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return { code: /^https?:/i.test(text) ? 'invalid' : 'scheme' }
  const better = `https://${text.replace(/^\/+/, '')}`
  return /^[^\s.@]+\.[^\s.@]/.test(text) && parse(better) ? { code: 'scheme', better } : { code: 'invalid' }
}

function parse(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

/** The name of the server, as the first name of a webhook. */
export const hostOf = (uri: string): string => parse(uri)?.hostname ?? ''
