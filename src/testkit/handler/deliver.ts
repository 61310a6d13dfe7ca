import type { SeededRandom } from '../random.js'
import type { Flaw } from './flaws.js'
import type { PreparedDelivery } from './prepared-delivery.js'
import type { Answered } from './target.js'
import type { WebhookRequest } from './webhook-request.js'

/**
 * Why a request was sent. `retry`: the one before was refused. `duplicate`: it was taken, but its answer was lost.
 * `overlap`: it was still being handled when time was up, so both are there at once. Or what is wrong with it.
 */
export type RequestKind = 'first' | 'retry' | 'duplicate' | 'overlap' | Flaw

/** One request with its answer. */
export interface HandlerExchange extends Answered {
  readonly kind: RequestKind
  readonly request: WebhookRequest
  readonly deliveryId: string
  readonly attempt: number
}

/** What happens to one delivery, drawn before anything is sent: so it does not depend on the handler. */
export interface PlannedDelivery {
  readonly delivery: PreparedDelivery
  readonly duplicated: boolean
  readonly overlapped: boolean
  /** Comes before it: of the same event, but under ids of its own. */
  readonly flawed?: { readonly delivery: PreparedDelivery; readonly flaw: Flaw }
}

export interface DeliverDoors {
  ask(request: WebhookRequest): Promise<Answered>
  request(delivery: PreparedDelivery, attempt: number, flaw?: Flaw): WebhookRequest
}

/**
 * Sends everything as hookswitch does: those of a lane one after the other, lanes in any order, what is refused again
 * until the budget is spent.
 *
 * @param rules.mostAttempts of one delivery
 * @returns every exchange, in the order in which they were begun
 */
export async function deliverAll(
  planned: readonly PlannedDelivery[],
  doors: DeliverDoors,
  rules: { readonly mostAttempts: number; readonly concurrency: number; readonly order: SeededRandom },
): Promise<readonly HandlerExchange[]> {
  const { mostAttempts, concurrency, order } = rules
  const exchanges: HandlerExchange[] = []
  const lanes = new Map<string, PlannedDelivery[]>()
  for (const one of planned) {
    const lane = lanes.get(one.delivery.lane)
    if (lane) lane.push(one)
    else lanes.set(one.delivery.lane, [one])
  }
  const free = [...lanes.values()]
  await Promise.all(Array.from({ length: concurrency }, work))
  return exchanges

  /** Where no lane is free each is in the hands of a worker, who goes on with it. */
  async function work(): Promise<void> {
    while (free.length > 0) {
      const [lane] = free.splice(order.integer(0, free.length - 1), 1)
      await play(lane!.shift()!)
      if (lane!.length > 0) free.push(lane!)
    }
  }

  async function play({ delivery, duplicated, overlapped, flawed }: PlannedDelivery): Promise<void> {
    if (flawed) await send(flawed.delivery, 1, flawed.flaw, flawed.flaw)
    const attempt = overlapped ? 2 : 1
    const first = send(delivery, 1, 'first')
    const latest = overlapped ? send(delivery, 2, 'overlap') : first
    const [, answer] = await Promise.all([first, latest])
    const taken = await insist(delivery, attempt, answer)
    if (taken === undefined || !duplicated) return
    await insist(delivery, taken + 1, await send(delivery, taken + 1, 'duplicate'))
  }

  /** Repeats what is refused; the number of the attempt that was taken. */
  async function insist(
    delivery: PreparedDelivery,
    sent: number,
    answer: Answered,
  ): Promise<number | undefined> {
    let attempt = sent
    for (let { status } = answer; !isTaken(status); ) {
      if (attempt >= mostAttempts || status === GONE) return undefined
      attempt += 1
      status = (await send(delivery, attempt, 'retry')).status
    }
    return attempt
  }

  async function send(
    delivery: PreparedDelivery,
    attempt: number,
    kind: RequestKind,
    flaw?: Flaw,
  ): Promise<Answered> {
    const request = doors.request(delivery, attempt, flaw)
    const place = exchanges.push({ kind, request, deliveryId: delivery.id, attempt }) - 1
    const answered = await doors.ask(request)
    exchanges[place] = { ...exchanges[place]!, ...answered }
    return answered
  }
}

/** Hookswitch disables the webhook. */
export const GONE = 410

/** Whether hookswitch takes this answer for a success. */
export function isTaken(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300
}
