/** Channel events out of a Kamailio proxy: lines by HTTP, from a stream, or from its `evapi`. */
import { HookswitchError } from 'hookswitch'
import { keepConnected } from '../source/connection.js'
import { feed } from '../source/feed.js'
import type { Mapped } from '../source/leg-news.js'
import { whole } from '../source/options.js'
import type { SwitchSource } from '../source/switch-source.js'
import { type TcpSession, tcpSession } from '../source/tcp-session.js'
import { type KamailioHandler, kamailioHandler } from './handler.js'
import { type Chunks, endedBy, linesOf } from './line-stream.js'
import { kamailioMapping } from './mapping.js'
import { netstrings } from './netstrings.js'
import { checkKamailioOptions, type KamailioSourceOptions } from './options.js'
import { timeKeeper } from './time-keeper.js'

/** So far may the proxy's clock be ahead: a time beyond would end all open calls. */
const MOST_AHEAD_MS = 3_600_000

/** A proxy without calls is silent for as long as it likes; one that is dead is found by TCP's own keep-alive. */
const FOR_EVER = Number.MAX_SAFE_INTEGER

/** Channel events out of a Kamailio proxy. `start` and `status().isConnected` are about `evapi` alone. */
export interface KamailioSource extends SwitchSource {
  /**
   * Takes lines by POST: one JSON object, a JSON array of them, or NDJSON, at most 1 MiB and 10,000 lines. 204: all are
   * taken; 400: those that it names could not be read, the others are taken; 503: none is, come again. The lines of a
   * call should come in their order: who sends one again keeps back those after it.
   */
  readonly handler: KamailioHandler
  /**
   * Takes one line. One that cannot be used, also for a time more than an hour ahead of the line before and of
   * the clock, is a `problem`.
   *
   * @returns whether there is room for more; if not, wait for `ready`
   * @throws `Closing` after `close`
   */
  push(line: string): boolean
  /** Resolves when there is room. */
  ready(): Promise<void>
  /**
   * Takes the lines of a stream of NDJSON, at the service's pace. Resolves at its end, and when the source is closed;
   * then the stream is the caller's to end.
   *
   * @throws `InvalidInput` for a line above 64 KiB; what the stream throws
   */
  lines(chunks: Chunks): Promise<void>
}

/**
 * A source for Kamailio, which tells of its calls as its routing script says: the keys are those of `KamailioLine`.
 *
 * A proxy cannot be asked which calls are open. So nothing is looked for after a reconnect: what was missed is missed,
 * and a call whose end was is ended after `maxCallMs`, as `RECOVERY_ON_TIMER_EXPIRE` with `found_by: 'timeout'`.
 *
 * @throws `InvalidOption` naming the option
 * @example
 * const source = kamailioSource({ publish: hs.publish, accountOf: accountByDomain({ 'alpha.example': 'alpha' }) })
 * app.post('/kamailio', source.handler)
 */
export function kamailioSource(options: KamailioSourceOptions): KamailioSource {
  const checked = checkKamailioOptions(options)
  const { publish, clock, random, log, limits, accountOf, evapi, maxCallMs, maxOpenLegs, token } = checked
  const peer = evapi ? `kamailio ${evapi.host}:${evapi.port}` : 'kamailio'
  const way = feed({ publish, clock, random, log, name: peer }, limits)
  const mapping = kamailioMapping({
    accountOf,
    maxOpenCalls: maxOpenLegs,
    maxCallMs,
    latestUs: () => (clock.now() + MOST_AHEAD_MS) * 1000,
  })
  const time = timeKeeper(mapping, clock, way.take)
  const waiting = new Set<() => void>()
  const streams = new Set<() => void>()
  let reading: TcpSession | undefined
  let connection: { close(): Promise<void> } | undefined
  let closed: Promise<void> | undefined
  let isConnected = false

  way.onRoom(() => {
    reading?.resume()
    wake()
  })
  const wake = () => {
    for (const resolve of waiting) resolve()
    waiting.clear()
  }
  const take = (line: unknown): Mapped['problems'] => {
    const mapped = mapping.map(line)
    way.take(mapped)
    time.heard()
    return mapped.problems
  }
  const ready = () =>
    closed || !way.isFull() ? Promise.resolve() : new Promise<void>((resolve) => waiting.add(resolve))

  return {
    events: way.events,
    start() {
      if (closed || !evapi) return
      const { host, port, connectTimeoutMs } = evapi
      connection ??= keepConnected({
        clock,
        random,
        async open(signal) {
          const { receive } = netstrings(take)
          const { session } = await tcpSession(
            { host, port, connectTimeoutMs, silenceMs: FOR_EVER, clock, isFull: way.isFull },
            signal,
            // There is nothing to log in to, and nothing to say.
            () => ({ receive, probe() {}, lost() {} }),
          )
          reading = session
          return session
        },
        onConnected() {
          isConnected = true
          way.connected(peer)
        },
        onDisconnected(reason, retryInMs) {
          isConnected = false
          way.disconnected(peer, reason, retryInMs)
        },
      })
    },
    handler: kamailioHandler({ take, isFull: way.isFull, isClosed: () => closed !== undefined, token }),
    push(line) {
      if (closed) throw new HookswitchError('Closing', 'the source is closed')
      take(line)
      return !way.isFull()
    },
    ready,
    async lines(chunks) {
      if (closed) return
      for await (const line of linesOf(endedBy(chunks, streams))) {
        await ready()
        if (closed) return
        take(line)
      }
    },
    status: () => ({ isConnected, openLegs: mapping.openCalls(), ...way.counts() }),
    close({ drainMs = 5_000 } = {}) {
      whole(0, 2_147_483_647)('drainMs', drainMs)
      closed ??= (async () => {
        time.close()
        for (const stop of streams) stop()
        await connection?.close()
        isConnected = false
        wake()
        await way.close(drainMs)
      })()
      return closed
    },
  }
}
