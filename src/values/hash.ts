import { createHash, createHmac, hash, timingSafeEqual } from 'node:crypto'

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

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
/** Longer texts use `createHmac`. */
const SCRATCH_BYTES = 32_768
const scratch = Buffer.allocUnsafe(SCRATCH_BYTES)

/**
 * A key of HMAC-SHA-256 with its pads (RFC 2104): key xor `ipad`, and key xor `opad` with space for the inner digest.
 */
export class HmacKey {
  readonly inner = Buffer.alloc(BLOCK_BYTES, 0x36)
  readonly outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, 0x5c)

  /** @param bytes must not be modified afterwards */
  constructor(readonly bytes: Uint8Array) {
    const short = bytes.length > BLOCK_BYTES ? createHash('sha256').update(bytes).digest() : bytes
    short.forEach((byte, index) => {
      this.inner[index]! ^= byte
      this.outer[index]! ^= byte
    })
  }
}

/**
 * HMAC-SHA-256 of `prefix + text`, in base64. Computed as two one-shot hashes, which create no native object for the
 * garbage collector to finalise and take two thirds of the time of `createHmac`.
 */
export function hmacSha256Base64(key: HmacKey, prefix: string, text: string): string {
  return hmacInTwo(key, prefix, text, 'base64')
}

/** HMAC-SHA-256 of the text, in hex, as fast as `hmacSha256Base64`. */
export function hmacSha256Hex(key: HmacKey, text: string): string {
  return hmacInTwo(key, '', text, 'hex')
}

function hmacInTwo(key: HmacKey, prefix: string, text: string, encoding: 'base64' | 'hex'): string {
  if (BLOCK_BYTES + 3 * (prefix.length + text.length) > SCRATCH_BYTES) {
    return createHmac('sha256', key.bytes).update(prefix).update(text).digest(encoding)
  }
  const { inner, outer } = key
  inner.copy(scratch)
  let end = BLOCK_BYTES
  end += scratch.write(prefix, end)
  end += scratch.write(text, end)
  outer.write(hash('sha256', scratch.subarray(0, end), 'binary'), BLOCK_BYTES, 'binary')
  return hash('sha256', outer, encoding)
}

/** Compares two strings in a time that does not reveal where they differ. */
export function constantTimeEqual(a: string, b: string): boolean {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}
