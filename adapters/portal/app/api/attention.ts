/** The webhooks that need somebody: the service lists each state by itself. */
import type { Page } from 'hookswitch/client'
import type { HealthRow } from '../text/health-row.js'
import { unique } from '../text/trouble-first.js'

/** A list of the service. @internal */
export interface AttentionList {
  readonly state: 'failing' | 'paused' | 'disabled'
  readonly isByService?: true
}

const LISTS: readonly AttentionList[] = [
  { state: 'failing' },
  { state: 'paused' },
  { state: 'disabled', isByService: true },
]

/**
 * One page over all lists: the first pages of all of them, then the further ones list by list.
 *
 * @param startKey `nextStartKey` of the previous page
 */
export async function loadAttention(
  load: (list: AttentionList, startKey: string | undefined) => Promise<Page<HealthRow>>,
  startKey?: string,
): Promise<Page<HealthRow>> {
  /** The next key of each list; null: it has no more. */
  const keys: (string | null)[] =
    startKey === undefined ? LISTS.map(() => null) : (JSON.parse(startKey) as (string | null)[])
  const due = startKey === undefined ? [...LISTS.keys()] : [keys.findIndex((key) => key !== null)]
  const pages = await Promise.all(due.map((index) => load(LISTS[index]!, keys[index] ?? undefined)))
  due.forEach((index, at) => {
    keys[index] = pages[at]!.nextStartKey ?? null
  })
  // One that changes meanwhile may be in two lists.
  const items = unique(
    pages.flatMap((page) => page.items),
    ({ id }) => id,
  )
  return keys.every((key) => key === null) ? { items } : { items, nextStartKey: JSON.stringify(keys) }
}
