/** The webhooks of all accounts that do not get what is meant for them. */
import type { FoundEndpoint } from 'hookswitch/client'
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
 * @param state one of the states; empty: all
 * @param sort `waiting`: those for which most waits first
 */
export async function failingRows(
  state: string,
  sort: 'waiting' | 'id',
  signal: AbortSignal,
): Promise<readonly FailingRow[]> {
  const { items } = await page<FailingRow>(
    '/system/endpoints',
    { pageSize: MOST_FAILING, ...(state !== '' && { state }), ...(sort === 'waiting' && { sort }) },
    signal,
  )
  return items
}
