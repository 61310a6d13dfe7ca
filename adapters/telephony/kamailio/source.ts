/** Publishes the channel events of a Kamailio proxy: lines by HTTP, from a stream, or from its `evapi`. */
import { HookswitchError } from 'hookswitch'
import { keepConnected } from '../source/connection.js'
import { createEventPipeline } from '../source/event-pipeline.js'
import type { MappedBatch } from '../source/mapped-events.js'
import { checkSourceOptions, drainMsOf, invalidOption } from '../source/options.js'
import type { SwitchSource } from '../source/switch-source.js'
import { openTcpSession, type TcpSession } from '../source/tcp-session.js'
import { createCallExpiry } from './call-expiry.js'
import { createKamailioHandler, type KamailioHandler } from './handler.js'
import { type Chunks, splitLines, stoppable } from './line-stream.js'
import { createKamailioMapping } from './mapping.js'
import { createNetstringReader } from './netstrings.js'
import { KAMAILIO_OPTIONS, type KamailioSourceOptions } from './options.js'

/** How far the proxy's clock may be ahead of the local one: a later time would end all open calls. */
const MAX_AHEAD_MS = 3_600_000

/** A source of channel events. `start` and `status().isConnected` concern `evapi` only. */
export interface KamailioSource extends SwitchSource {
  /**
   * Accepts lines by POST: one JSON object, a JSON array of objects, or NDJSON, at most 1 MiB and 10,000 lines. 204: all
   * lines are accepted; 400: the listed lines are invalid, the others are accepted; 503: no line is accepted, retry
   * later. The lines of a call should arrive in order: a sender that retries must hold back the lines that follow.
   */
  readonly handler: KamailioHandler
  /**
   * Accepts one line. An invalid line is a `problem`; so is one whose time is more than an hour ahead of both the line
   * before and the local clock.
   *
   * @returns whether there is capacity for more; if not, wait for `ready`
   * @throws `Closing` after `close`
   */
  push(line: string): boolean
  /** Resolves when there is capacity, or the source is closed. */
  ready(): Promise<void>
  /**
   * Accepts the lines of an NDJSON stream, with backpressure. Resolves at the end of the stream, or when the source is
   * closed; the caller then has to end the stream.
   *
   * @throws `InvalidInput` for a line above 64 KiB; the errors of the stream
   */
  lines(chunks: Chunks): Promise<void>
}

/**
 * A source for Kamailio, whose routing script writes a line at its event points; the keys are those of `KamailioLine`.
 *
 * A proxy cannot be queried for its open calls, so there is no resync after a reconnect: what was missed is lost. A call
 * whose end was missed ends after `maxCallMs`, as `RECOVERY_ON_TIMER_EXPIRE` with `found_by: 'timeout'`.
 *
 * @throws `InvalidOption` naming the option
 * @example
 * const source = kamailioSource({ publish: hs.publish, accountOf: accountByDomain({ 'alpha.example': 'alpha' }) })
 * app.post('/kamailio', source.handler)
 */
export function kamailioSource(options: KamailioSourceOptions): KamailioSource {
  const checked = checkSourceOptions('kamailioSource', options, KAMAILIO_OPTIONS)
  if (options.port !== undefined && options.host === undefined)
    throw invalidOption('host', 'is missing: port needs it')
  const { publish, clock, random, log, metrics, bufferLimits } = checked
  const { host, port, connectTimeoutMs, accountOf, maxCallMs, maxOpenLegs, token } = checked
  const peer = host === undefined ? 'kamailio' : `kamailio ${host}:${port}`
  const pipeline = createEventPipeline({ publish, clock, random, log, metrics, name: peer }, bufferLimits)
  const mapping = createKamailioMapping({
    accountOf,
    maxOpenCalls: maxOpenLegs,
    maxCallMs,
    latestUs: () => (clock.now() + MAX_AHEAD_MS) * 1000,
  })
  const expiry = createCallExpiry(mapping, clock, pipeline.push)
  /** Callers of `ready`. */
  const waiting = new Set<() => void>()
  /** Stops each running `lines`. */
  const stops = new Set<() => void>()
  let session: TcpSession | undefined
  let connection: { close(): Promise<void> } | undefined
  let closed: Promise<void> | undefined

  pipeline.onCapacity(() => {
    session?.resume()
    resolveReady()
  })
  const resolveReady = () => {
    for (const resolve of waiting) resolve()
    waiting.clear()
  }
  const mapLine = (line: unknown): MappedBatch['problems'] => {
    const batch = mapping.map(line)
    pipeline.push(batch)
    expiry.onLine()
    return batch.problems
  }
  const ready = () =>
    closed || !pipeline.isFull() ? Promise.resolve() : new Promise<void>((resolve) => waiting.add(resolve))

  return {
    events: pipeline.events,
    start() {
      if (closed || host === undefined) return
      connection ??= keepConnected({
        clock,
        random,
        async open(signal) {
          let hasReceived = false
          const onLine = (line: string) => {
            hasReceived = true
            mapLine(line)
          }
          const { receive } = createNetstringReader(onLine, (message) =>
            pipeline.push({ updates: [], problems: [{ kind: 'malformed', message }] }),
          )
          const opened = await openTcpSession(
            // `evapi` has no login and no probe: a proxy without calls sends nothing.
            { host, port, connectTimeoutMs, silenceMs: undefined, clock, isFull: pipeline.isFull },
            signal,
            () => ({ receive, probe() {}, onDisconnected() {} }),
          )
          session = opened.session
          // A proxy may accept a connection only to close it.
          return { ...session, isSettled: () => hasReceived }
        },
        onConnected: () => pipeline.reportConnected(peer),
        onDisconnected: (reason, retryInMs) => pipeline.reportDisconnected(peer, reason, retryInMs),
      })
    },
    handler: createKamailioHandler({
      mapLine,
      isFull: pipeline.isFull,
      isClosed: () => closed !== undefined,
      token,
    }),
    push(line) {
      if (closed) throw new HookswitchError('Closing', 'the source is closed')
      mapLine(line)
      return !pipeline.isFull()
    },
    ready,
    async lines(chunks) {
      if (closed) return
      for await (const line of splitLines(stoppable(chunks, stops))) {
        await ready()
        if (closed) return
        mapLine(line)
      }
    },
    status: () => ({ ...pipeline.connection(), openLegs: mapping.openCalls(), ...pipeline.counts() }),
    close(options) {
      const drainMs = drainMsOf(options)
      closed ??= (async () => {
        expiry.close()
        for (const stop of stops) stop()
        await connection?.close()
        resolveReady()
        await pipeline.close(drainMs)
      })()
      return closed
    },
  }
}
