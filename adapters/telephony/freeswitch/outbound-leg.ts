/** One connection of the `socket` application: one leg, from its dial plan to its hang-up. */
import type { Socket } from 'node:net'
import type { Clock } from 'hookswitch'
import type { Feed } from '../source/feed.js'
import { commands } from './commands.js'
import type { EventFormat, SwitchEvent } from './event.js'
import { eventStream } from './event-stream.js'
import { type FreeswitchFacts, factsOf } from './facts.js'
import type { FreeswitchMapping } from './mapping.js'

/** What a connection needs. */
export interface OutboundDoors {
  readonly feed: Feed
  readonly clock: Clock
  readonly format: EventFormat
  readonly extraEvents: readonly string[]
  readonly goOnWith: ((facts: FreeswitchFacts) => string) | undefined
  /** The mapping of the legs of this run of this switch. */
  readonly mappingOf: (run: string) => FreeswitchMapping
}

/** A connection. */
export interface OutboundLeg {
  /** There is room: reads on. */
  resume(): void
  /** Ends it; the leg goes on without us. */
  close(): void
}

/** Who has not said by then which leg it is for is no switch, milliseconds. */
const FIRST_ANSWER_MS = 10_000
/** The switch keeps the connection for so long after the hang-up, seconds: until we have the last events. */
const LINGER_SECONDS = 30

/**
 * Serves a connection until its leg has ended or it is lost.
 *
 * @param onClosed told when nothing is left of it
 */
export function serveLeg(doors: OutboundDoors, socket: Socket, onClosed: () => void): OutboundLeg {
  const { feed, clock, format } = doors
  const { ask, answered, lost } = commands((text) => void socket.write(text))
  let leg: { uuid: string; readonly shown: SwitchEvent; readonly mapping: FreeswitchMapping } | undefined
  let isOver = false
  let goesOn = false
  const gone = new AbortController()

  const map = (event: SwitchEvent) => {
    const uuid = event.header('Unique-ID')
    // Only this leg's own events are sent.
    if (event.name === 'CHANNEL_HANGUP_COMPLETE') isOver = true
    if (leg && uuid !== undefined) leg.uuid = uuid
    return (leg as { mapping: FreeswitchMapping }).mapping.map(event)
  }
  const begin = (shown: SwitchEvent) => {
    if (leg) throw new Error('it says twice which leg it is for')
    const uuid = shown.header('Unique-ID')
    if (uuid === undefined) throw new Error('it does not say which leg it is for')
    leg = { uuid, shown, mapping: doors.mappingOf(shown.header('Core-UUID') ?? '') }
    feed.take(map(shown))
  }
  const { receive } = eventStream({
    feed,
    mapping: { needs: (name) => leg?.mapping.needs(name) === true, map },
    commands: { answered },
    onLegData: begin,
  })

  const end = (reason: string) => {
    gone.abort()
    lost(reason)
    socket.destroy()
    if (!isOver) {
      isOver = true
      const message = `a connection was lost before the end of its leg: ${reason}`
      const problem = { kind: 'lost', message, ...(leg ? { callId: leg.uuid } : {}) } as const
      feed.take({ news: [], problems: [problem] })
      // Nobody will tell of its end any more.
      if (leg) feed.take(leg.mapping.gone(leg.uuid, clock.now()))
    }
  }
  socket.setKeepAlive(true, 30_000)
  socket.on('data', (chunk) => {
    try {
      receive(chunk)
      // The switch ends the leg for good when it is let go.
      if (isOver && !socket.writableEnded) socket.end('exit\n\n')
      // Its dial plan stands still until it is told how to go on: that does not wait for the service.
      else if (goesOn && feed.isFull()) socket.pause()
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
    await ask('connect')
    if (!leg) throw new Error('it does not say which leg it is for')
    await ask(`linger ${LINGER_SECONDS}`)
    await ask(`myevents ${format}`)
    // Not among "its own" events; a connection without `full` does without them.
    await ask(`event ${format} ${['CHANNEL_HOLD', 'CHANNEL_UNHOLD', ...doors.extraEvents].join(' ')}`)
    const way = goOn(doors, factsOf(leg.uuid, leg.shown))
    if (way && (await ask(way)).startsWith('+OK')) {
      goesOn = true
      if (feed.isFull()) socket.pause()
      return
    }
    // A leg must not stand still because of us: its dial plan goes on as if we had never been.
    await ask('resume')
    end('the switch cannot be told how it goes on')
  }
  steps().catch((error: Error) => end(error.message))
  void clock.sleep(FIRST_ANSWER_MS, gone.signal).then(() => {
    if (!leg && !gone.signal.aborted) end(`no answer within ${FIRST_ANSWER_MS / 1000} s`)
  })

  return {
    resume: () => void socket.resume(),
    close() {
      isOver = true
      end('closed')
    },
  }
}

/** The command that lets the dial plan go on; `undefined`: there is none that can be said on one line. */
function goOn({ feed, goOnWith }: OutboundDoors, facts: FreeswitchFacts): string | undefined {
  let way: unknown
  try {
    way = goOnWith?.(facts)
  } catch (thrown) {
    const name = thrown instanceof Error ? thrown.name : typeof thrown
    const message = `goOnWith threw (${name})`
    feed.take({ news: [], problems: [{ kind: 'account_of_threw', message, callId: facts.uuid }] })
  }
  const text = typeof way === 'string' ? way : whereItWasGoing(facts)
  const [, application, argument = ''] = /^(\w+)(?: ([^\r\n\0]*))?$/.exec(text ?? '') ?? []
  if (application === undefined) return undefined
  return `sendmsg\ncall-command: execute\nexecute-app-name: ${application}\nexecute-app-arg: ${argument}`
}

function whereItWasGoing({ header }: FreeswitchFacts): string | undefined {
  const parts = ['Caller-Destination-Number', 'Caller-Dialplan', 'Caller-Context'].map(header)
  // The number is what the far end dialled, so that it may be anything.
  const isSayable = parts.every((part) => part !== undefined && /^[^\s\0]+$/.test(part))
  return isSayable ? `transfer ${parts.join(' ')}` : undefined
}
