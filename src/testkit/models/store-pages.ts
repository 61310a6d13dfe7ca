import type { DeliveryStore } from '../../delivery/delivery-store.js'
import type { StoreCall } from './store-calls.js'

/** Most pages of a list: a cursor that stands still would be followed for ever. */
const MOST_PAGES = 1_000

/** Every page, one behind the other. */
async function allPages<Row extends { readonly position: number }>(
  page: (cursor: { cursor?: number }) => Promise<readonly Row[]>,
  size: number,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let count = 0; count < MOST_PAGES; count += 1) {
    const last = rows.at(-1)
    const more = await page(last ? { cursor: last.position } : {})
    rows.push(...more)
    if (more.length < size) return rows
  }
  throw new Error(`a list has more than ${MOST_PAGES} pages of ${size}`)
}

/** The deliveries of a webhook as a naive store tells them, read page by page. */
export async function pagesOfDeliveries(
  store: DeliveryStore,
  accountId: string,
  { webhookId, ascending, size }: Extract<StoreCall, { do: 'deliveries' }>,
): Promise<unknown> {
  const query = { accountId, webhookId, ascending, limit: size }
  const rows = await allPages((cursor) => store.deliveries({ ...query, ...cursor }), size)
  return rows.map(({ id, state, reason, attempts, fence, ahead }) => ({
    id,
    state,
    reason,
    attempts,
    fence,
    ahead,
  }))
}

/** Ids of records, read page by page. */
export async function pagesOfAttempts(
  store: DeliveryStore,
  accountId: string,
  { webhookId, callId, ascending, size }: Extract<StoreCall, { do: 'attempts' }>,
): Promise<unknown> {
  const query = {
    accountId,
    ascending,
    limit: size,
    ...(webhookId !== undefined && { webhookId }),
    ...(callId !== undefined && { callIds: [callId] }),
  }
  const rows = await allPages((cursor) => store.attempts({ ...query, ...cursor }), size)
  return rows.map(({ id }) => id)
}
