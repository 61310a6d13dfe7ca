import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import { hmacSha256 } from './hash.js'

/** Encrypts secrets and derives lookup keys under the service secrets. Holds derived keys only. */
export interface SecretCipher {
  /**
   * Encrypts with AES-256-GCM under the first secret. `purpose` is associated data (AAD), so that a ciphertext moved to
   * another row or column does not decrypt. `nonce`: 12 random bytes.
   */
  encrypt(plain: string, purpose: string, nonce: Uint8Array): string
  /** Decrypts what was encrypted for this purpose under any of the secrets; `undefined` when none fits. */
  decrypt(sealed: string, purpose: string): string | undefined
  /**
   * HMAC-SHA-256 (hex) under every secret, in the order of the secrets, then under the keys of retired secrets: lookup keys
   * for values that must not be readable.
   */
  fingerprints(text: string): readonly string[]
}

const VERSION = 'v1.'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Derives one key per use from a secret of any length (HKDF-SHA-256, RFC 5869). */
function deriveKey(secret: string, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'hookswitch', use, 32))
}

/**
 * The HMAC key of a secret, in hex. The encryption record keeps this key of each retired secret, because the lookup keys
 * of passwords were made with it. It cannot decrypt anything.
 */
export function deriveLookupKey(secret: string): string {
  return deriveKey(secret, 'mac').toString('hex')
}

/**
 * Creates a cipher over the service secrets. The first secret encrypts and all of them decrypt, so that a secret can be
 * replaced while old ciphertexts remain readable.
 *
 * @param secrets at least one, each of 16 characters or more (validated with the options)
 * @param lookupKeys HMAC keys of retired secrets (`deriveLookupKey`), for `fingerprints`
 */
export function createSecretCipher(
  secrets: readonly string[],
  lookupKeys: readonly string[] = [],
): SecretCipher {
  const keys = secrets.map((secret) => ({
    cipher: deriveKey(secret, 'cipher'),
    mac: deriveKey(secret, 'mac'),
  }))
  const macKeys = [...keys.map(({ mac }) => mac), ...lookupKeys.map((key) => Buffer.from(key, 'hex'))]
  return {
    encrypt(plain, purpose, nonce) {
      const cipher = createCipheriv('aes-256-gcm', keys[0]!.cipher, nonce)
      cipher.setAAD(Buffer.from(purpose))
      const body = cipher.update(plain, 'utf8')
      // GCM is a stream: `final` computes the tag and returns no bytes.
      cipher.final()
      return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
    },
    decrypt(sealed, purpose) {
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
          // The authentication tag does not match: encrypted under another secret.
        }
      }
      return undefined
    },
    fingerprints(text) {
      return macKeys.map((key) => hmacSha256(key, text).toString('hex'))
    },
  }
}
