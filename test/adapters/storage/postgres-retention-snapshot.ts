import type { Store } from 'hookswitch/store'
import { WALL_MS } from '../../../src/testkit/conformance/sample-data.js'
import { ACCOUNTS, type HistoryState } from './postgres-retention-history.js'

/** Reads everything, through every statement of the queries. */
export async function readEverything(store: Store, { webhooks, erased, hasPruned }: HistoryState) {
  const { deliveries } = store
  const withoutPosition = <Row extends { position: number; originalPosition?: number | undefined }>(
    rows: readonly Row[],
  ) => rows.map(({ position: _position, originalPosition: _original, ...row }) => row)
  const found: Record<string, unknown> = {}
  for (const accountId of ACCOUNTS) {
    for (const ascending of [false, true]) {
      const all = await deliveries.attempts({ accountId, ascending, limit: 99 })
      found[`attempts of ${accountId} ${ascending}`] = withoutPosition(all)
      const page = { accountId, ascending, limit: 2, ...(all[1] ? { cursor: all[1].position } : {}) }
      found[`second page of ${accountId} ${ascending}`] = withoutPosition(await deliveries.attempts(page))
      const ofCalls = {
        accountId,
        ascending,
        limit: 99,
        callIds: ['account-a', 'parent-c'],
        fromMs: WALL_MS + 300,
      }
      found[`attempts of calls of ${accountId} ${ascending}`] = withoutPosition(
        await deliveries.attempts(ofCalls),
      )
    }
    const mentioned = new Set<string>()
    for (let cursor: number | undefined, more = true; more; more = cursor !== undefined) {
      const page = await deliveries.mentions(accountId, '1555a', cursor, 3)
      for (const one of page.callIds) mentioned.add(one)
      cursor = page.cursor
    }
    found[`mentions of ${accountId}`] = [...mentioned].sort()
    for (const one of ['account-a', 'account-b', 'account-c', 'parent-a', 'parent-b']) {
      // PostgreSQL derives legs from stored events, and an account has those of another account through its deliveries. After
      // an erasure, an event may still name an erased call, and an erased event no longer names one that was not. After
      // pruning, legs of deliveries that are gone are known no more; the memory store keeps them for a day.
      const mayDiffer = (id: string) => (erased.size > 0 || hasPruned) && !id.startsWith(accountId)
      const legs = await deliveries.legs(accountId, one)
      found[`legs of ${one} of ${accountId}`] = mayDiffer(one)
        ? []
        : legs.filter((id) => !mayDiffer(id)).sort()
    }
  }
  for (const { id: webhookId, accountId } of webhooks.values()) {
    for (const ascending of [false, true]) {
      const query = { accountId, webhookId, ascending, limit: 99 }
      const rows = await deliveries.deliveries(query)
      found[`deliveries of ${webhookId} ${ascending}`] = withoutPosition(rows)
      for (const states of [['exhausted'], ['waiting', 'cancelled'], ['in_flight', 'exhausted']] as const) {
        found[`${states} of ${webhookId} ${ascending}`] = (
          await deliveries.deliveries({ ...query, states, limit: 3 })
        ).map(({ id }) => id)
      }
      for (const onlyOriginals of [false, true])
        found[`count of ${webhookId} ${ascending} ${onlyOriginals}`] = await deliveries.countDeliveries({
          ...query,
          onlyOriginals,
        })
      found[`attempts of ${webhookId} ${ascending}`] = withoutPosition(await deliveries.attempts(query))
      const [row] = rows
      if (!row) continue
      found[`attempts of ${row.id} ${ascending}`] = withoutPosition(
        await deliveries.attempts({ accountId, deliveryId: row.id, ascending, limit: 9 }),
      )
      const one = await deliveries.delivery(accountId, row.id)
      found[`delivery ${row.id}`] = withoutPosition(one ? [one] : [])
    }
  }
  for (const includeRecovered of [false, true]) {
    const states = ['delivered', 'exhausted', 'cancelled'] as const
    const query = { webhookIds: [...webhooks.keys()], states, includeRecovered }
    found[`replayable ${includeRecovered}`] = [
      await deliveries.countReplayable(query),
      await deliveries.countReplayable({ ...query, reason: 'cancelled', hooks: ['channel_create'] }),
    ]
  }
  return found
}
