/** Stores the record of the service secrets, and reads and replaces the ciphertexts of API keys and webhooks. */
import {
  type ApiKeyRow,
  ciphertextsOfApiKey,
  ciphertextsOfWebhook,
  type EncryptedRow,
  type EncryptionStore,
  hasCiphertexts,
  shardOf,
  withApiKeyCiphertext,
  withWebhookCiphertexts,
} from 'hookswitch/store'
import { createOwnerVersions } from './owner-versions.js'
import { type WebhookRow, webhookColumns, webhookOf } from './rows.js'
import type { Transaction } from './session.js'
import type { Deps } from './session-deps.js'
import type { DocRow } from './sql/accounts.js'
import { encryptionStatements } from './sql/encryption.js'

export function postgresEncryption({ session, schema }: Pick<Deps, 'session' | 'schema'>): EncryptionStore {
  const sql = encryptionStatements(schema)
  const versions = createOwnerVersions(schema)
  const apiKeyOf = ({ doc }: DocRow) => JSON.parse(doc) as ApiKeyRow

  async function reencryptApiKey(tx: Transaction, next: EncryptedRow, expected: EncryptedRow) {
    const [row] = await tx.query<DocRow>(sql.lockApiKey, [next.id])
    const current = row && apiKeyOf(row)
    if (!current || !hasCiphertexts(ciphertextsOfApiKey(current), expected)) return false
    await tx.query(sql.putApiKey, [next.id, JSON.stringify(withApiKeyCiphertext(current, next))])
    return true
  }

  async function reencryptWebhook(tx: Transaction, next: EncryptedRow, expected: EncryptedRow) {
    const raised = await versions.raise(tx, [shardOf(next.id)])
    const [row] = await tx.query<WebhookRow>(sql.lockWebhook, [next.id])
    const current = row && webhookOf(row)
    if (!current || !hasCiphertexts(ciphertextsOfWebhook(current), expected)) {
      await versions.record(tx, raised, [])
      return false
    }
    const webhook = withWebhookCiphertexts(current, next)
    await tx.query(sql.putWebhook, [webhook.id, webhook.revision, webhookColumns(webhook).doc])
    await versions.record(tx, raised, [{ webhookId: next.id }])
    return true
  }

  return {
    async record() {
      const [row] = await session.query<{ readonly record: string }>(sql.record, [])
      return row?.record
    },
    async replaceRecord(record, expected) {
      const written =
        expected === undefined
          ? await session.query(sql.insertRecord, [record])
          : await session.query(sql.replaceRecord, [record, expected])
      return written.length > 0
    },
    // Every id is greater than the empty string.
    async encryptedRows(kind, after = '', limit) {
      if (kind === 'apiKey') {
        const rows = await session.query<DocRow>(sql.apiKeys, [after, limit])
        return rows.map((row) => ciphertextsOfApiKey(apiKeyOf(row)))
      }
      const rows = await session.query<WebhookRow>(sql.webhooks, [after, limit])
      return rows.map((row) => ciphertextsOfWebhook(webhookOf(row)))
    },
    reencrypt: (next, expected) =>
      session.transaction((tx) =>
        next.kind === 'apiKey' ? reencryptApiKey(tx, next, expected) : reencryptWebhook(tx, next, expected),
      ),
  }
}
