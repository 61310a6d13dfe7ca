import { X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { HookswitchError } from './errors.js'
import { parseUrl } from './values/parse-url.js'
import { type Pem, parseProxy, type TlsOptions } from './values/way-out.js'

/** Checks of single options: each throws `InvalidOption` naming the field, never showing the value. */

/** The error of a wrong option. */
export function invalid(field: string, message: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${field} ${message}`, { field })
}

/** Throws `InvalidOption` for a value that is none. */
export type Check = (field: string, value: unknown) => void

/** A whole number in a range. */
export const whole =
  (least: number, most: number): Check =>
  (field, value) => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least || value > most) {
      throw invalid(field, `must be a whole number from ${least} to ${most}`)
    }
  }
/** A number of at least this. */
export const number =
  (least: number): Check =>
  (field, value) => {
    if (typeof value !== 'number' || !Number.isFinite(value) || value < least) {
      throw invalid(field, `must be a number of at least ${least}`)
    }
  }
/** True or false. */
export const flag: Check = (field, value) => {
  if (typeof value !== 'boolean') throw invalid(field, 'must be true or false')
}
/** One of these texts. */
export const oneOf =
  (...values: readonly string[]): Check =>
  (field, value) => {
    if (!values.includes(value as string))
      throw invalid(field, `must be ${values.map((v) => `'${v}'`).join(' or ')}`)
  }
/** A list of texts. */
export const texts: Check = (field, value) => {
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) {
    throw invalid(field, 'must be a list of texts')
  }
}
/** `*`, an origin (`https://app.example.com`), or a list of origins, each as browsers spell it. */
export const origins: Check = (field, value) => {
  const isOrigin = (text: unknown) =>
    text === '*' || (typeof text === 'string' && parseUrl(text)?.origin === text)
  if (!(Array.isArray(value) ? value.every(isOrigin) : isOrigin(value))) {
    throw invalid(field, "must be '*' or origins such as https://app.example.com")
  }
}
/** A door: an object with these methods. */
export const door =
  (...methods: readonly string[]): Check =>
  (field, value) => {
    if (typeof value !== 'object' || value === null) throw invalid(field, 'must be an object')
    const lacking = methods.find((method) => typeof (value as Record<string, unknown>)[method] !== 'function')
    if (lacking !== undefined) throw invalid(field, `must have a method ${lacking}`)
  }
/** Functions by name. */
export const functions: Check = (field, value) => {
  if (typeof value !== 'object' || value === null)
    throw invalid(field, 'must be an object of functions by name')
  for (const [name, item] of Object.entries(value)) {
    if (typeof item !== 'function') throw invalid(`${field}.${name}`, 'must be a function')
  }
}
/** A proxy's URL. */
export const proxyUrl: Check = (field, value) => {
  if (typeof value !== 'string' || !parseProxy(value)) {
    throw invalid(field, 'must be a URL such as http://user:password@proxy.example:3128')
  }
}
const TLS_VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const
const TLS_FIELDS: Readonly<Record<keyof TlsOptions, Check>> = {
  ca: (field, value) => {
    const list: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (list.length === 0 || !list.every(isCertificates)) {
      throw invalid(field, 'must be certificates in PEM, one text or a list')
    }
  },
  cert: (field, value) => {
    if (!isCertificates(value)) throw invalid(field, 'must be a certificate in PEM')
  },
  key: (field, value) => {
    if (!isPem(value)) throw invalid(field, 'must be a private key in PEM')
  },
  passphrase: (field, value) => {
    if (typeof value !== 'string') throw invalid(field, 'must be a text')
  },
  minVersion: oneOf(...TLS_VERSIONS),
  maxVersion: oneOf(...TLS_VERSIONS),
}
/** Options of TLS, each by itself and all together. What OpenSSL says is not told: it may quote what it got. */
export const tlsOptions: Check = (field, value) => {
  if (typeof value !== 'object' || value === null) throw invalid(field, 'must be an object')
  for (const [name, item] of Object.entries(value)) {
    const check = Object.hasOwn(TLS_FIELDS, name) ? TLS_FIELDS[name as keyof TlsOptions] : undefined
    if (!check) throw invalid(`${field}.${name}`, 'is not an option')
    if (item !== undefined) check(`${field}.${name}`, item)
  }
  const { cert, key, passphrase, minVersion, maxVersion } = value as TlsOptions
  if (cert !== undefined && key === undefined) throw invalid(`${field}.key`, 'is required beside cert')
  if (key !== undefined && cert === undefined) throw invalid(`${field}.cert`, 'is required beside key')
  if (passphrase !== undefined && key === undefined) throw invalid(`${field}.key`, 'is what passphrase opens')
  if (minVersion === 'TLSv1.3' && maxVersion === 'TLSv1.2') {
    throw invalid(`${field}.minVersion`, 'must not be above maxVersion')
  }
  if (!isAccepted({ key, passphrase })) {
    throw invalid(`${field}.key`, 'must be a private key in PEM that passphrase opens')
  }
  if (!isAccepted({ cert, key, passphrase })) throw invalid(`${field}.key`, 'must be the key of cert')
  if (!isAccepted(value)) throw invalid(field, 'is refused by OpenSSL')
}

const isPem = (value: unknown): value is Pem => typeof value === 'string' || value instanceof Uint8Array

/** One or more certificates, each of which can be read. */
function isCertificates(value: unknown): boolean {
  if (!isPem(value)) return false
  const text = typeof value === 'string' ? value : Buffer.from(value).toString('latin1')
  const found = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
  try {
    for (const one of found) new X509Certificate(one)
    return found.length > 0
  } catch {
    return false
  }
}

function isAccepted(options: object): boolean {
  try {
    // Without a list of its own, Node would read all the authorities that it brings.
    createSecureContext({ ca: [], ...options } as SecureContextOptions)
    return true
  } catch {
    return false
  }
}
/** Checked elsewhere. */
export const anything: Check = () => {}
