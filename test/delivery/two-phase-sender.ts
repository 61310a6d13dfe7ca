import type { Observation, Sender, SendRequest } from '../../src/ports.js'

/** A request that waits for a connection first, and for its answer after its first byte is on the wire. */
export interface TwoPhaseRequest {
  readonly request: SendRequest
  /** Puts the request on the wire: from then on it cannot be cancelled. */
  connect(): void
  /** Ends a request that is on the wire. */
  answer(observation: Observation): void
}

export interface TwoPhaseSender extends Sender {
  /** Requests that wait for a connection, in the order of sending. */
  readonly waiting: TwoPhaseRequest[]
  /** Requests on the wire without an answer. */
  readonly onWire: TwoPhaseRequest[]
  /** Every request that was ever on the wire: what a receiver may have seen. */
  readonly sent: SendRequest[]
  /** The groups passed to `cancel`, in order. */
  readonly cancellations: string[]
  /** Ends all waiting requests as cancelled although nobody called `cancel`. */
  cancelAll(): void
}

/** A sender whose requests the test connects and answers one by one. */
export function createTwoPhaseSender(): TwoPhaseSender {
  const resolvers = new Map<TwoPhaseRequest, (observation: Observation) => void>()
  const end = (list: TwoPhaseRequest[], request: TwoPhaseRequest, observation: Observation) => {
    const index = list.indexOf(request)
    if (index < 0) throw new Error('this request is in another phase or has ended')
    list.splice(index, 1)
    resolvers.get(request)!(observation)
    resolvers.delete(request)
  }
  const cancelWaiting = (isCancelled: (request: TwoPhaseRequest) => boolean) => {
    for (const request of sender.waiting.filter(isCancelled))
      end(sender.waiting, request, { kind: 'cancelled' })
  }
  const sender: TwoPhaseSender = {
    waiting: [],
    onWire: [],
    sent: [],
    cancellations: [],
    send: (request) =>
      new Promise((resolve) => {
        const twoPhase: TwoPhaseRequest = {
          request,
          connect() {
            sender.waiting.splice(sender.waiting.indexOf(twoPhase), 1)
            sender.onWire.push(twoPhase)
            sender.sent.push(request)
          },
          answer: (observation) => end(sender.onWire, twoPhase, observation),
        }
        resolvers.set(twoPhase, resolve)
        sender.waiting.push(twoPhase)
      }),
    cancel(group) {
      sender.cancellations.push(group)
      cancelWaiting(({ request }) => request.group === group)
    },
    cancelAll: () => cancelWaiting(() => true),
    async close() {
      const closed: Observation = { kind: 'no_response', failure: 'connection', detail: 'closed' }
      for (const request of [...sender.waiting]) end(sender.waiting, request, closed)
      for (const request of [...sender.onWire]) end(sender.onWire, request, closed)
    },
  }
  return sender
}
