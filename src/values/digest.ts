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

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
/** Longer texts go the long way round. */
const SCRATCH_BYTES = 32_768
const scratch = Buffer.allocUnsafe(SCRATCH_BYTES)
const padded = new WeakMap<Uint8Array, { readonly inner: Buffer; readonly outer: Buffer }>()

/** What is the same for all texts under one key (RFC 2104): the key xor `ipad`, and xor `opad` with room behind it. */
function padsOf(key: Uint8Array): { readonly inner: Buffer; readonly outer: Buffer } {
  const known = padded.get(key)
  if (known) return known
  const short = key.length > BLOCK_BYTES ? createHash('sha256').update(key).digest() : key
  const inner = Buffer.alloc(BLOCK_BYTES, 0x36)
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, 0x5c)
  short.forEach((byte, index) => {
    inner[index]! ^= byte
    outer[index]! ^= byte
  })
  const pads = { inner, outer }
  padded.set(key, pads)
  return pads
}

/**
 * HMAC-SHA-256 of `prefix + text`, in base64: as two hashes at one go each, which makes no object that the garbage
 * collector must finish, in two thirds of the time of `createHmac`.
 *
 * @param key never changed afterwards
 */
export function hmacSha256Base64(key: Uint8Array, prefix: string, text: string): string {
  if (BLOCK_BYTES + 3 * (prefix.length + text.length) > SCRATCH_BYTES) {
    return createHmac('sha256', key).update(prefix).update(text).digest('base64')
  }
  const { inner, outer } = padsOf(key)
  inner.copy(scratch)
  let end = BLOCK_BYTES
  end += scratch.write(prefix, end)
  end += scratch.write(text, end)
  outer.write(hash('sha256', scratch.subarray(0, end), 'binary'), BLOCK_BYTES, 'binary')
  return hash('sha256', outer, 'base64')
}

/** Compares two strings in a time that tells nothing of where they differ. */
export function equalInConstantTime(a: string, b: string): boolean {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}
