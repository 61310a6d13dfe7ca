/** Rows of the lists of webhooks with their health. */
import type { EndpointHealth, Page } from 'hookswitch/client'
import { accountPage } from './api.js'

/** One row of `GET webhooks/health`, or of `GET system/endpoints`. */
export type HealthRow = EndpointHealth & { readonly account_id?: string }

interface RowFilter {
  readonly state: string
  readonly text: string
}

const PAGE_SIZE = 100

export const webhookRows = (
  accountId: string,
  { state, text }: RowFilter,
  startKey: string | undefined,
  signal: AbortSignal,
): Promise<Page<HealthRow>> =>
  accountPage(
    '/webhooks/health',
    {
      accountId,
      pageSize: PAGE_SIZE,
      ...(state !== '' && { state }),
      ...(text !== '' && { q: text }),
      ...(startKey !== undefined && { startKey }),
    },
    signal,
  )
