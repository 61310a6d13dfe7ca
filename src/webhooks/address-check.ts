/** What a check of a webhook's URL says before it is saved: may it be called, and can a connection be made? Pure. */
import type { FailureCause } from 'hookswitch/adapter'
import type { Connected, Observation } from '../ports.js'
import type { CompiledAddressPolicy } from '../values/address-policy.js'
import { FAILURE_CAUSES } from '../values/failure-cause.js'
import { parseUrl } from '../values/parse-url.js'
import { canonicalizeUri } from '../values/uri.js'

/** The result of a check of a URL. Says no more than an attempt would, and nothing about why an address is blocked. */
export interface CheckedAddress {
  /** Whether a connection could be made, TLS included. */
  readonly isOk: boolean
  /** Absent: the URL has none that can be called. */
  readonly scheme?: 'https' | 'http'
  /** Host name or address, as it would be called; absent: the URL is not valid. */
  readonly host?: string
  /** Absent: the URL is not valid. */
  readonly port?: number
  /** Absent: none. */
  readonly problem?: {
    /**
     * `scheme`: neither http nor https; `address_invalid`: no valid URL; `not_checked`: a fault of the service; otherwise the
     * cause that an attempt would have.
     */
    readonly code: 'scheme' | 'address_invalid' | 'not_checked' | FailureCause
    /** One sentence. */
    readonly message: string
  }
  /** The certificate of the server; absent without TLS, or if the handshake failed. */
  readonly tls?: {
    /** End of its validity, Unix ms. */
    readonly validToMs: number
  }
  /** `not_encrypted`: whoever is between the service and the server can read and change what is sent. Absent: none. */
  readonly warnings?: readonly 'not_encrypted'[]
}

/** A URL that may be called. */
interface CallableAddress {
  /** The canonical URL. */
  readonly uri: string
  readonly address: { readonly scheme: 'https' | 'http'; readonly host: string; readonly port: number }
}

/** Checks the URL itself, as the settings of a webhook are checked. */
export function checkUri(
  text: string,
  policy: Pick<CompiledAddressPolicy, 'checkHost'>,
): CallableAddress | CheckedAddress {
  if (!/^\s*https?:/i.test(text)) {
    return { isOk: false, problem: { code: 'scheme', message: 'The address must begin with https://.' } }
  }
  const canonical = canonicalizeUri(text)
  if ('problem' in canonical) {
    const message = `The address ${canonical.problem}.`
    return { isOk: false, problem: { code: 'address_invalid', message } }
  }
  const { uri, hostname: host } = canonical
  const scheme = uri.startsWith('https:') ? 'https' : 'http'
  const port = Number(parseUrl(uri)?.port) || (scheme === 'https' ? 443 : 80)
  const address = { scheme, host, port } as const
  if (policy.checkHost(host).blocked)
    return { isOk: false, ...address, problem: problemOf('blocked_address') }
  return { uri, address }
}

/**
 * The result of connecting to a URL that may be called.
 *
 * @param result `undefined`: the host's sender cannot connect without a request
 */
export function reportConnection(
  { address }: CallableAddress,
  result: Connected | Extract<Observation, { kind: 'no_response' | 'own_fault' }> | undefined,
): CheckedAddress {
  if (result?.kind === 'no_response')
    return { isOk: false, ...address, problem: problemOf(result.cause ?? 'connection_failed') }
  if (result?.kind !== 'connected') {
    const message = 'The service could not check the address.'
    return { isOk: false, ...address, problem: { code: 'not_checked', message } }
  }
  const { certificateValidToMs: validToMs } = result
  return {
    isOk: true,
    ...address,
    ...(validToMs !== undefined && { tls: { validToMs } }),
    ...(address.scheme === 'http' && { warnings: ['not_encrypted'] }),
  }
}

/** Without what was observed: two blocked addresses cannot be distinguished. */
const problemOf = (code: FailureCause) => ({ code, message: FAILURE_CAUSES[code] })
