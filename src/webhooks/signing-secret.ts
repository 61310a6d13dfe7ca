/** The signing secret of a webhook in the text form of Standard Webhooks 1.0.0. */

const PREFIX = 'whsec_'
const MIN_KEY_BYTES = 24
const MAX_KEY_BYTES = 64

/** Formats a signing key: `whsec_` and the base64 of its 24 to 64 bytes. */
export function formatSigningSecret(key: Uint8Array): string {
  return PREFIX + Buffer.from(key).toString('base64')
}

/** Parses a signing secret, with or without its prefix, to its key; `undefined` when it is invalid. */
export function parseSigningSecret(secret: string): Uint8Array | undefined {
  const base64 = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return undefined
  const key = Buffer.from(base64, 'base64')
  return key.length >= MIN_KEY_BYTES && key.length <= MAX_KEY_BYTES ? key : undefined
}
