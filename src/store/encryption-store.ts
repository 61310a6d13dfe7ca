/**
 * The storage port of encryption: the record of the service secrets in use, and the ciphertexts of all rows, for their
 * rotation. Stores never decrypt.
 */
import type { ApiKeyRow } from '../accounts/api-key.js'
import type { Webhook } from '../webhooks/webhook.js'

/** Rows with ciphertexts: the API key of an account, or a webhook with its signing secrets and custom headers. */
export type EncryptedKind = 'apiKey' | 'webhook'

/** The ciphertexts of one row. */
export interface EncryptedRow {
  /** What the ciphertexts belong to. */
  readonly kind: EncryptedKind
  /** Id of the account, or of the webhook. */
  readonly id: string
  /** `Webhook.sealedHeaders`. */
  readonly headers?: string
  /** `ApiKeyRow.sealed`, or `Webhook.secrets` in their order. */
  readonly secrets: readonly string[]
}

/** The storage port of encryption. Every promise may reject with `StoreUnavailable`. */
export interface EncryptionStore {
  /** The record as `replaceRecord` wrote it; `undefined`: none was written. */
  record(): Promise<string | undefined>
  /**
   * Writes the record if the stored one is still `expected` (`undefined`: none). Resolves to false otherwise. Durable
   * when it resolves.
   *
   * @param record at most 64 KiB of text
   */
  replaceRecord(record: string, expected: string | undefined): Promise<boolean>
  /**
   * Up to `limit` rows of a kind with an id behind `after`, in the order of ids, which is the store's own. Includes
   * deleted webhooks, and rows written by other nodes.
   *
   * @param after id of the last row of the previous page; `undefined`: from the start
   */
  encryptedRows(
    kind: EncryptedKind,
    after: string | undefined,
    limit: number,
  ): Promise<readonly EncryptedRow[]>
  /**
   * Replaces the ciphertexts of a row if they are still those of `expected` (`hasCiphertexts`), atomically. The `revision`
   * of a webhook increases by 1, so that no writer that read the old ciphertexts can write them back; nothing else
   * changes. Resolves to false if the row has changed or is gone.
   */
  reencrypt(next: EncryptedRow, expected: EncryptedRow): Promise<boolean>
}

/** The ciphertexts of an API key. */
export function ciphertextsOfApiKey({ accountId, sealed }: ApiKeyRow): EncryptedRow {
  return { kind: 'apiKey', id: accountId, secrets: [sealed] }
}

/** The ciphertexts of a webhook. */
export function ciphertextsOfWebhook({ id, sealedHeaders: headers, secrets }: Webhook): EncryptedRow {
  return {
    kind: 'webhook',
    id,
    ...(headers !== undefined && { headers }),
    secrets: secrets.map(({ sealed }) => sealed),
  }
}

/** Whether a row has exactly these ciphertexts. */
export function hasCiphertexts(row: EncryptedRow, expected: EncryptedRow): boolean {
  return (
    row.headers === expected.headers &&
    row.secrets.length === expected.secrets.length &&
    row.secrets.every((sealed, index) => sealed === expected.secrets[index])
  )
}

/** Replaces the ciphertext of an API key; its version stays, and with it the tokens issued for it. */
export function withApiKeyCiphertext(row: ApiKeyRow, next: EncryptedRow): ApiKeyRow {
  return { ...row, sealed: next.secrets[0]! }
}

/** Replaces the ciphertexts of a webhook, which has as many as `next`. */
export function withWebhookCiphertexts(webhook: Webhook, next: EncryptedRow): Webhook {
  return {
    ...webhook,
    ...(next.headers !== undefined && { sealedHeaders: next.headers }),
    secrets: webhook.secrets.map((secret, index) => ({ ...secret, sealed: next.secrets[index]! })),
    revision: webhook.revision + 1,
  }
}
