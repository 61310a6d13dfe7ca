/** Keeps the rows of an account's webhooks up to date by its live stream. Without a stream the timer of the list remains. */

import type { PagedList } from '../state/paged-list.js'
import { useStreamItems } from '../state/stream-items.js'
import type { HealthRow } from '../text/health-row.js'
import { withAttempts } from '../text/live-items.js'

/** While attempts happen all the time. */
const BATCH_MS = 1_000

interface FollowListProps {
  readonly accountId: string
  readonly list: PagedList<HealthRow>
}

export function FollowList({ accountId, list }: FollowListProps) {
  useStreamItems({ accountId, batchMs: BATCH_MS }, (items) => {
    list.items.value = withAttempts(list.items.peek(), items)
    list.refresh()
  })
  return null
}
