/** Sends a test event and waits for the answer of the receiver. */
import type { Attempt } from 'hookswitch/client'
import { accountItems, accountRequest } from './api.js'

/** Longer than the service waits for an answer. */
const MAX_WAIT_MS = 40_000
const FIRST_PAUSE_MS = 150
const MAX_PAUSE_MS = 1_500

/** The test with its answer. */
export interface TestResult {
  readonly deliveryId: string
  /** The first request and its answer. Absent: none within 40 s, such as behind other tests. */
  readonly attempt?: Attempt
}

/** @param signal ends the wait; the event is sent nevertheless. @throws the error of the service */
export async function sendTest(
  accountId: string,
  webhookId: string,
  signal?: AbortSignal,
): Promise<TestResult> {
  const { delivery_id: deliveryId } = await accountRequest<{ readonly delivery_id: string }>(
    'PUT',
    '/webhooks/{webhook_id}/test',
    { accountId, webhookId, data: {} },
    signal,
  )
  const endMs = Date.now() + MAX_WAIT_MS
  for (let pauseMs = FIRST_PAUSE_MS; Date.now() < endMs; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    const [attempt] = await accountItems<Attempt>(
      '/deliveries/{delivery_id}/attempts',
      { accountId, deliveryId },
      1,
      signal,
    )
    if (attempt) return { deliveryId, attempt }
  }
  return { deliveryId }
}
