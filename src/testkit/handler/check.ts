/** Compares what a handler answered and processed with what was sent. */
import { groupBy } from '../../values/group.js'
import { GONE, type HandlerExchange, isSuccess, type PlannedDelivery } from './deliver.js'
import type { ScriptedDelivery } from './prepared-delivery.js'

/** Kinds of error of a handler. */
export type ProblemKind =
  /** No attempt of a valid delivery was answered with 2xx. */
  | 'refused'
  /** A duplicate was not answered with 2xx: hookswitch would retry it, and count failures. */
  | 'duplicate refused'
  /** An invalid request was answered with 2xx. */
  | 'defect accepted'
  /** The event of an invalid request was processed. */
  | 'defect processed'
  /** Answered with 2xx, so never sent again, but not processed. */
  | 'not processed'
  /** Processed more than once. */
  | 'processed twice'
  /** Processed before an earlier event of the same call. */
  | 'out of order'

/** One error of a handler. */
export interface HandlerProblem {
  /** What kind of error it is. */
  readonly kind: ProblemKind
  /** For humans: the event, its call, its `webhook-id`, and what the handler did. */
  readonly message: string
}

const nameOf = ({ id, event }: ScriptedDelivery) => `${event.hook} of call ${event.callId} (webhook-id ${id})`
const resultOf = ({ status, error }: HandlerExchange) =>
  error === undefined ? `status ${status}` : `threw: ${error}`

/** Finds wrong responses. */
export function checkResponses(
  planned: readonly PlannedDelivery[],
  exchanges: readonly HandlerExchange[],
): readonly HandlerProblem[] {
  const byDelivery = groupBy(exchanges, ({ deliveryId }) => deliveryId)
  const exchangesOf = ({ id }: ScriptedDelivery) => byDelivery.get(id) ?? []

  return planned.flatMap(({ delivery, defective }) => {
    const problems: HandlerProblem[] = []
    for (const exchange of defective ? exchangesOf(defective.delivery) : []) {
      if (!isSuccess(exchange.status)) continue
      const request = `${exchange.kind}: a request for ${nameOf(defective!.delivery)}`
      problems.push({
        kind: 'defect accepted',
        message: `${request} was answered with ${resultOf(exchange)}`,
      })
    }
    const attempts = exchangesOf(delivery)
    const last = attempts.at(-1)
    if (!last || isSuccess(last.status)) return problems
    const disables = last.status === GONE ? ', which disables the webhook' : ''
    const isDuplicate = attempts.some(({ kind }) => kind === 'duplicate')
    const name = `${nameOf(delivery)}${isDuplicate ? ', which had been accepted,' : ''}`
    const message = `${name} was refused, last in attempt ${last.attempt}: ${resultOf(last)}${disables}`
    problems.push({ kind: isDuplicate ? 'duplicate refused' : 'refused', message })
    return problems
  })
}

/**
 * Finds events that were processed wrongly.
 *
 * @param processed the `webhook-id` or the `event_id` of each event, in the order in which they were processed
 */
export function checkProcessed(
  planned: readonly PlannedDelivery[],
  exchanges: readonly HandlerExchange[],
  processed: readonly string[],
): readonly HandlerProblem[] {
  const positions = groupBy(processed.keys(), (position) => processed[position]!)
  const positionsOf = ({ id, eventId }: ScriptedDelivery) => positions.get(id) ?? positions.get(eventId) ?? []
  const accepted = new Set(
    exchanges.filter(({ status }) => isSuccess(status)).map(({ deliveryId }) => deliveryId),
  )
  /** By delivery id. The defect 'altered id' sends another `webhook-id`. */
  const sentIds = new Map(
    exchanges.map(({ deliveryId, request }) => [deliveryId, request.headers['webhook-id'] ?? '']),
  )
  /** By lane: of the earlier deliveries the one that was processed last. */
  const latest = new Map<string, { readonly position: number; readonly delivery: ScriptedDelivery }>()

  return planned.flatMap(({ delivery, defective }) => {
    const problems: HandlerProblem[] = []
    const add = (kind: ProblemKind, message: string) => problems.push({ kind, message })
    if (
      defective &&
      (positionsOf(defective.delivery).length > 0 || positions.has(sentIds.get(defective.delivery.id) ?? ''))
    ) {
      add('defect processed', `${defective.defect}: ${nameOf(defective.delivery)} was processed`)
    }
    const found = positionsOf(delivery)
    const name = nameOf(delivery)
    if (found.length > 1) add('processed twice', `${name} was processed ${found.length} times`)
    const [position] = found
    if (position === undefined) {
      if (accepted.has(delivery.id)) add('not processed', `${name} was answered with 2xx but not processed`)
      return problems
    }
    const previous = latest.get(delivery.lane)
    if (previous && previous.position > position) {
      add('out of order', `${name} was processed before ${nameOf(previous.delivery)}`)
    } else {
      latest.set(delivery.lane, { position, delivery })
    }
    return problems
  })
}
