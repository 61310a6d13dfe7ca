import { createHash, createHmac, hash, timingSafeEqual } from 'node:crypto'

/** Lower-case hex of SHA-256. */
export function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}

/** Lower-case hex of MD5: only where a client's protocol asks for it. */
export function md5(text: string): string {
  return createHash('md5').update(text).digest('hex')
}

/** Lower-case hex of SHA-1: only where a client's protocol asks for it. */
export function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}

/** HMAC-SHA-256 of the parts one after the other. */
export function hmacSha256(key: Uint8Array | string, ...parts: readonly (string | Uint8Array)[]): Buffer {
  const hmac = createHmac('sha256', key)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

/** HMAC-SHA-256 of a text, in base64: in fewer steps than over a buffer. */
export function hmacSha256Base64(key: Uint8Array | string, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64')
}

/** Compares two strings in a time that tells nothing of where they differ. */
export function equalInConstantTime(a: string, b: string): boolean {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}
