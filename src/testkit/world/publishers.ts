import { errorCode } from '../../errors.js'
import type { CallEvent } from '../call-legs.js'
import type { CallGenerator, TimedEvent } from '../calls.js'
import type { SeededRandom } from '../random.js'
import type { Cluster, Running } from './cluster.js'
import type { Ledger, Publish } from './ledger.js'
import type { RunQueue } from './run-queue.js'
import type { Trace } from './trace.js'

export interface PublisherDoors {
  readonly queue: RunQueue
  readonly trace: Trace
  readonly ledger: Ledger
  readonly random: SeededRandom
  readonly cluster: Cluster
  readonly startMs: number
  /** False: this command is left out of the run. */
  isWanted(command: number): boolean
}

/** The hosts: they publish what happens in calls, and insist until it is kept. */
export interface Publishers {
  /** Begins, until `untilMs` in true time. */
  begin(calls: CallGenerator, untilMs: number): void
  /** Events that are not kept yet. */
  unkept(): number
  /** Calls begun so far. */
  calls(): number
}

/** So long a host waits before it publishes again what was refused. */
const AGAIN_MS = 400

export function createPublishers(doors: PublisherDoors): Publishers {
  const { queue, trace, ledger, random, cluster, startMs } = doors
  /** What is to be published of each leg, in order: the next when the one before is kept. */
  const legs = new Map<string, TimedEvent[]>()
  const seen = new Set<number>()
  let published = 0
  let unkept = 0

  function host(): Running | undefined {
    const up = cluster.up()
    return up.length === 0 ? undefined : random.pick(up)
  }

  function publish({ hs, life }: Running, event: CallEvent, key: string): Promise<Publish> {
    return new Promise((resolve) => {
      const made: Publish = {
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
          ledger.open.delete(made)
          made.doneMs = queue.now()
          trace.step(
            made.doneMs,
            `publish ${key}: ${made.outcome} ${made.code}`,
            event.callId,
            made.eventId,
            life.name,
          )
          resolve(made)
        },
      }
      ledger.publishes.push(made)
      ledger.open.add(made)
      trace.step(made.atMs, `publish ${key}: ${event.hook}`, event.callId, life.name)
      hs.publish({ idempotencyKey: key, ...event }).then(
        ({ eventId, sequence, duplicate }) =>
          finish(made, { outcome: 'kept', eventId, sequence, isDuplicate: duplicate }),
        (thrown) => {
          const code = errorCode(thrown) ?? String(thrown)
          // A store that does not answer may have kept it all the same.
          finish(made, { outcome: code === 'StoreUnavailable' ? 'unknown' : 'refused', code })
        },
      )
    })
  }

  function finish(publish: Publish, end: Partial<Publish>): void {
    if (publish.outcome !== 'open') return
    Object.assign(publish, end)
    publish.end()
  }

  async function insist(event: CallEvent, key: string): Promise<void> {
    for (;;) {
      const on = host()
      if (on) {
        const copy = random.chance(0.03) ? host() : undefined
        const tries = [publish(on, event, key)]
        // Two hosts that both saw the event.
        if (copy) tries.push(publish(copy, event, key))
        const ends = await Promise.all(tries)
        if (ends.some(({ outcome }) => outcome === 'kept')) return
      }
      await queue.sleep(AGAIN_MS * (0.5 + random.fraction()))
    }
  }

  async function work(callId: string, waiting: TimedEvent[]): Promise<void> {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      await insist(next.event, `${next.call.number}-${++published}`)
      unkept -= 1
    }
    legs.delete(callId)
  }

  function happen(timed: TimedEvent): void {
    seen.add(timed.call.number)
    if (!doors.isWanted(timed.call.number)) return
    unkept += 1
    const { callId } = timed.event
    const waiting = legs.get(callId)
    if (waiting) {
      waiting.push(timed)
      return
    }
    const fresh = [timed]
    legs.set(callId, fresh)
    void work(callId, fresh)
  }

  return {
    begin(calls, untilMs) {
      const go = () => {
        const { value } = calls.next()
        const atMs = value.atMs - startMs
        if (atMs > untilMs) return
        queue.after(atMs - queue.now(), () => {
          happen(value)
          go()
        })
      }
      go()
    },
    unkept: () => unkept,
    calls: () => seen.size,
  }
}
