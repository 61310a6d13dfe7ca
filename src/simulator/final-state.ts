/** The final state of a run, read through the public API of one node. Checks I20 and I4 while it reads. */

import type { StoredAttempt } from '../delivery/attempt-record.js'
import type { StoredDelivery } from '../delivery/delivery-queries.js'
import type { ReplayJob } from '../delivery/replay-job.js'
import type { Hookswitch } from '../hookswitch.js'
import { addTo } from '../values/group.js'
import type { ViolationLog } from './violation.js'

export interface FinalState {
  readonly deliveries: ReadonlyMap<string, StoredDelivery>
  /** By delivery, oldest first. */
  readonly attempts: ReadonlyMap<string, readonly StoredAttempt[]>
  /** All replay jobs. */
  readonly replays: readonly ReplayJob[]
  /** Live webhooks by id. */
  readonly live: ReadonlyMap<string, { readonly accountId: string; readonly name: string }>
}

const PAGE = 97

/** Reads all pages of a list. A list that skips, repeats or is out of order is a violation. */
async function readPages<Item extends { readonly position: number; readonly id: string }>(
  violations: ViolationLog,
  list: string,
  page: (cursor: number | undefined) => Promise<readonly Item[]>,
): Promise<Item[]> {
  const all: Item[] = []
  const seen = new Set<string>()
  for (let cursor: number | undefined; ; ) {
    const items = await page(cursor)
    for (const item of items) {
      if (seen.has(item.id)) violations.add('I20', 0, `${list} show ${item.id} twice`, item.id)
      seen.add(item.id)
      if (cursor !== undefined && item.position >= cursor) {
        violations.add('I20', 0, `${list} are not newest first at ${item.id}`, item.id)
      }
      cursor = item.position
      all.push(item)
    }
    if (items.length < PAGE) return all
  }
}

/** @param webhooks all webhooks of the run, including deleted ones */
export async function readFinalState(
  hs: Hookswitch,
  accounts: readonly string[],
  webhooks: Iterable<{ readonly id: string; readonly accountId: string }>,
  violations: ViolationLog,
): Promise<FinalState> {
  const live = new Map<string, { accountId: string; name: string }>()
  for (const accountId of accounts) {
    for (const { id, name } of await hs.webhooks.list(accountId)) live.set(id, { accountId, name })
  }
  const accountOf = new Map([...webhooks].map(({ id, accountId }) => [id, accountId]))
  for (const [id, { accountId }] of live) accountOf.set(id, accountId)

  const deliveries = new Map<string, StoredDelivery>()
  const attempts = new Map<string, StoredAttempt[]>()
  const byAccount = new Map<string, Set<string>>(accounts.map((id) => [id, new Set()]))
  for (const [id, accountId] of accountOf) {
    const page = (cursor?: number) => ({ limit: PAGE, ...(cursor !== undefined && { cursor }) })
    const all = await readPages(violations, `deliveries of ${id}`, (cursor) =>
      hs.webhooks.deliveries(accountId, id, page(cursor)),
    )
    for (const delivery of all) deliveries.set(delivery.id, delivery)
    const records = await readPages(violations, `attempts of ${id}`, (cursor) =>
      hs.webhooks.attempts(accountId, id, page(cursor)),
    )
    for (const record of records.reverse()) {
      byAccount.get(accountId)?.add(record.id)
      addTo(attempts, record.deliveryId, record)
    }
  }
  for (const [accountId, expected] of byAccount) {
    const records = await readPages(violations, `attempts of ${accountId}`, (cursor) =>
      hs.webhooks.attempts(accountId, undefined, { limit: PAGE, ...(cursor !== undefined && { cursor }) }),
    )
    const found = new Set(records.map(({ id }) => id))
    for (const id of expected) {
      if (!found.has(id)) violations.add('I20', 0, `attempt ${id} is missing in the list of ${accountId}`, id)
    }
    for (const { id, deliveryId, accountId: owner } of records) {
      if (owner !== accountId)
        violations.add('I4', 0, `attempt ${id} of ${owner} is shown to ${accountId}`, id)
      if (!expected.has(id))
        violations.add('I20', 0, `attempt ${id} belongs to no webhook of ${accountId}`, id, deliveryId)
    }
  }
  return { deliveries, attempts, live, replays: await hs.replays.list({ limit: 200 }) }
}
