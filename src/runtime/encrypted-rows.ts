/** Decrypts the ciphertexts of stored rows and encrypts them again under another secret. */
import { apiKeyPurpose } from '../accounts/api-key.js'
import type { EncryptedRow } from '../store/encryption-store.js'
import type { SecretCipher } from '../values/encryption.js'
import { encryptionPurpose } from '../webhooks/view.js'
import type { RandomBytes } from './encryption-record.js'

const NONCE_BYTES = 12

function purposesOf({ kind, id }: EncryptedRow): { readonly headers: string; readonly secrets: string } {
  if (kind === 'apiKey') return { headers: '', secrets: apiKeyPurpose(id) }
  return { headers: encryptionPurpose.headers(id), secrets: encryptionPurpose.secret(id) }
}

/** The ciphers of a rotation. */
export interface RotationCiphers {
  readonly from: SecretCipher
  readonly to: SecretCipher
  readonly random: RandomBytes
}

/** Result of `reencryptRow`. @internal */
export interface Reencrypted {
  /** The row with every ciphertext of `from` under `to`; `undefined`: it has none. */
  readonly next?: EncryptedRow
  /** A ciphertext that neither secret decrypts stays as it is. */
  readonly isUnreadable: boolean
}

/** Encrypts the ciphertexts of `from` under `to`. */
export function reencryptRow(row: EncryptedRow, { from, to, random }: RotationCiphers): Reencrypted {
  const purposes = purposesOf(row)
  let isChanged = false
  let isUnreadable = false
  const reencrypt = (sealed: string, purpose: string): string => {
    if (to.decrypt(sealed, purpose) !== undefined) return sealed
    const plain = from.decrypt(sealed, purpose)
    if (plain === undefined) {
      isUnreadable = true
      return sealed
    }
    isChanged = true
    return to.encrypt(plain, purpose, random(NONCE_BYTES))
  }
  const { kind, id, headers } = row
  const next: EncryptedRow = {
    kind,
    id,
    ...(headers !== undefined && { headers: reencrypt(headers, purposes.headers) }),
    secrets: row.secrets.map((sealed) => reencrypt(sealed, purposes.secrets)),
  }
  return isChanged ? { next, isUnreadable } : { isUnreadable }
}
