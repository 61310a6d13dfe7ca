/** Rows of the list of webhooks: with health where the service has it, otherwise from the plain list. */
import type { Page, WebhookSummary } from 'hookswitch/client'
import { accountPage, statusOf } from './api.js'
import type { HealthRow } from './documents.js'

interface RowFilter {
  readonly state: string
  readonly text: string
}

const PAGE_SIZE = 100

/** Whether this service has `GET webhooks/health`; found out by the first request. */
let hasHealth = true

export async function webhookRows(
  accountId: string,
  { state, text }: RowFilter,
  startKey: string | undefined,
  signal: AbortSignal,
): Promise<Page<HealthRow>> {
  const position = startKey === undefined ? {} : { startKey }
  if (hasHealth) {
    try {
      const filter = { ...(state === '' ? {} : { state }), ...(text === '' ? {} : { q: text }) }
      return await accountPage<HealthRow>(
        '/webhooks/health',
        { accountId, pageSize: PAGE_SIZE, ...filter, ...position },
        signal,
      )
    } catch (thrown) {
      if (![404, 405, 501].includes(statusOf(thrown) ?? 0)) throw thrown
      hasHealth = false
    }
  }
  const page = await accountPage<WebhookSummary>(
    '/webhooks',
    { accountId, pageSize: PAGE_SIZE, ...position },
    signal,
  )
  const rows = page.items.map(flatten)
  const needle = text.toLowerCase()
  const items = rows.filter(
    (row) =>
      (state === '' || row.state === state) &&
      `${row.name} ${row.uri} ${row.id}`.toLowerCase().includes(needle),
  )
  return { ...page, items }
}

/** A row of health, also from a document that has its health in a field of its own. */
export function flatten(
  document: HealthRow | (WebhookSummary & { readonly account_id?: string }),
): HealthRow {
  if (!('health' in document)) return document
  const { health, ...webhook } = document
  return { ...webhook, ...health }
}
