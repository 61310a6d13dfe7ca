/** Options for connections to receivers, as data: TLS and a forward proxy. */
import { parseUrl } from './parse-url.js'

/** PEM, as text or bytes. */
export type Pem = string | Uint8Array

/**
 * TLS options for all receivers, named as in `node:tls`. Certificate verification cannot be turned off.
 */
export interface TlsOptions {
  /** Certificate authorities that replace Node's; to keep those too, add `rootCertificates` of `node:tls`. */
  readonly ca?: string | Uint8Array | readonly (string | Uint8Array)[] | undefined
  /** A client certificate with its chain, for receivers that request one. Requires `key`. */
  readonly cert?: string | Uint8Array | undefined
  /** The private key of `cert`. */
  readonly key?: string | Uint8Array | undefined
  /** Decrypts an encrypted `key`. */
  readonly passphrase?: string | undefined
  /** Default: Node's default, TLS 1.2. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3' | undefined
  /** Default: TLS 1.3. */
  readonly maxVersion?: 'TLSv1.2' | 'TLSv1.3' | undefined
}

/** A parsed proxy URL. */
export interface ForwardProxy {
  /** As in `URL.hostname`. */
  readonly hostname: string
  readonly port: number
  /** Whether the connection to the proxy uses TLS. */
  readonly secure: boolean
  /** Value of `Proxy-Authorization` (RFC 7617), from the URL's user and password. Secret. */
  readonly authorization: string | undefined
}

/** Parses `http://user:password@host:port`, or https; `undefined` when it is invalid. Default ports: 80 and 443. */
export function parseProxy(text: string): ForwardProxy | undefined {
  const url = parseUrl(text)
  const secure = url?.protocol === 'https:'
  if (!url || (!secure && url.protocol !== 'http:')) return undefined
  if (url.hostname === '' || url.pathname !== '/' || /[?#]/.test(text)) return undefined
  const authorization = basicAuthorization(url.username, url.password)
  if (authorization === null) return undefined
  return { hostname: url.hostname, port: Number(url.port) || (secure ? 443 : 80), secure, authorization }
}

/** `null` when it cannot be expressed: RFC 7617, section 2, forbids a colon in the name, and control characters. */
function basicAuthorization(username: string, password: string): string | undefined | null {
  if (username === '' && password === '') return undefined
  try {
    const [user, secret] = [decodeURIComponent(username), decodeURIComponent(password)]
    if (user.includes(':') || /\p{Cc}/u.test(user + secret)) return null
    return `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`
  } catch {
    return null
  }
}
