/** The simulated network: one sender per life of a node, over simulated connections, receivers and faults. */

import type { Observation, Sender, SendRequest } from '../ports.js'
import type { SeededRandom } from '../testkit/random.js'
import type { Connect } from './connect.js'
import type { ReceivedRequest, RunHistory } from './history.js'
import type { NodeLife } from './node-life.js'
import { REFUSED } from './receivers.js'
import type { RunQueue } from './run-queue.js'
import type { Trace } from './trace.js'

/** The effect of network faults on one request. */
export type NetworkEffect =
  | 'refused'
  | 'closed'
  | 'reset'
  | 'answer lost'
  | 'dns'
  | 'tls'
  | 'own fault'
  | 'black hole'

export interface NetworkDeps {
  readonly queue: RunQueue
  readonly history: RunHistory
  readonly trace: Trace
  readonly random: SeededRandom
  readonly connect: Connect
  effectOf(life: NodeLife): NetworkEffect | undefined
  /** Called when a request starts, with the requests in flight of this node by group, and their total. */
  requestStarted(life: NodeLife, inFlight: ReadonlyMap<string, number>, total: number, group: string): void
  /** Called when the service sends an attempt, before anything of it is on the wire. */
  sent(life: NodeLife, delivery: string, attempt: number): void
}

/** Effects that end a request before it reaches its receiver. */
const EARLY: Partial<Record<NetworkEffect, Observation>> = {
  refused: REFUSED,
  closed: { kind: 'no_response', failure: 'connection', detail: 'closed' },
  dns: { kind: 'no_response', failure: 'dns', detail: 'SERVFAIL' },
  tls: { kind: 'no_response', failure: 'tls', detail: 'certificate expired' },
  'own fault': { kind: 'own_fault', detail: 'EMFILE' },
}
const RESET: Observation = { kind: 'no_response', failure: 'connection', detail: 'reset' }
const TIMEOUT: Observation = { kind: 'no_response', failure: 'timeout', detail: 'deadline' }
const GONE = 410
const CANCELLED: Observation = { kind: 'cancelled' }

/** Creates the sender of one life of a node; `open` counts its requests in flight. */
export function createNetworkSender(
  deps: NetworkDeps,
  life: NodeLife,
): Sender & { open(): number; readonly name: string } {
  const { queue, history, trace, random } = deps
  const open = new Set<{ readonly group: string; isOnWire: boolean; end(observation: Observation): void }>()
  const inFlight = new Map<string, number>()
  let isClosed = false

  function count(group: string, by: number): void {
    const now = (inFlight.get(group) ?? 0) + by
    if (now === 0) inFlight.delete(group)
    else inFlight.set(group, now)
    if (by > 0) deps.requestStarted(life, inFlight, open.size, group)
  }

  function send(request: SendRequest): Promise<Observation> {
    return new Promise((resolve) => {
      if (!life.isAlive()) return
      const { group, deadlineMs } = request
      const header = headersOf(request.headers)
      deps.sent(life, header('webhook-id'), Number(header('X-Hook-Attempt')))
      let received: ReceivedRequest | undefined
      const pending = {
        group,
        isOnWire: false,
        end(observation: Observation) {
          if (!open.delete(pending)) return
          deadline.cancel()
          count(group, -1)
          life.deliver(() => {
            if (received) {
              received.doneMs = queue.now()
              received.isAcknowledged = observation.kind === 'response'
            }
            resolve(observation)
          })
        },
      }
      open.add(pending)
      count(group, 1)
      const deadline = queue.after(deadlineMs, () => pending.end(TIMEOUT))
      const effect = isClosed ? 'refused' : deps.effectOf(life)
      queue.after(0.2 + random.exponential(2), () => {
        if (!open.has(pending)) return
        pending.isOnWire = true
        if (effect === 'black hole') return
        const early = effect && EARLY[effect]
        if (early) return pending.end(early)
        deps.connect(life, hostOf(request.url)).then(reach)
      })
      function reach(target: Awaited<ReturnType<Connect>>): void {
        if (!open.has(pending)) return
        if ('kind' in target) {
          pending.end(target)
          return
        }
        const reply = target.reply(queue.now())
        if (reply.reachesReceiver) received = receive(request)
        queue.after(reply.afterMs, () => {
          const status = reply.observation.kind === 'response' ? reply.observation.status : 0
          if (received) received.status = status
          if (received && status === GONE) history.gone.add(received.webhook)
          pending.end(effect === 'reset' || effect === 'answer lost' ? RESET : reply.observation)
        })
      }
    })
  }

  function receive(request: SendRequest): ReceivedRequest {
    const header = headersOf(request.headers)
    const received: ReceivedRequest = {
      atMs: queue.now(),
      node: life.name,
      webhook: header('X-Hook-ID'),
      account: header('X-Account-ID'),
      delivery: header('webhook-id'),
      attempt: Number(header('X-Hook-Attempt')),
      timestamp: Number(header('webhook-timestamp')),
      body: request.body ?? '',
      status: 0,
      doneMs: Number.POSITIVE_INFINITY,
      isAcknowledged: false,
    }
    history.requests.push(received)
    trace.step(
      queue.now(),
      `request ${received.attempt} arrives from ${life.name}`,
      received.delivery,
      received.webhook,
    )
    return received
  }

  return {
    name: life.name,
    open: () => open.size,
    send,
    cancel(group) {
      for (const pending of [...open]) {
        if (pending.group === group && !pending.isOnWire) pending.end(CANCELLED)
      }
    },
    async close() {
      isClosed = true
      for (const pending of [...open]) pending.end(RESET)
    },
  }
}

function hostOf(url: string): string {
  const from = url.indexOf('//') + 2
  const to = url.indexOf('/', from)
  return url.slice(from, to < 0 ? undefined : to)
}

function headersOf(headers: readonly string[]): (name: string) => string {
  return (name) => {
    const at = headers.findIndex((text, index) => index % 2 === 0 && text === name)
    return at < 0 ? '' : headers[at + 1]!
  }
}
