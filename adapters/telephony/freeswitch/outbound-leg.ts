/** One connection of the `socket` application: one leg, from the point in its dial plan to its hang-up. */
import type { Socket } from 'node:net'
import type { Clock } from 'hookswitch'
import type { EventPipeline } from '../source/event-pipeline.js'
import { type FreeswitchFacts, factsOf } from './account-resolver.js'
import { createCommandChannel } from './commands.js'
import type { EslEvent, EventFormat } from './event.js'
import { createEventStream } from './event-stream.js'
import type { FreeswitchMapping } from './mapping.js'

/** Dependencies of a connection. */
interface OutboundLegDeps {
  readonly pipeline: EventPipeline
  readonly clock: Clock
  readonly format: EventFormat
  readonly extraEvents: readonly string[]
  readonly continueWith: ((facts: FreeswitchFacts) => string) | undefined
  /** The mapping for a run (`Core-UUID`) of a switch. */
  readonly mappingFor: (coreUuid: string) => FreeswitchMapping
}

/** A connection. */
export interface OutboundLeg {
  /** Resumes reading: the pipeline has capacity again. */
  resume(): void
  /** Closes the connection; the leg continues, unobserved. */
  close(): void
}

/** A peer that has not identified its leg within this time is not a switch. */
const FIRST_REPLY_MS = 10_000
/** The switch keeps the connection open this long after the hang-up, so that the last events arrive. */
const LINGER_SECONDS = 30

/**
 * Serves a connection until its leg has ended or it is lost.
 *
 * @param onClosed called once the connection is closed
 */
export function serveOutboundLeg(deps: OutboundLegDeps, socket: Socket, onClosed: () => void): OutboundLeg {
  const { pipeline, clock, format } = deps
  const { send, onReply, onDisconnected } = createCommandChannel((text) => void socket.write(text))
  let leg: { uuid: string; readonly channelData: EslEvent; readonly mapping: FreeswitchMapping } | undefined
  let isOver = false
  let hasContinued = false
  const ended = new AbortController()

  const map = (event: EslEvent) => {
    const uuid = event.header('Unique-ID')
    // The switch sends events of this leg only.
    if (event.name === 'CHANNEL_HANGUP_COMPLETE') isOver = true
    if (leg && uuid !== undefined) leg.uuid = uuid
    return (leg as { mapping: FreeswitchMapping }).mapping.map(event)
  }
  const begin = (channelData: EslEvent) => {
    if (leg) throw new Error('the peer identifies its leg twice')
    const uuid = channelData.header('Unique-ID')
    if (uuid === undefined) throw new Error('the peer does not identify its leg')
    leg = { uuid, channelData, mapping: deps.mappingFor(channelData.header('Core-UUID') ?? '') }
    pipeline.push(map(channelData))
  }
  const { receive } = createEventStream({
    pipeline,
    mapping: { isHandled: (name) => leg?.mapping.isHandled(name) === true, map },
    commands: { onReply },
    onLegData: begin,
  })

  const end = (reason: string) => {
    ended.abort()
    onDisconnected(reason)
    socket.destroy()
    if (!isOver) {
      isOver = true
      const message = `a connection was lost before the end of its leg: ${reason}`
      const problem = { kind: 'lost', message, ...(leg ? { callId: leg.uuid } : {}) } as const
      pipeline.push({ updates: [], problems: [problem] })
      // No other connection will report the end of this leg.
      if (leg) pipeline.push(leg.mapping.endMissingLeg(leg.uuid, clock.now()))
    }
  }
  socket.setKeepAlive(true, 30_000)
  socket.on('data', (chunk) => {
    try {
      receive(chunk)
      // The switch destroys the channel only after `exit`.
      if (isOver && !socket.writableEnded) socket.end('exit\n\n')
      // Backpressure starts after the leg was continued: a full pipeline must not delay the call.
      else if (hasContinued && pipeline.isFull()) socket.pause()
    } catch (thrown) {
      end(thrown instanceof Error ? thrown.message : String(thrown))
    }
  })
  socket.on('error', (error) => end(error.message))
  socket.on('close', () => {
    end('the switch closed it')
    onClosed()
  })

  const steps = async () => {
    await send('connect')
    if (!leg) throw new Error('the peer does not identify its leg')
    await send(`linger ${LINGER_SECONDS}`)
    await send(`myevents ${format}`)
    // `myevents` does not include these; without the option `full` the switch refuses them.
    await send(`event ${format} ${['CHANNEL_HOLD', 'CHANNEL_UNHOLD', ...deps.extraEvents].join(' ')}`)
    const command = continueCommand(deps, factsOf(leg.uuid, leg.channelData))
    if (command && (await send(command)).startsWith('+OK')) {
      hasContinued = true
      if (pipeline.isFull()) socket.pause()
      return
    }
    // Never leave the call suspended: `resume` lets the dial plan continue after the `socket` application.
    await send('resume')
    end('the switch accepts no command to continue the leg')
  }
  steps().catch((error: Error) => end(error.message))
  void clock.sleep(FIRST_REPLY_MS, ended.signal).then(() => {
    if (!leg && !ended.signal.aborted) end(`no answer within ${FIRST_REPLY_MS / 1000} s`)
  })

  return {
    resume: () => void socket.resume(),
    close() {
      isOver = true
      end('closed')
    },
  }
}

/** The command that continues the dial plan; `undefined`: it would not fit on one line. */
function continueCommand(
  { pipeline, continueWith }: OutboundLegDeps,
  facts: FreeswitchFacts,
): string | undefined {
  let chosen: unknown
  try {
    chosen = continueWith?.(facts)
  } catch (thrown) {
    const name = thrown instanceof Error ? thrown.name : typeof thrown
    const message = `continueWith threw (${name})`
    pipeline.push({ updates: [], problems: [{ kind: 'callback_failed', message, callId: facts.uuid }] })
  }
  const text = typeof chosen === 'string' ? chosen : transferToDestination(facts)
  const [, application, argument = ''] = /^(\w+)(?: ([^\r\n\0]*))?$/.exec(text ?? '') ?? []
  if (application === undefined) return undefined
  return `sendmsg\ncall-command: execute\nexecute-app-name: ${application}\nexecute-app-arg: ${argument}`
}

function transferToDestination({ header }: FreeswitchFacts): string | undefined {
  const parts = ['Caller-Destination-Number', 'Caller-Dialplan', 'Caller-Context'].map(header)
  // The number is dialled by the far end, so it can contain anything.
  const isValid = parts.every((part) => part !== undefined && /^[^\s\0]+$/.test(part))
  return isValid ? `transfer ${parts.join(' ')}` : undefined
}
