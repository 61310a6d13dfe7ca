import { LRUCache } from 'lru-cache'
import type { SecretCipher } from '../../values/encryption.js'
import { parseSigningSecret } from '../../webhooks/signing-secret.js'
import { decryptHeaders, encryptionPurpose } from '../../webhooks/view.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { buildFixedHeaders, type EndpointSecrets } from '../request.js'

/** Webhooks in the cache by id; about 500 bytes each. */
const MAX_CACHED = 10_000

type Encrypted = Pick<Webhook, 'accountId' | 'secrets' | 'sealedHeaders'>

/**
 * Decrypts the secrets and headers of webhooks for sending, and caches the result. The first cache lives as
 * long as the row object. The second one is for stores that return a new copy of the row each time: it is
 * keyed by webhook id and valid while the ciphertexts are the same.
 *
 * @param userAgent `User-Agent` of webhooks without a custom one
 */
export function createEndpointSecretsCache(
  cipher: SecretCipher,
  userAgent: string,
): (webhook: Webhook) => EndpointSecrets {
  const byRow = new WeakMap<Webhook, EndpointSecrets>()
  // `maxSize`, since `max` allocates the memory of all entries at once.
  const byId = new LRUCache<string, { readonly encrypted: Encrypted; readonly secrets: EndpointSecrets }>({
    maxSize: MAX_CACHED,
    sizeCalculation: () => 1,
  })
  return (webhook) => {
    const ofRow = byRow.get(webhook)
    if (ofRow) return ofRow
    const cached = byId.get(webhook.id)
    if (cached && isSame(cached.encrypted, webhook)) return cached.secrets
    const keys = webhook.secrets.flatMap(({ sealed, expiresMs }) => {
      const text = cipher.decrypt(sealed, encryptionPurpose.secret(webhook.id))
      const key = text === undefined ? undefined : parseSigningSecret(text)
      return key ? [{ key, ...(expiresMs !== undefined && { expiresMs }) }] : []
    })
    const custom = decryptHeaders(webhook, cipher)
    const hasTraceparent = Object.keys(custom ?? {}).some((name) => name.toLowerCase() === 'traceparent')
    const secrets = { keys, headers: buildFixedHeaders(webhook, custom, userAgent), hasTraceparent }
    byRow.set(webhook, secrets)
    byId.set(webhook.id, { encrypted: webhook, secrets })
    return secrets
  }
}

function isSame(cached: Encrypted, { accountId, secrets, sealedHeaders }: Encrypted): boolean {
  return (
    cached.accountId === accountId &&
    cached.sealedHeaders === sealedHeaders &&
    cached.secrets.length === secrets.length &&
    cached.secrets.every((secret, index) => {
      const { sealed, expiresMs } = secrets[index]!
      return secret.sealed === sealed && secret.expiresMs === expiresMs
    })
  )
}
