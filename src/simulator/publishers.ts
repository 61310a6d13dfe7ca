/** The hosts: they publish the events of generated calls, and repeat each publish until it is accepted. */

import { errorCode } from '../errors.js'
import type { CallGenerator, TimedEvent } from '../testkit/calls.js'
import type { CallEvent } from '../testkit/generated-call.js'
import type { RunningNode } from './cluster.js'
import type { PublishCall } from './history.js'
import type { WorkloadDeps } from './workload.js'

interface PublisherDeps extends WorkloadDeps {
  readonly startMs: number
  /** False: this call is left out of the run. */
  isIncluded(call: number): boolean
}

export interface Publishers {
  /** Publishes until `untilMs` (true time). */
  begin(calls: CallGenerator, untilMs: number): void
  /** Number of events that are not accepted yet. */
  unaccepted(): number
  /** Number of calls begun so far. */
  calls(): number
}

/** Mean delay before a host repeats a rejected publish. */
const RETRY_MS = 400

export function createPublishers(deps: PublisherDeps): Publishers {
  const { queue, trace, history, random, cluster, startMs } = deps
  /** Events to publish per leg, in order; each is published when the one before it is accepted. */
  const legs = new Map<string, TimedEvent[]>()
  const callNumbers = new Set<number>()
  let published = 0
  let unaccepted = 0

  function pickNode(): RunningNode | undefined {
    const up = cluster.up()
    return up.length === 0 ? undefined : random.pick(up)
  }

  function publish({ hs, life }: RunningNode, event: CallEvent, key: string): Promise<PublishCall> {
    return new Promise((resolve) => {
      const call: PublishCall = {
        atMs: queue.now(),
        node: life.name,
        key,
        event,
        outcome: 'open',
        doneMs: Number.POSITIVE_INFINITY,
        eventId: '',
        sequence: 0,
        isDuplicate: false,
        code: '',
        end() {
          history.open.delete(call)
          call.doneMs = queue.now()
          trace.step(
            call.doneMs,
            `publish ${key}: ${call.outcome} ${call.code}`,
            event.callId,
            call.eventId,
            life.name,
          )
          resolve(call)
        },
      }
      history.publishes.push(call)
      history.open.add(call)
      trace.step(call.atMs, `publish ${key}: ${event.hook}`, event.callId, life.name)
      hs.publish({ idempotencyKey: key, ...event }).then(
        ({ eventId, sequence, duplicate }) =>
          finish(call, { outcome: 'accepted', eventId, sequence, isDuplicate: duplicate }),
        (thrown) => {
          const code = errorCode(thrown) ?? String(thrown)
          // A store that does not answer may have accepted the event.
          finish(call, { outcome: code === 'StoreUnavailable' ? 'unknown' : 'rejected', code })
        },
      )
    })
  }

  function finish(call: PublishCall, result: Partial<PublishCall>): void {
    if (call.outcome !== 'open') return
    Object.assign(call, result)
    call.end()
  }

  async function publishUntilAccepted(event: CallEvent, key: string): Promise<void> {
    for (;;) {
      const node = pickNode()
      if (node) {
        const second = random.chance(0.03) ? pickNode() : undefined
        const calls = [publish(node, event, key)]
        // Two hosts that both saw the event.
        if (second) calls.push(publish(second, event, key))
        const ended = await Promise.all(calls)
        if (ended.some(({ outcome }) => outcome === 'accepted')) return
      }
      await queue.sleep(RETRY_MS * (0.5 + random.fraction()))
    }
  }

  async function publishLeg(callId: string, waiting: TimedEvent[]): Promise<void> {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      await publishUntilAccepted(next.event, `${next.call.number}-${++published}`)
      unaccepted -= 1
    }
    legs.delete(callId)
  }

  function enqueue(timed: TimedEvent): void {
    callNumbers.add(timed.call.number)
    if (!deps.isIncluded(timed.call.number)) return
    unaccepted += 1
    const { callId } = timed.event
    const waiting = legs.get(callId)
    if (waiting) {
      waiting.push(timed)
      return
    }
    const created = [timed]
    legs.set(callId, created)
    void publishLeg(callId, created)
  }

  return {
    begin(calls, untilMs) {
      const scheduleNext = () => {
        const { value } = calls.next()
        const atMs = value.atMs - startMs
        if (atMs > untilMs) return
        queue.after(atMs - queue.now(), () => {
          enqueue(value)
          scheduleNext()
        })
      }
      scheduleNext()
    },
    unaccepted: () => unaccepted,
    calls: () => callNumbers.size,
  }
}
