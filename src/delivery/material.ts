import { LRUCache } from 'lru-cache'
import type { SecretBox } from '../values/seal.js'
import { secretKey } from '../webhooks/signing-secret.js'
import { openHeaders, sealPurpose } from '../webhooks/view.js'
import type { Webhook } from '../webhooks/webhook.js'
import { type EndpointMaterial, fixedHeaders } from './request.js'

/** Webhooks whose material is recognised in copies of their rows, some 500 bytes each. */
const MAX_REMEMBERED = 10_000

type Sealed = Pick<Webhook, 'accountId' | 'secrets' | 'sealedHeaders'>

/**
 * Opens a webhook's secrets and headers for sending, once for all claims of it: kept as long as the row is, and for the
 * webhooks used last also where a store hands out a new copy of the row each time, recognised by what is sealed in it.
 *
 * @param userAgent value of `User-Agent` where the owner set none
 */
export function materialCache(box: SecretBox, userAgent: string): (webhook: Webhook) => EndpointMaterial {
  const ofRows = new WeakMap<Webhook, EndpointMaterial>()
  // By size, for `max` takes the room of all of them at once.
  const ofCopies = new LRUCache<string, { readonly sealed: Sealed; readonly material: EndpointMaterial }>({
    maxSize: MAX_REMEMBERED,
    sizeCalculation: () => 1,
  })
  return (webhook) => {
    const own = ofRows.get(webhook)
    if (own) return own
    const known = ofCopies.get(webhook.id)
    if (known && isSame(known.sealed, webhook)) return known.material
    const keys = webhook.secrets.flatMap(({ sealed, expiresMs }) => {
      const text = box.open(sealed, sealPurpose.secret(webhook.id))
      const key = text === undefined ? undefined : secretKey(text)
      return key ? [{ key, ...(expiresMs !== undefined && { expiresMs }) }] : []
    })
    const custom = openHeaders(webhook, box)
    const isTraced = Object.keys(custom ?? {}).some((name) => name.toLowerCase() === 'traceparent')
    const material = { keys, headers: fixedHeaders(webhook, custom, userAgent), isTraced }
    ofRows.set(webhook, material)
    ofCopies.set(webhook.id, { sealed: webhook, material })
    return material
  }
}

function isSame(known: Sealed, { accountId, secrets, sealedHeaders }: Sealed): boolean {
  return (
    known.accountId === accountId &&
    known.sealedHeaders === sealedHeaders &&
    known.secrets.length === secrets.length &&
    known.secrets.every((secret, index) => {
      const { sealed, expiresMs } = secrets[index]!
      return secret.sealed === sealed && secret.expiresMs === expiresMs
    })
  )
}
