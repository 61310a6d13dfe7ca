import type { Observation, Sender, SendRequest } from '../../src/ports.js'

/** A request of a sender whose requests wait for a connection before a byte of them is on the wire. */
export interface Staged {
  readonly request: SendRequest
  /** A connection is there: from now on it cannot be withdrawn. */
  connect(): void
  /** What is seen of it; it must be on the wire. */
  answer(seen: Observation): void
}

export interface StagedSender extends Sender {
  /** Waiting for a connection, in the order of sending. */
  readonly waiting: Staged[]
  /** On the wire, without an answer yet. */
  readonly wired: Staged[]
  /** Whatever was on the wire once: what a receiver may have seen. */
  readonly seen: SendRequest[]
  /** Groups that were withdrawn, in order. */
  readonly withdrawals: string[]
  /** Ends what waits of every group, although nobody withdrew it. */
  withdrawAll(): void
}

/** A sender in two stages, under the test's hand. */
export function stagedSender(): StagedSender {
  const endings = new Map<Staged, (seen: Observation) => void>()
  const end = (list: Staged[], one: Staged, seen: Observation) => {
    const at = list.indexOf(one)
    if (at < 0) throw new Error('this request is not there any more')
    list.splice(at, 1)
    endings.get(one)!(seen)
    endings.delete(one)
  }
  const endWaiting = (fits: (one: Staged) => boolean) => {
    for (const one of sender.waiting.filter(fits)) end(sender.waiting, one, { kind: 'withdrawn' })
  }
  const sender: StagedSender = {
    waiting: [],
    wired: [],
    seen: [],
    withdrawals: [],
    send: (request) =>
      new Promise((resolve) => {
        const one: Staged = {
          request,
          connect() {
            sender.waiting.splice(sender.waiting.indexOf(one), 1)
            sender.wired.push(one)
            sender.seen.push(request)
          },
          answer: (seen) => end(sender.wired, one, seen),
        }
        endings.set(one, resolve)
        sender.waiting.push(one)
      }),
    withdraw(group) {
      sender.withdrawals.push(group)
      endWaiting(({ request }) => request.group === group)
    },
    withdrawAll: () => endWaiting(() => true),
    async close() {
      const gone: Observation = { kind: 'no_response', failure: 'connection', detail: 'closed' }
      for (const one of [...sender.waiting]) end(sender.waiting, one, gone)
      for (const one of [...sender.wired]) end(sender.wired, one, gone)
    },
  }
  return sender
}
