import assert from 'node:assert/strict'
import type { AttemptQuery, DeliveryQuery } from '../../delivery/delivery-queries.js'
import type { PartQuery } from '../../delivery/list-part.js'
import type { Fixture } from './fixture.js'

/** Most parts that a list of a test has. */
const MAX_PARTS = 200
/** Kinds of rows that a store may examine at once. */
const KINDS = { attempts: 1, deliveries: 4 } as const

/**
 * Reads a list part by part, up to its limit.
 *
 * @param rows of a part
 * @param read the query of the list
 */
export async function readByParts<
  Query extends AttemptQuery | DeliveryQuery,
  Row extends { readonly position: number },
>(
  { store }: Fixture,
  list: PartQuery['list'],
  query: Query,
  rows: number,
  read: (query: Query) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const { accountId, webhookId, fromMs, toMs, ascending = false, limit } = query
  const range = { ...(fromMs !== undefined && { fromMs }), ...(toMs !== undefined && { toMs }), ascending }
  const ofWebhook = { accountId, ...(webhookId !== undefined && { webhookId }) }
  const found: Row[] = []
  let { cursor } = query
  for (let parts = 1; ; parts += 1) {
    const from = cursor === undefined ? {} : { cursor }
    const part = await store.deliveries.listPart({ list, ...ofWebhook, ...range, ...from, rows })
    const bounds = { cursor: part.cursor, end: part.end }
    const inPart = await read({ ...query, ...bounds, limit: 1_000 })
    for (const { position } of inPart)
      assert.ok(ascending ? position <= part.end : position >= part.end, 'a part ends with its last position')
    assert.ok(inPart.length <= rows * KINDS[list], 'a part has no more rows than it may')
    found.push(...inPart)
    if (!part.hasMore || found.length >= limit) return found.slice(0, limit)
    assert.ok(part.end !== cursor && parts < MAX_PARTS, 'each part goes on where the one before ends')
    cursor = part.end
  }
}
