/** Outbound mode: the switch connects to this server, once for each leg whose dial plan runs `socket`. */
import { createServer, type Socket } from 'node:net'
import type { EventHub } from 'hookswitch/adapter'
import { createEventPipeline, type SourceEvents } from '../source/event-pipeline.js'
import { checkSourceOptions, drainMsOf } from '../source/options.js'
import type { SourceStatus } from '../source/switch-source.js'
import { reportEvents } from './call-report.js'
import { createFreeswitchMapping, type FreeswitchMapping } from './mapping.js'
import { type OutboundLeg, serveOutboundLeg } from './outbound-leg.js'
import { type FreeswitchOutboundOptions, OUTBOUND_OPTIONS } from './outbound-options.js'

/** Channel events of the legs that a switch hands over. */
export interface FreeswitchOutbound {
  /** `account_unknown`, `rejected`, `problem`; `connected` once it listens. */
  readonly events: EventHub<SourceEvents>
  /**
   * Starts listening; resolves to the address.
   *
   * @throws the system's error, such as EADDRINUSE; an error after `close`
   */
  listen(): Promise<{ readonly host: string; readonly port: number }>
  /** `isConnected`: it listens. `openLegs`: of all connections. */
  status(): SourceStatus
  /** Closes all connections (their legs continue, unobserved) and publishes what was received. Call it before `hs.close()`. */
  close(options?: {
    /** Timeout for publishing, in milliseconds. Default 5,000. */
    readonly drainMs?: number | undefined
  }): Promise<void>
}

/**
 * A server for the dial plan's `socket` application (`mod_event_socket`, outbound mode), for switches that cannot be
 * connected to. It sees the one leg that runs the dial plan, from there to its hang-up, but not the legs that it dials.
 *
 * The dial plan is suspended while the connection is open, so the server sends a command that continues the leg
 * (`continueWith`), by default a transfer to its original destination. A guard keeps the leg from coming here again:
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
 * Without `async` no command can be sent during the call; without `full` hold and unhold are not received. The leg's last
 * event is CHANNEL_HANGUP_COMPLETE: the switch delays CHANNEL_DESTROY until the connection is closed.
 *
 * @throws `InvalidOption` naming the option
 */
export function freeswitchOutbound(options: FreeswitchOutboundOptions): FreeswitchOutbound {
  const checked = checkSourceOptions('freeswitchOutbound', options, OUTBOUND_OPTIONS)
  const { publish, clock, random, log, metrics, bufferLimits, maxOpenLegs } = checked
  const { accountOf, customVariables, extraEvents, optionalHooks, format } = checked
  const { host, port, maxConnections, continueWith } = checked
  const allowed = new Set(checked.allow)
  const name = `freeswitch outbound ${host}:${port}`
  const pipeline = createEventPipeline(
    // The last event of a leg has its account at the latest.
    { publish, clock, random, log, metrics, name, requestAccounts() {} },
    bufferLimits,
  )
  const legs = new Set<OutboundLeg>()
  pipeline.onCapacity(() => {
    for (const leg of legs) leg.resume()
  })

  /** By run (`Core-UUID`): several switches may connect, and each may restart. */
  const mappings = new Map<string, FreeswitchMapping>()
  const endEvent = 'CHANNEL_HANGUP_COMPLETE'
  const mappingFor = (coreUuid: string) => {
    for (const [other, { openLegs }] of mappings)
      if (other !== coreUuid && openLegs() === 0) mappings.delete(other)
    let mapping = mappings.get(coreUuid)
    if (!mapping) {
      mapping = createFreeswitchMapping({
        accountOf,
        customVariables,
        extraEvents,
        optionalHooks,
        maxOpenLegs,
        endEvent,
      })
      mappings.set(coreUuid, mapping)
    }
    return mapping
  }
  const refuse = (socket: Socket, message: string) => {
    socket.destroy()
    pipeline.push({ updates: [], problems: [{ kind: 'refused', message }] })
  }

  const server = createServer({ noDelay: true }, (socket) => {
    const address = (socket.remoteAddress ?? '').replace(/^::ffff:/, '')
    socket.on('error', () => {})
    if (!allowed.has(address)) return refuse(socket, `a connection from ${address}, which is not allowed`)
    if (legs.size >= maxConnections) return refuse(socket, `more than ${maxConnections} connections`)
    const leg = serveOutboundLeg(
      {
        pipeline,
        clock,
        format,
        extraEvents: [...extraEvents, ...reportEvents(optionalHooks)],
        continueWith,
        mappingFor,
      },
      socket,
      () => legs.delete(leg),
    )
    legs.add(leg)
  })
  let isListening = false
  let closed: Promise<void> | undefined

  return {
    events: pipeline.events,
    listen: () =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new Error('the server is closed'))
        server.once('error', reject)
        server.listen(port, host, () => {
          server.off('error', reject)
          if (closed) {
            server.close()
            return reject(new Error('the server is closed'))
          }
          isListening = true
          pipeline.reportConnected(name)
          const address = server.address()
          resolve({ host, port: typeof address === 'object' && address ? address.port : port })
        })
      }),
    status() {
      let openLegs = 0
      for (const mapping of mappings.values()) openLegs += mapping.openLegs()
      return { ...pipeline.connection(), openLegs, ...pipeline.counts() }
    },
    close(options) {
      const drainMs = drainMsOf(options)
      closed ??= (async () => {
        for (const leg of legs) leg.close()
        if (isListening) await new Promise((resolve) => server.close(resolve))
        isListening = false
        await pipeline.close(drainMs)
      })()
      return closed
    },
  }
}
