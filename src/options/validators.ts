/** Validators of single options. Each throws `InvalidOption` naming the option, and never shows the value. */
import { X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { HookswitchError, unknownOption } from '../errors.js'
import { parseUrl } from '../values/parse-url.js'
import { type Pem, parseProxy, type TlsOptions } from '../values/tls-and-proxy.js'

/** `InvalidOption` for an option with an invalid value. */
export function invalidOption(field: string, message: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${field} ${message}`, { field })
}

const MIN_SECRET_LENGTH = 16

/** A service secret: at least 16 characters. The message does not show the value. */
export const checkSecret: Validator = (field, value) => {
  if (typeof value !== 'string') throw invalidOption(field, 'must be a string')
  if (value.length < MIN_SECRET_LENGTH)
    throw invalidOption(field, `must have at least ${MIN_SECRET_LENGTH} characters`)
}

/** Throws `InvalidOption` if the value of the option `field` is invalid. */
export type Validator = (field: string, value: unknown) => void

/** A whole number in a range, both ends included. */
export const wholeNumber =
  (min: number, max: number): Validator =>
  (field, value) => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max) {
      throw invalidOption(field, `must be a whole number from ${min} to ${max}`)
    }
  }
/** A finite number of at least `min`. */
export const numberAtLeast =
  (min: number): Validator =>
  (field, value) => {
    if (typeof value !== 'number' || !Number.isFinite(value) || value < min) {
      throw invalidOption(field, `must be a number of at least ${min}`)
    }
  }
/** A number in a range, both ends included. */
export const numberBetween =
  (min: number, max: number): Validator =>
  (field, value) => {
    if (typeof value !== 'number' || !(value >= min && value <= max)) {
      throw invalidOption(field, `must be a number from ${min} to ${max}`)
    }
  }
/** True or false. */
export const boolean: Validator = (field, value) => {
  if (typeof value !== 'boolean') throw invalidOption(field, 'must be true or false')
}
/** True, false, or this string. */
export const booleanOr =
  (text: string): Validator =>
  (field, value) => {
    if (typeof value !== 'boolean' && value !== text)
      throw invalidOption(field, `must be true, false or '${text}'`)
  }
/** One of these strings. */
export const oneOf =
  (...values: readonly string[]): Validator =>
  (field, value) => {
    if (!values.includes(value as string))
      throw invalidOption(field, `must be ${values.map((v) => `'${v}'`).join(' or ')}`)
  }
/** An array of strings. */
export const stringList: Validator = (field, value) => {
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) {
    throw invalidOption(field, 'must be an array of strings')
  }
}
/** `*`, an origin (`https://app.example.com`) or an array of origins, each spelled as browsers send it. */
export const originList: Validator = (field, value) => {
  const isOrigin = (text: unknown) =>
    text === '*' || (typeof text === 'string' && parseUrl(text)?.origin === text)
  if (!(Array.isArray(value) ? value.every(isOrigin) : isOrigin(value))) {
    throw invalidOption(field, "must be '*' or origins such as https://app.example.com")
  }
}
/** An implementation of a port: an object with these methods. */
export const objectWithMethods =
  (...methods: readonly string[]): Validator =>
  (field, value) => {
    if (typeof value === 'function')
      throw invalidOption(field, 'must be an object, not a function (was it called?)')
    if (typeof value !== 'object' || value === null) throw invalidOption(field, 'must be an object')
    if (typeof (value as { then?: unknown }).then === 'function')
      throw invalidOption(field, 'must be an object, not a promise: await it first')
    const missing = methods.find((method) => typeof (value as Record<string, unknown>)[method] !== 'function')
    if (missing !== undefined) throw invalidOption(field, `must have a method ${missing}`)
  }
/** An object whose values are functions. */
export const functionMap: Validator = (field, value) => {
  if (typeof value !== 'object' || value === null)
    throw invalidOption(field, 'must be an object of functions by name')
  for (const [name, item] of Object.entries(value)) {
    if (typeof item !== 'function') throw invalidOption(`${field}.${name}`, 'must be a function')
  }
}
/** The URL of an HTTP proxy. */
export const proxyUrl: Validator = (field, value) => {
  if (typeof value !== 'string' || !parseProxy(value)) {
    throw invalidOption(field, 'must be a URL such as http://user:password@proxy.example:3128')
  }
}
const TLS_VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const
const TLS_FIELDS: Readonly<Record<keyof TlsOptions, Validator>> = {
  ca: (field, value) => {
    const list: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (list.length === 0 || !list.every(hasCertificates)) {
      throw invalidOption(field, 'must be PEM certificates, as one value or an array')
    }
  },
  cert: (field, value) => {
    if (!hasCertificates(value)) throw invalidOption(field, 'must be a PEM certificate')
  },
  key: (field, value) => {
    if (!isPem(value)) throw invalidOption(field, 'must be a PEM private key')
  },
  passphrase: (field, value) => {
    if (typeof value !== 'string') throw invalidOption(field, 'must be a string')
  },
  minVersion: oneOf(...TLS_VERSIONS),
  maxVersion: oneOf(...TLS_VERSIONS),
}
/** TLS options, each alone and all together. OpenSSL's messages are not shown: they may quote the input. */
export const tlsOptions: Validator = (field, value) => {
  if (typeof value !== 'object' || value === null) throw invalidOption(field, 'must be an object')
  for (const [name, item] of Object.entries(value)) {
    const validate = Object.hasOwn(TLS_FIELDS, name) ? TLS_FIELDS[name as keyof TlsOptions] : undefined
    if (!validate) throw unknownOption('createHookswitch', name, Object.keys(TLS_FIELDS), field)
    if (item !== undefined) validate(`${field}.${name}`, item)
  }
  const { cert, key, passphrase, minVersion, maxVersion } = value as TlsOptions
  if (cert !== undefined && key === undefined) throw invalidOption(`${field}.key`, 'is required with cert')
  if (key !== undefined && cert === undefined) throw invalidOption(`${field}.cert`, 'is required with key')
  if (passphrase !== undefined && key === undefined)
    throw invalidOption(`${field}.key`, 'is required with passphrase')
  if (minVersion === 'TLSv1.3' && maxVersion === 'TLSv1.2') {
    throw invalidOption(`${field}.minVersion`, 'must not be above maxVersion')
  }
  if (!isAcceptedByOpenssl({ key, passphrase })) {
    throw invalidOption(`${field}.key`, 'must be a PEM private key that passphrase decrypts')
  }
  if (!isAcceptedByOpenssl({ cert, key, passphrase }))
    throw invalidOption(`${field}.key`, 'must be the private key of cert')
  if (!isAcceptedByOpenssl(value)) throw invalidOption(field, 'is rejected by OpenSSL')
}

const isPem = (value: unknown): value is Pem => typeof value === 'string' || value instanceof Uint8Array

const PEM_BEGIN = '-----BEGIN CERTIFICATE-----'
const PEM_END = '-----END CERTIFICATE-----'

/** One or more certificates, all of them readable. */
function hasCertificates(value: unknown): boolean {
  if (!isPem(value)) return false
  const text = typeof value === 'string' ? value : Buffer.from(value).toString('latin1')
  const certificates = text
    .split(PEM_END)
    .slice(0, -1)
    .map((part) => part.slice(Math.max(0, part.indexOf(PEM_BEGIN))) + PEM_END)
  try {
    for (const certificate of certificates) new X509Certificate(certificate)
    return certificates.length > 0
  } catch {
    return false
  }
}

function isAcceptedByOpenssl(options: object): boolean {
  try {
    // Without a list, Node would parse all its bundled root certificates.
    createSecureContext({ ca: [], ...options } as SecureContextOptions)
    return true
  } catch {
    return false
  }
}
/** Accepts every value: the option is validated where it is resolved (`options/presets`). */
export const unchecked: Validator = () => {}
