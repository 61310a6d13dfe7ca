/** Stores the record of the service secrets, and reads and replaces the ciphertexts of API keys and webhooks. */
import {
  type ApiKeyRow,
  ciphertextsOfApiKey,
  ciphertextsOfWebhook,
  type EncryptedRow,
  type EncryptionStore,
  hasCiphertexts,
  withApiKeyCiphertext,
  withWebhookCiphertexts,
} from 'hookswitch/store'
import type { EngineContext } from './context.js'
import type { DocRow, Statements } from './query.js'
import type { Synchronous } from './synchronous.js'

export function createEncryptionStore({
  prepareQuery,
  prepareChange,
  endpoints,
}: Pick<EngineContext, keyof Statements | 'endpoints'>): Synchronous<EncryptionStore> {
  const readRecord = prepareQuery<{ readonly record: string }>(
    'select record from hookswitch_encryption where id = 1',
  )
  const putRecord = prepareChange('insert or replace into hookswitch_encryption (id, record) values (1, ?)')
  const apiKeys = prepareQuery<DocRow>(
    'select doc from hookswitch_api_key where account_id > ? order by account_id limit ? + 0',
  )
  const apiKey = prepareQuery<DocRow>('select doc from hookswitch_api_key where account_id = ?')
  const putApiKey = prepareChange('update hookswitch_api_key set doc = ? where account_id = ?')
  const webhooks = prepareQuery<{ readonly key: number }>(
    'select key from hookswitch_webhook where id > ? order by id limit ? + 0',
  )
  const record = () => readRecord.get()?.record
  const apiKeyOf = ({ doc }: DocRow) => JSON.parse(doc) as ApiKeyRow

  function reencryptApiKey(next: EncryptedRow, expected: EncryptedRow): boolean {
    const row = apiKey.get(next.id)
    const current = row && apiKeyOf(row)
    if (!current || !hasCiphertexts(ciphertextsOfApiKey(current), expected)) return false
    putApiKey(JSON.stringify(withApiKeyCiphertext(current, next)), next.id)
    return true
  }

  function reencryptWebhook(next: EncryptedRow, expected: EncryptedRow): boolean {
    const endpoint = endpoints.byId(next.id)
    if (!endpoint || !hasCiphertexts(ciphertextsOfWebhook(endpoint.webhook), expected)) return false
    endpoints.replace(endpoint, withWebhookCiphertexts(endpoint.webhook, next))
    return true
  }

  return {
    record,
    replaceRecord(next, expected) {
      if (record() !== expected) return false
      putRecord(next)
      return true
    },
    // Every id is greater than the empty string.
    encryptedRows: (kind, after = '', limit) =>
      kind === 'apiKey'
        ? apiKeys.all(after, limit).map((row) => ciphertextsOfApiKey(apiKeyOf(row)))
        : webhooks.all(after, limit).map(({ key }) => ciphertextsOfWebhook(endpoints.byKey(key)!.webhook)),
    reencrypt: (next, expected) =>
      next.kind === 'apiKey' ? reencryptApiKey(next, expected) : reencryptWebhook(next, expected),
  }
}
