import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import { hmacSha256 } from './digest.js'

/** Encrypts and recognises secrets under the service's own secret. Made once; holds no plain text. */
export interface SecretBox {
  /**
   * AES-256-GCM under the first secret. `purpose` is authenticated along, so that a ciphertext moved to another
   * row or column does not open. `nonce`: 12 random bytes.
   */
  seal(plain: string, purpose: string, nonce: Uint8Array): string
  /** Opens what any of the secrets sealed for this purpose; `undefined` when none did. */
  open(sealed: string, purpose: string): string | undefined
  /** HMAC-SHA-256 hex under every secret, the first one's first: look-up keys of things that must not be readable. */
  fingerprints(text: string): readonly string[]
}

const VERSION = 'v1.'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Derives one key per use from a secret of any length (HKDF-SHA-256, RFC 5869). */
function derive(secret: string, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'hookswitch', use, 32))
}

/**
 * A box over the service's secrets: the first encrypts, all decrypt, so that a secret can be replaced while the
 * old ciphertexts live on.
 *
 * @param secrets at least one, 16 characters or longer each (checked where options are read)
 */
export function secretBox(secrets: readonly string[]): SecretBox {
  const keys = secrets.map((secret) => ({ cipher: derive(secret, 'cipher'), mac: derive(secret, 'mac') }))
  return {
    seal(plain, purpose, nonce) {
      const cipher = createCipheriv('aes-256-gcm', keys[0]!.cipher, nonce)
      cipher.setAAD(Buffer.from(purpose))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
    },
    open(sealed, purpose) {
      if (!sealed.startsWith(VERSION)) return undefined
      const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url')
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
      for (const key of keys) {
        const decipher = createDecipheriv('aes-256-gcm', key.cipher, bytes.subarray(0, NONCE_BYTES))
        decipher.setAAD(Buffer.from(purpose))
        decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
        try {
          const plain = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
          return Buffer.concat([plain, decipher.final()]).toString('utf8')
        } catch {
          // Not this secret's: the authentication tag says so.
        }
      }
      return undefined
    },
    fingerprints(text) {
      return keys.map((key) => hmacSha256(key.mac, text).toString('hex'))
    },
  }
}
