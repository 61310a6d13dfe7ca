/** Sends planned deliveries to a handler, with hookswitch's order and retries but without its pauses. */
import { groupBy } from '../../values/group.js'
import type { SeededRandom } from '../random.js'
import type { Defect } from './defects.js'
import type { PreparedDelivery } from './prepared-delivery.js'
import type { HandlerResult } from './target.js'
import type { WebhookRequest } from './webhook-request.js'

/**
 * Why a request was sent. `retry`: the previous one was refused. `duplicate`: the previous one was accepted, but its
 * response was lost. `overlap`: the previous one had timed out and was still being handled, so both run at once. A
 * `Defect`: the request is invalid.
 */
export type RequestKind = 'first' | 'retry' | 'duplicate' | 'overlap' | Defect

/** One request and its response: `status`, or `error` if there was none. */
export interface HandlerExchange extends HandlerResult {
  /** Why the request was sent. */
  readonly kind: RequestKind
  /** The request that was sent. */
  readonly request: WebhookRequest
  /** `id` of its delivery. */
  readonly deliveryId: string
  /** Attempt number, 1, 2, … */
  readonly attempt: number
}

/** How one delivery is sent. Drawn before anything is sent, so it does not depend on the handler. */
export interface PlannedDelivery {
  readonly delivery: PreparedDelivery
  readonly isDuplicated: boolean
  readonly isOverlapped: boolean
  /** An invalid request that is sent first: the same event with other ids. */
  readonly defective?: { readonly delivery: PreparedDelivery; readonly defect: Defect }
}

interface DeliverDeps {
  send(request: WebhookRequest): Promise<HandlerResult>
  buildRequest(delivery: PreparedDelivery, attempt: number, defect?: Defect): WebhookRequest
}

/**
 * Sends all deliveries: one lane in order, lanes in random order, refused requests again until `maxAttempts`.
 *
 * @param limits.maxAttempts per delivery; a duplicate has its own retries up to the same attempt number
 * @param limits.concurrency lanes that are being sent at once
 * @returns every exchange, in the order in which they began
 */
export async function deliverAll(
  planned: readonly PlannedDelivery[],
  deps: DeliverDeps,
  limits: { readonly maxAttempts: number; readonly concurrency: number; readonly order: SeededRandom },
): Promise<readonly HandlerExchange[]> {
  const { maxAttempts, concurrency, order } = limits
  const exchanges: HandlerExchange[] = []
  const idleLanes = [...groupBy(planned, ({ delivery }) => delivery.lane).values()]
  await Promise.all(Array.from({ length: concurrency }, work))
  return exchanges

  /** A worker ends when no lane is idle: every other lane has a worker, which continues with it. */
  async function work(): Promise<void> {
    while (idleLanes.length > 0) {
      const [lane] = idleLanes.splice(order.integer(0, idleLanes.length - 1), 1)
      await deliver(lane!.shift()!)
      if (lane!.length > 0) idleLanes.push(lane!)
    }
  }

  async function deliver({
    delivery,
    isDuplicated,
    isOverlapped,
    defective,
  }: PlannedDelivery): Promise<void> {
    if (defective) await send(defective.delivery, 1, defective.defect, defective.defect)
    const attempt = isOverlapped ? 2 : 1
    const first = send(delivery, 1, 'first')
    const latest = isOverlapped ? send(delivery, 2, 'overlap') : first
    const [, result] = await Promise.all([first, latest])
    const accepted = await retry(delivery, attempt, result)
    if (accepted === undefined || !isDuplicated) return
    await retry(delivery, accepted + 1, await send(delivery, accepted + 1, 'duplicate'))
  }

  /** Retries a refused request. Resolves to the number of the accepted attempt, or undefined. */
  async function retry(
    delivery: PreparedDelivery,
    sentAttempt: number,
    result: HandlerResult,
  ): Promise<number | undefined> {
    let attempt = sentAttempt
    for (let { status } = result; !isSuccess(status); ) {
      if (attempt >= maxAttempts || status === GONE) return undefined
      attempt += 1
      status = (await send(delivery, attempt, 'retry')).status
    }
    return attempt
  }

  async function send(
    delivery: PreparedDelivery,
    attempt: number,
    kind: RequestKind,
    defect?: Defect,
  ): Promise<HandlerResult> {
    const request = deps.buildRequest(delivery, attempt, defect)
    const index = exchanges.push({ kind, request, deliveryId: delivery.id, attempt }) - 1
    const result = await deps.send(request)
    exchanges[index] = { ...exchanges[index]!, ...result }
    return result
  }
}

/** The status with which a receiver disables its webhook. */
export const GONE = 410

/** Whether hookswitch counts this status as a success. */
export function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300
}
