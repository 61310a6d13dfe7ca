/** The webhooks of all accounts that do not get what is meant for them. */
import type { FoundEndpoint } from 'hookswitch/client'
import { shownState } from '../text/webhook-views.js'
import { page } from './api.js'

/** A row of `GET system/endpoints`, with what newer services add. */
export type FailingRow = FoundEndpoint & {
  readonly account_name?: string
  /** Code of the cause of the last failure; absent where the receiver answered. */
  readonly cause?: string
}

/** Most rows that one request returns. */
export const MOST_FAILING = 200

/**
 * @param state one of the states as they are shown; empty: all
 * @param sort `impact`: those first that hurt most
 */
export async function failingRows(
  state: string,
  sort: 'impact' | 'id',
  signal: AbortSignal,
): Promise<readonly FailingRow[]> {
  const read = async (listed: string) => {
    const parameters = {
      pageSize: MOST_FAILING,
      ...(listed !== '' && { state: listed }),
      ...(sort === 'impact' && { sort }),
    }
    return (await page<FailingRow>('/system/endpoints', parameters, signal)).items
  }
  if (state !== 'failing') {
    const rows = await read(state)
    return state === '' ? rows : rows.filter((row) => shownState(row) === state)
  }
  // Those that reject what they are sent are paused for the service, and failing for its users.
  const [failing, paused] = await Promise.all([read('failing'), read('paused')])
  const rejecting = paused.filter((row) => shownState(row) === 'failing')
  const isBefore = (a: FailingRow, b: FailingRow) =>
    sort === 'impact' ? (b.impact ?? 0) - (a.impact ?? 0) : a.id < b.id ? -1 : 1
  return [...failing, ...rejecting].sort(isBefore).slice(0, MOST_FAILING)
}
