import { GONE, type HandlerExchange, isTaken, type PlannedDelivery } from './deliver.js'
import type { ScriptedDelivery } from './prepared-delivery.js'

/** What a handler can get wrong. */
export type ProblemKind =
  /** No attempt of a good delivery was answered with 2xx. */
  | 'refused'
  /** A duplicate was not answered with 2xx: hookswitch would go on, and count failures. */
  | 'duplicate refused'
  /** A request that is not to be trusted was answered with 2xx … */
  | 'flaw accepted'
  /** … or its event was stored. */
  | 'flaw processed'
  /** Answered with 2xx, so it never comes again, but not stored. */
  | 'not processed'
  | 'processed twice'
  /** Before an event of the same call that comes before it. */
  | 'out of order'

/** One thing that a handler got wrong. */
export interface HandlerProblem {
  readonly kind: ProblemKind
  /** For people: which event of which call, and what was seen. */
  readonly message: string
}

const nameOf = ({ id, event }: ScriptedDelivery) => `${event.hook} of call ${event.callId} (webhook-id ${id})`
const seen = ({ status, error }: HandlerExchange) =>
  error === undefined ? `status ${status}` : `threw: ${error}`

/** What is wrong with the answers. */
export function judgeAnswers(
  planned: readonly PlannedDelivery[],
  exchanges: readonly HandlerExchange[],
): readonly HandlerProblem[] {
  const byDelivery = new Map<string, HandlerExchange[]>()
  for (const exchange of exchanges) {
    const known = byDelivery.get(exchange.deliveryId)
    if (known) known.push(exchange)
    else byDelivery.set(exchange.deliveryId, [exchange])
  }
  const of = ({ id }: ScriptedDelivery) => byDelivery.get(id) ?? []

  return planned.flatMap(({ delivery, flawed }) => {
    const problems: HandlerProblem[] = []
    for (const exchange of flawed ? of(flawed.delivery) : []) {
      if (!isTaken(exchange.status)) continue
      const what = `${exchange.kind}: a request for ${nameOf(flawed!.delivery)}`
      problems.push({ kind: 'flaw accepted', message: `${what} was answered with ${seen(exchange)}` })
    }
    const attempts = of(delivery)
    const last = attempts.at(-1)
    if (!last || isTaken(last.status)) return problems
    const gone = last.status === GONE ? ', which disables the webhook' : ''
    const copied = attempts.some(({ kind }) => kind === 'duplicate')
    const what = `${nameOf(delivery)}${copied ? ', which was taken before,' : ''}`
    const message = `${what} was refused, last in attempt ${last.attempt}: ${seen(last)}${gone}`
    problems.push({ kind: copied ? 'duplicate refused' : 'refused', message })
    return problems
  })
}

/**
 * What is wrong with what was processed.
 *
 * @param stored the `webhook-id` or the `event_id` of each event, in the order in which they were processed
 */
export function judgeStored(
  planned: readonly PlannedDelivery[],
  exchanges: readonly HandlerExchange[],
  stored: readonly string[],
): readonly HandlerProblem[] {
  const places = new Map<string, number[]>()
  stored.forEach((id, place) => {
    const known = places.get(id)
    if (known) known.push(place)
    else places.set(id, [place])
  })
  const of = ({ id, eventId }: ScriptedDelivery) => places.get(id) ?? places.get(eventId) ?? []
  const taken = new Set(exchanges.filter(({ status }) => isTaken(status)).map(({ deliveryId }) => deliveryId))
  /** The `webhook-id` of a flawed request may not be that of its delivery. */
  const sentAs = new Map(
    exchanges.map(({ deliveryId, request }) => [deliveryId, request.headers['webhook-id'] ?? '']),
  )
  /** By lane: the one that was processed last of those that come before. */
  const latest = new Map<string, { readonly place: number; readonly delivery: ScriptedDelivery }>()

  return planned.flatMap(({ delivery, flawed }) => {
    const problems: HandlerProblem[] = []
    const add = (kind: ProblemKind, message: string) => problems.push({ kind, message })
    if (flawed && (of(flawed.delivery).length > 0 || places.has(sentAs.get(flawed.delivery.id) ?? ''))) {
      add('flaw processed', `${flawed.flaw}: ${nameOf(flawed.delivery)} was processed`)
    }
    const found = of(delivery)
    const name = nameOf(delivery)
    if (found.length > 1) add('processed twice', `${name} was processed ${found.length} times`)
    const [place] = found
    if (place === undefined) {
      if (taken.has(delivery.id)) add('not processed', `${name} was answered with 2xx but not processed`)
      return problems
    }
    const before = latest.get(delivery.lane)
    if (before && before.place > place) {
      add('out of order', `${name} was processed before ${nameOf(before.delivery)}`)
    } else {
      latest.set(delivery.lane, { place, delivery })
    }
    return problems
  })
}
