import type { SecretBox } from '../values/seal.js'
import { secretKey } from '../webhooks/signing-secret.js'
import { openHeaders, sealPurpose } from '../webhooks/view.js'
import type { Webhook } from '../webhooks/webhook.js'
import { type EndpointMaterial, fixedHeaders } from './request.js'

/**
 * Opens a webhook's secrets and headers for sending. Kept as long as the row is: a changed webhook is another row.
 *
 * @param userAgent value of `User-Agent` where the owner set none
 */
export function materialCache(box: SecretBox, userAgent: string): (webhook: Webhook) => EndpointMaterial {
  const cache = new WeakMap<Webhook, EndpointMaterial>()
  return (webhook) => {
    const known = cache.get(webhook)
    if (known) return known
    const keys = webhook.secrets.flatMap(({ sealed, expiresMs }) => {
      const text = box.open(sealed, sealPurpose.secret(webhook.id))
      const key = text === undefined ? undefined : secretKey(text)
      return key ? [{ key, ...(expiresMs !== undefined && { expiresMs }) }] : []
    })
    const custom = openHeaders(webhook, box)
    const isTraced = Object.keys(custom ?? {}).some((name) => name.toLowerCase() === 'traceparent')
    const material = { keys, headers: fixedHeaders(webhook, custom, userAgent), isTraced }
    cache.set(webhook, material)
    return material
  }
}
