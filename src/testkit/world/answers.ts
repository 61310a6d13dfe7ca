import type { StoredAttempt } from '../../delivery/attempt-record.js'
import type { StoredDelivery } from '../../delivery/delivery-queries.js'
import type { Hookswitch } from '../../hookswitch.js'
import type { Findings } from './finding.js'

/** What the service itself tells when everything is quiet, read through its public face. */
export interface Answers {
  readonly deliveries: ReadonlyMap<string, StoredDelivery>
  /** By delivery, oldest first. */
  readonly attempts: ReadonlyMap<string, readonly StoredAttempt[]>
  /** Webhooks that there are, by id: their names. */
  readonly live: ReadonlyMap<string, { readonly accountId: string; readonly name: string }>
}

const PAGE = 97

/** Reads page after page; a list that skips, repeats or is out of order is itself a finding. */
async function pages<Item extends { readonly position: number; readonly id: string }>(
  findings: Findings,
  what: string,
  page: (cursor: number | undefined) => Promise<readonly Item[]>,
): Promise<Item[]> {
  const all: Item[] = []
  const seen = new Set<string>()
  for (let cursor: number | undefined; ; ) {
    const items = await page(cursor)
    for (const item of items) {
      if (seen.has(item.id)) findings.add('I20', 0, `${what} show ${item.id} twice`, item.id)
      seen.add(item.id)
      if (cursor !== undefined && item.position >= cursor) {
        findings.add('I20', 0, `${what} are not newest first at ${item.id}`, item.id)
      }
      cursor = item.position
      all.push(item)
    }
    if (items.length < PAGE) return all
  }
}

/** @param webhooks all that were ever heard of, deleted ones too */
export async function readAnswers(
  hs: Hookswitch,
  accounts: readonly string[],
  webhooks: Iterable<{ readonly id: string; readonly accountId: string }>,
  findings: Findings,
): Promise<Answers> {
  const live = new Map<string, { accountId: string; name: string }>()
  for (const accountId of accounts) {
    for (const { id, name } of await hs.webhooks.list(accountId)) live.set(id, { accountId, name })
  }
  const known = new Map([...webhooks].map(({ id, accountId }) => [id, accountId]))
  for (const [id, { accountId }] of live) known.set(id, accountId)

  const deliveries = new Map<string, StoredDelivery>()
  const attempts = new Map<string, StoredAttempt[]>()
  const byAccount = new Map<string, Set<string>>(accounts.map((id) => [id, new Set()]))
  for (const [id, accountId] of known) {
    const page = (cursor?: number) => ({ limit: PAGE, ...(cursor !== undefined && { cursor }) })
    const all = await pages(findings, `deliveries of ${id}`, (cursor) =>
      hs.webhooks.deliveries(accountId, id, page(cursor)),
    )
    for (const delivery of all) deliveries.set(delivery.id, delivery)
    const records = await pages(findings, `attempts of ${id}`, (cursor) =>
      hs.webhooks.attempts(accountId, id, page(cursor)),
    )
    for (const record of records.reverse()) {
      byAccount.get(accountId)?.add(record.id)
      const others = attempts.get(record.deliveryId)
      if (others) others.push(record)
      else attempts.set(record.deliveryId, [record])
    }
  }
  for (const [accountId, expected] of byAccount) {
    const records = await pages(findings, `attempts of ${accountId}`, (cursor) =>
      hs.webhooks.attempts(accountId, undefined, { limit: PAGE, ...(cursor !== undefined && { cursor }) }),
    )
    const found = new Set(records.map(({ id }) => id))
    for (const id of expected) {
      if (!found.has(id)) findings.add('I20', 0, `attempt ${id} is missing in the list of ${accountId}`, id)
    }
    for (const { id, deliveryId, accountId: whose } of records) {
      if (whose !== accountId) findings.add('I4', 0, `attempt ${id} of ${whose} is shown to ${accountId}`, id)
      if (!expected.has(id))
        findings.add('I20', 0, `attempt ${id} is of no webhook of ${accountId}`, id, deliveryId)
    }
  }
  return { deliveries, attempts, live }
}
