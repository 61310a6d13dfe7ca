/** Outbound mode: the switch connects to us, once for each leg whose dial plan says so. */
import { createServer, type Socket } from 'node:net'
import type { EventHub } from 'hookswitch'
import { feed, type SourceEvents } from '../source/feed.js'
import { whole } from '../source/options.js'
import type { SourceStatus } from '../source/switch-source.js'
import { type FreeswitchMapping, freeswitchMapping } from './mapping.js'
import { FREESWITCH_DEFAULTS } from './options.js'
import { type OutboundLeg, serveLeg } from './outbound-leg.js'
import {
  checkOutboundOptions,
  type FreeswitchOutboundOptions,
  OUTBOUND_DEFAULTS,
} from './outbound-options.js'

/** Channel events out of the legs that a switch hands to us. */
export interface FreeswitchOutbound {
  /** `account_unknown`, `rejected`, `problem`; `connected` when it listens. */
  readonly events: EventHub<SourceEvents>
  /**
   * Listens.
   *
   * @throws what the system says: the port is in use, …
   */
  listen(): Promise<{ readonly host: string; readonly port: number }>
  /** `isConnected`: it listens. `openLegs`: of all connections. */
  status(): SourceStatus
  /** Ends all connections (their legs go on, unheard), publishes what was heard. Before `hs.close()`. */
  close(options?: {
    /** How long publishing may take, milliseconds. Default 5,000. */
    readonly drainMs?: number
  }): Promise<void>
}

/**
 * A server for the dial plan's `socket` application (`mod_event_socket`, outbound mode), for switches that we cannot
 * connect to. It hears the one leg that runs the dial plan, from there to its hang-up, not the legs that it dials.
 *
 * While a connection is open the leg's dial plan stands still, so the leg is told to go on (`goOnWith`), by default with
 * a transfer to where it was going; a guard keeps it from coming here again:
 *
 * ```xml
 * <extension name="hookswitch">
 *   <condition field="${hookswitch_heard}" expression="^$">
 *     <action application="set" data="hookswitch_heard=true"/>
 *     <action application="socket" data="127.0.0.1:8084 async full"/>
 *   </condition>
 * </extension>
 * ```
 *
 * `async`, or nothing could be said while the leg talks; `full`, or hold and resume are not heard. The leg's end is its
 * CHANNEL_HANGUP_COMPLETE: the switch holds CHANNEL_DESTROY back until we let go.
 *
 * @throws `InvalidOption` naming the option
 */
export function freeswitchOutbound(options: FreeswitchOutboundOptions): FreeswitchOutbound {
  const { publish, clock, random, log, limits, maxOpenLegs } = checkOutboundOptions(options)
  const { accountOf, customVariables = [], extraEvents = [], goOnWith } = options
  const { host = OUTBOUND_DEFAULTS.host, port = OUTBOUND_DEFAULTS.port } = options
  const { maxConnections = OUTBOUND_DEFAULTS.maxConnections } = options
  const allowed = new Set(options.allow ?? OUTBOUND_DEFAULTS.allow)
  const name = `freeswitch outbound ${host}:${port}`
  const way = feed({ publish, clock, random, log, name }, limits)
  const legs = new Set<OutboundLeg>()
  way.onRoom(() => {
    for (const leg of legs) leg.resume()
  })

  /** By the switch's run: several switches may connect, and each may start again. */
  const mappings = new Map<string, FreeswitchMapping>()
  const endsWith = 'CHANNEL_HANGUP_COMPLETE'
  const mappingOf = (run: string) => {
    for (const [other, { openLegs }] of mappings)
      if (other !== run && openLegs() === 0) mappings.delete(other)
    let mapping = mappings.get(run)
    if (!mapping) {
      mapping = freeswitchMapping({ accountOf, customVariables, extraEvents, maxOpenLegs, endsWith })
      mappings.set(run, mapping)
    }
    return mapping
  }
  const refuse = (socket: Socket, why: string) => {
    socket.destroy()
    way.take({ news: [], problems: [{ kind: 'refused', message: why }] })
  }

  const format = options.format ?? FREESWITCH_DEFAULTS.format
  const server = createServer({ noDelay: true }, (socket) => {
    const from = (socket.remoteAddress ?? '').replace(/^::ffff:/, '')
    socket.on('error', () => {})
    if (!allowed.has(from)) return refuse(socket, `a connection from ${from}, which is not allowed`)
    if (legs.size >= maxConnections) return refuse(socket, `more than ${maxConnections} connections`)
    const leg = serveLeg({ feed: way, clock, format, extraEvents, goOnWith, mappingOf }, socket, () =>
      legs.delete(leg),
    )
    legs.add(leg)
  })
  let isListening = false
  let closed: Promise<void> | undefined

  return {
    events: way.events,
    listen: () =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new Error('it is closed'))
        server.once('error', reject)
        server.listen(port, host, () => {
          server.off('error', reject)
          if (closed) {
            server.close()
            return reject(new Error('it is closed'))
          }
          isListening = true
          way.connected(name)
          const address = server.address()
          resolve({ host, port: typeof address === 'object' && address ? address.port : port })
        })
      }),
    status() {
      let openLegs = 0
      for (const mapping of mappings.values()) openLegs += mapping.openLegs()
      return { isConnected: isListening, openLegs, ...way.counts() }
    },
    close({ drainMs = 5_000 } = {}) {
      whole(0, 2_147_483_647)('drainMs', drainMs)
      closed ??= (async () => {
        for (const leg of legs) leg.close()
        if (isListening) await new Promise((resolve) => server.close(resolve))
        isListening = false
        await way.close(drainMs)
      })()
      return closed
    },
  }
}
