import type { StoredDelivery } from '../../delivery/delivery-queries.js'
import { deliveryDoc } from '../../wire/delivery-doc.js'
import { fillPage } from '../fill-page.js'
import type { Service } from '../service.js'
import { accountOf, idOf, listAnswer, listRequestOf, type Perform } from './call.js'

/** Deliveries explained at once: each may ask the store. */
const EXPLAINED_AT_ONCE = 16

async function explained(service: Service, deliveries: readonly StoredDelivery[]) {
  const docs = []
  for (let start = 0; start < deliveries.length; start += EXPLAINED_AT_ONCE) {
    const some = deliveries.slice(start, start + EXPLAINED_AT_ONCE)
    const sentences = await Promise.all(some.map((delivery) => service.deliveries.explain(delivery)))
    docs.push(...some.map((delivery, index) => deliveryDoc(delivery, sentences[index]!)))
  }
  return docs
}

export const listDeliveries: Perform = async (call) => {
  const { service } = call
  const accountId = accountOf(call)
  const webhookId = idOf(call, 'webhookId')
  const request = listRequestOf(call)
  await service.webhooks.read(accountId, webhookId)
  const { rows, ...next } = await fillPage(
    request,
    (batch) => service.deliveries.list({ accountId, webhookId, ...batch }),
    // Filters see all but the sentence, which is for people and costs a look-up.
    (delivery) => deliveryDoc(delivery, ''),
  )
  return listAnswer({ items: await explained(service, rows), ...next }, request)
}

export const readDelivery: Perform = async (call) => {
  const delivery = await call.service.deliveries.read(accountOf(call), idOf(call, 'deliveryId'))
  return { data: deliveryDoc(delivery, await call.service.deliveries.explain(delivery)) }
}
