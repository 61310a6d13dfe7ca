/** What a host may set of the way to receivers, as data: TLS, and a proxy. */
import { parseUrl } from './parse-url.js'

/** PEM: a text, or the bytes of one. */
export type Pem = string | Uint8Array

/**
 * TLS of a service, for all its receivers. There is no switch that turns verification off.
 *
 * The names are those of `node:tls`.
 */
export interface TlsOptions {
  /** Authorities in place of those that Node brings; to keep these, add `rootCertificates` of `node:tls`. */
  readonly ca?: Pem | readonly Pem[]
  /** A client certificate, with its chain, for receivers that ask for one. Needs `key`. */
  readonly cert?: Pem
  /** Its private key. */
  readonly key?: Pem
  /** Opens an encrypted key. */
  readonly passphrase?: string
  /** Default: Node's, TLS 1.2. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3'
  /** Default: TLS 1.3. */
  readonly maxVersion?: 'TLSv1.2' | 'TLSv1.3'
}

/** A proxy, taken apart. */
export interface ForwardProxy {
  /** As in `URL.hostname`. */
  readonly hostname: string
  readonly port: number
  /** Whether it is spoken to over TLS. */
  readonly secure: boolean
  /** Value of `Proxy-Authorization` (RFC 7617), from the URL's user and password. A secret. */
  readonly authorization: string | undefined
}

/** Reads `http://user:password@host:port`, or https; `undefined` where it is no proxy. Default ports 80 and 443. */
export function parseProxy(text: string): ForwardProxy | undefined {
  const url = parseUrl(text)
  const secure = url?.protocol === 'https:'
  if (!url || (!secure && url.protocol !== 'http:')) return undefined
  if (url.hostname === '' || url.pathname !== '/' || /[?#]/.test(text)) return undefined
  const authorization = basic(url.username, url.password)
  if (authorization === null) return undefined
  return { hostname: url.hostname, port: Number(url.port) || (secure ? 443 : 80), secure, authorization }
}

/** `null` where it cannot be said: RFC 7617, section 2, bars a colon in the name, and control characters. */
function basic(username: string, password: string): string | undefined | null {
  if (username === '' && password === '') return undefined
  try {
    const [user, secret] = [decodeURIComponent(username), decodeURIComponent(password)]
    if (user.includes(':') || /\p{Cc}/u.test(user + secret)) return null
    return `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`
  } catch {
    return null
  }
}
