/** Sends a test to a webhook, and waits for what its server answers. */
import type { Attempt, Webhook } from 'hookswitch/client'
import { accountPage, accountRequest } from './api.js'

/** How long an answer is waited for: longer than the service listens to a server that answers late, ms. */
const MOST_MS = 40_000
const ASK_AGAIN_MS = 700

/** What came of a test. */
export interface TestResult {
  readonly deliveryId: string
  /** The request; `undefined`: none was sent in time. */
  readonly attempt?: Attempt
  /** Why no connection could be made, so that nothing was sent. */
  readonly checkCause?: string
}

interface Address {
  readonly accountId: string
  readonly webhookId: string
}

/** @throws when the signal is aborted */
export async function testWebhook(address: Address, signal: AbortSignal): Promise<TestResult> {
  const { accountId } = address
  const readWebhook = () => accountRequest<Webhook>('GET', '/webhooks/{webhook_id}', { ...address }, signal)
  const before = (await readWebhook()).health.checked_at
  const { delivery_id: deliveryId } = await accountRequest<{ readonly delivery_id: string }>(
    'PUT',
    '/webhooks/{webhook_id}/test',
    { ...address, data: {} },
    signal,
  )
  for (const endMs = Date.now() + MOST_MS; Date.now() < endMs; await pause(ASK_AGAIN_MS, signal)) {
    const { items } = await accountPage<Attempt>(
      '/deliveries/{delivery_id}/attempts',
      { accountId, deliveryId },
      signal,
    )
    const [attempt] = items
    if (attempt) return { deliveryId, attempt }
    // In a pause of a server that cannot be reached nothing is sent before a connection stands.
    const { checked_at: checkedAt, check_cause: checkCause } = (await readWebhook()).health
    if (checkCause !== undefined && checkedAt !== before) return { deliveryId, checkCause }
  }
  return { deliveryId }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}
