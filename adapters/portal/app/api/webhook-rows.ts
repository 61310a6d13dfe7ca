/** Rows of the lists of webhooks with their health. */
import type { Page } from 'hookswitch/client'
import type { HealthRow } from '../text/health-row.js'
import { accountPage } from './api.js'

interface RowFilter {
  /** Empty: all of them. */
  readonly state: string
  /** A part of the name, URL, group or id; empty: all of them. */
  readonly text: string
  /** Name of the group; empty: all of them. */
  readonly group?: string
  /** Whether the service switched them off, of those in the state `disabled`. Default: both kinds. */
  readonly isByService?: boolean
  /** Most rows of a page, up to 200. Default 100 */
  readonly pageSize?: number
}

const PAGE_SIZE = 100

export const webhookRows = (
  accountId: string,
  { state, text, group = '', isByService, pageSize = PAGE_SIZE }: RowFilter,
  startKey: string | undefined,
  signal: AbortSignal,
): Promise<Page<HealthRow>> =>
  accountPage(
    '/webhooks/health',
    {
      accountId,
      pageSize,
      ...(state !== '' && { state }),
      ...(text !== '' && { q: text }),
      ...(startKey !== undefined && { startKey }),
      filter: {
        ...(group !== '' && { filter_group: group }),
        ...(isByService !== undefined && {
          [isByService ? 'has_key' : 'key_missing']: 'disable_reason',
        }),
      },
    },
    signal,
  )
