import { reasonOf } from '../../errors.js'
import type { Log } from '../../ports.js'
import { type AttemptDeps, attempt } from '../attempt.js'
import type { FinishedAttempt } from '../commit-loop.js'
import type { QueuedDelivery } from '../queue/queued-delivery.js'

export interface WorkerDeps extends AttemptDeps {
  readonly log: Log
}

/** Sends the requests of started deliveries. */
interface Worker {
  /**
   * Sends the request of a delivery. The end of the attempt is passed to `onFinished`, once, also if no request can be built.
   *
   * @param waitMs how long an answer is waited for, ms; one that comes after the limit of an attempt is late
   * @param isOutOfOrder an earlier event of its call is not delivered
   */
  start(delivery: QueuedDelivery, waitMs: number, isOutOfOrder: boolean): void
  /** Cancels the unsent requests of a disabled or deleted webhook. */
  cancelUnsent(webhookId: string): void
}

/** @param deadlineMs limit for one attempt (DNS, connect, TLS, headers and body), in milliseconds */
export function createWorker(
  deps: WorkerDeps,
  deadlineMs: number,
  onFinished: (finished: FinishedAttempt) => void,
): Worker {
  const { log, sender } = deps
  return {
    start(delivery, waitMs, isOutOfOrder) {
      const { webhook } = delivery.endpoint
      try {
        attempt(deps, delivery, webhook, waitMs, (result) => {
          const isLate = result.durationMs > deadlineMs && result.observation.kind === 'response'
          const isPlain = !isLate && !isOutOfOrder
          const noted = isPlain
            ? result
            : { ...result, ...(isLate && { isLate }), ...(isOutOfOrder && { isOutOfOrder }) }
          onFinished({ delivery, webhook, result: noted })
        })
      } catch (thrown) {
        log.error({ reason: reasonOf(thrown), deliveryId: delivery.id }, 'building a request failed')
        onFinished({ delivery, webhook, result: undefined })
      }
    },
    cancelUnsent(webhookId) {
      try {
        sender.cancel?.(webhookId)
      } catch (thrown) {
        log.error({ reason: reasonOf(thrown), webhookId }, 'the sender could not cancel requests')
      }
    },
  }
}
