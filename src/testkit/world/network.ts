import type { Observation, Sender, SendRequest } from '../../ports.js'
import type { SeededRandom } from '../random.js'
import type { Ledger, Sight } from './ledger.js'
import type { Connect } from './names.js'
import type { NodeLife } from './node-life.js'
import type { RunQueue } from './run-queue.js'
import type { Trace } from './trace.js'

/** What the network does to one request. */
export type NetworkFate = 'refused' | 'reset' | 'answer lost' | 'dns' | 'tls' | 'own fault' | 'black hole'

export interface NetworkDoors {
  readonly queue: RunQueue
  readonly ledger: Ledger
  readonly trace: Trace
  readonly random: SeededRandom
  readonly connect: Connect
  fateOf(life: NodeLife): NetworkFate | undefined
  /** A request begins, ends: with all that is in flight of this life. */
  watch(life: NodeLife, inFlight: ReadonlyMap<string, number>, total: number, group: string): void
}

const BEFORE: Partial<Record<NetworkFate, Observation>> = {
  refused: { kind: 'no_response', failure: 'connection', detail: 'refused' },
  dns: { kind: 'no_response', failure: 'dns', detail: 'SERVFAIL' },
  tls: { kind: 'no_response', failure: 'tls', detail: 'certificate expired' },
  'own fault': { kind: 'own_fault', detail: 'EMFILE' },
}
const RESET: Observation = { kind: 'no_response', failure: 'connection', detail: 'reset' }
const TIMEOUT: Observation = { kind: 'no_response', failure: 'timeout', detail: 'deadline' }
const GONE = 410
const WITHDRAWN: Observation = { kind: 'withdrawn' }

/** The sender of one life of a node, over a simulated network; and how many of its requests are open. */
export function networkSender(
  doors: NetworkDoors,
  life: NodeLife,
): Sender & { open(): number; readonly name: string } {
  const { queue, ledger, trace, random } = doors
  const open = new Set<{ readonly group: string; isOnWire: boolean; end(seen: Observation): void }>()
  const inFlight = new Map<string, number>()
  let isClosed = false

  function count(group: string, by: number): void {
    const now = (inFlight.get(group) ?? 0) + by
    if (now === 0) inFlight.delete(group)
    else inFlight.set(group, now)
    if (by > 0) doors.watch(life, inFlight, open.size, group)
  }

  function send(request: SendRequest): Promise<Observation> {
    return new Promise((resolve) => {
      if (!life.isAlive()) return
      const { group, deadlineMs } = request
      let sight: Sight | undefined
      const flight = {
        group,
        isOnWire: false,
        end(seen: Observation) {
          if (!open.delete(flight)) return
          deadline.cancel()
          count(group, -1)
          life.deliver(() => {
            if (sight) {
              sight.doneMs = queue.now()
              sight.isHeard = seen.kind === 'response'
            }
            resolve(seen)
          })
        },
      }
      open.add(flight)
      count(group, 1)
      const deadline = queue.after(deadlineMs, () => flight.end(TIMEOUT))
      const fate = isClosed ? 'refused' : doors.fateOf(life)
      queue.after(0.2 + random.exponential(2), () => {
        if (!open.has(flight)) return
        flight.isOnWire = true
        if (fate === 'black hole') return
        const early = fate && BEFORE[fate]
        if (early) return flight.end(early)
        doors.connect(life, hostOf(request.url)).then(reach)
      })
      function reach(to: Awaited<ReturnType<Connect>>): void {
        if (!open.has(flight)) return
        if ('kind' in to) {
          flight.end(to)
          return
        }
        const reply = to.reply(queue.now())
        if (reply.arrives) sight = arrive(request)
        queue.after(reply.tookMs, () => {
          const status = reply.seen.kind === 'response' ? reply.seen.status : 0
          if (sight) sight.status = status
          if (sight && status === GONE) ledger.gone.add(sight.webhook)
          flight.end(fate === 'reset' || fate === 'answer lost' ? RESET : reply.seen)
        })
      }
    })
  }

  function arrive(request: SendRequest): Sight {
    const header = headersOf(request.headers)
    const sight: Sight = {
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
      isHeard: false,
    }
    ledger.sights.push(sight)
    trace.step(
      queue.now(),
      `request ${sight.attempt} arrives from ${life.name}`,
      sight.delivery,
      sight.webhook,
    )
    return sight
  }

  return {
    name: life.name,
    open: () => open.size,
    send,
    withdraw(group) {
      for (const flight of [...open]) {
        if (flight.group === group && !flight.isOnWire) flight.end(WITHDRAWN)
      }
    },
    async close() {
      isClosed = true
      for (const flight of [...open]) flight.end(RESET)
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
