import type { ApiKeyRow } from '../../accounts/account-store.js'
import {
  ciphertextsOfApiKey,
  ciphertextsOfWebhook,
  type EncryptedKind,
  type EncryptedRow,
  hasCiphertexts,
  withApiKeyCiphertext,
  withWebhookCiphertexts,
} from '../encryption-store.js'
import type { State } from './state.js'
import { noteChange } from './webhooks.js'

/** The API keys of the accounts port. */
interface ApiKeys {
  apiKeyIds(): Iterable<string>
  apiKey(accountId: string): ApiKeyRow | undefined
  putApiKey(row: ApiKeyRow): void
}

/** The encryption port. */
export function memoryEncryption(state: State, apiKeys: ApiKeys) {
  let stored: string | undefined

  function rowOf(kind: EncryptedKind, id: string): EncryptedRow | undefined {
    if (kind === 'apiKey') {
      const row = apiKeys.apiKey(id)
      return row && ciphertextsOfApiKey(row)
    }
    const endpoint = state.endpoints.get(id)
    return endpoint && ciphertextsOfWebhook(endpoint.webhook)
  }

  return {
    record: (): string | undefined => stored,
    replaceRecord(record: string, expected: string | undefined): boolean {
      if (stored !== expected) return false
      stored = record
      return true
    },
    encryptedRows(kind: EncryptedKind, after: string | undefined, limit: number): readonly EncryptedRow[] {
      const ids = [...(kind === 'apiKey' ? apiKeys.apiKeyIds() : state.endpoints.keys())]
      const behind = after === undefined ? ids : ids.filter((id) => id > after)
      return behind
        .sort()
        .slice(0, limit)
        .map((id) => rowOf(kind, id)!)
    },
    reencrypt(next: EncryptedRow, expected: EncryptedRow): boolean {
      const { kind, id } = next
      const current = rowOf(kind, id)
      if (!current || !hasCiphertexts(current, expected)) return false
      if (kind === 'apiKey') apiKeys.putApiKey(withApiKeyCiphertext(apiKeys.apiKey(id)!, next))
      else {
        const endpoint = state.endpoints.get(id)!
        endpoint.webhook = withWebhookCiphertexts(endpoint.webhook, next)
        noteChange(state, endpoint)
      }
      return true
    },
  }
}
