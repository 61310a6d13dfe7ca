import crypto, { createHmac, timingSafeEqual } from 'node:crypto'

// Not imported by name: below Node 20.12 the package could not be loaded, and could not say which Node it needs.
const { hash } = crypto

/** SHA-256 in lower-case hex. */
export function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}

/** MD5 in lower-case hex: only where a client's protocol requires it. */
export function md5(text: string): string {
  return hash('md5', text, 'hex')
}

/** SHA-1 in lower-case hex: only where a client's protocol requires it. */
export function sha1(text: string): string {
  return hash('sha1', text, 'hex')
}

/** HMAC-SHA-256 of the concatenated parts. */
export function hmacSha256(key: Uint8Array | string, ...parts: readonly (string | Uint8Array)[]): Buffer {
  const hmac = createHmac('sha256', key)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

/** Compares two strings in a time that does not reveal where they differ. */
export function constantTimeEqual(a: string, b: string): boolean {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}
