/** The common part of all fakes: the timeline of recorded events, the subscribed clients, and the fault controls. */
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import type { Clock } from 'hookswitch'
import { invalidOption, objectWithMethods, type Validator, wholeNumber } from '../../options/validators.js'
import { systemClock } from '../../runtime/clock.js'
import { createListener, HOST, waitForDrain } from './listener.js'
import { createMilestones, type Milestone } from './milestones.js'
import { checkRecording } from './recording.js'
import { createTimeline, type PlayOptions, type TimedEvent, type Timeline } from './timeline.js'

/** Options of every fake. */
export interface FakeOptions {
  /** The bytes that a switch once sent, gzipped or not. */
  readonly recording: Uint8Array
  /** Default speed of `play`: 2 is twice as fast as recorded, `Infinity` without pauses. Default 1. */
  readonly speed?: number | undefined
  /** Port to listen on at 127.0.0.1. Default 0: any free port. */
  readonly port?: number | undefined
  /** Clock of `play`. Default: the system clock. */
  readonly clock?: Pick<Clock, 'monotonic' | 'sleep'> | undefined
}

/**
 * A local switch that replays a recording over real connections. Its calls go on whether or not a client is connected: a
 * client misses what happens while it is disconnected. The replay waits only for connected clients that read slowly, and
 * buffers no more for them than their sockets do.
 */
export interface FakeSwitch {
  /** Listens on 127.0.0.1; resolves to the port. */
  start(): Promise<number>
  /** `127.0.0.1`. */
  readonly host: string
  /** The port that it listens on. @throws before `start` */
  readonly port: number
  /** Number of events that have been replayed. */
  readonly position: number
  /** Number of events in the recording. */
  readonly length: number
  /** Number of open connections. */
  readonly connections: number
  /**
   * Replays the next `count` events (default 1) at once. Resolves when every client has received them or is disconnected.
   */
  advance(count?: number): Promise<void>
  /** Replays the remaining events at their pace. Resolves at the end of the recording, and on `close`. */
  play(options?: PlayOptions): Promise<void>
  /**
   * Resolves when clients have connected, subscribed to events, or disconnected `times` times (default 1) since the fake
   * was created. Rejects on `close`.
   */
  waitFor(milestone: Milestone, times?: number): Promise<void>
  /**
   * Closes all connections behind everything that was replayed, and refuses new ones. Resolves when every client has read
   * it all and has closed its side: a client that does not read delays it until `close`.
   */
  end(): Promise<void>
  /** Destroys all connections now. */
  cut(): void
  /** Destroys the connections in the middle of the next event, after this many bytes of it. */
  cutIn(bytes: number): void
  /** From now on the fake reads and sends nothing. Events are missed meanwhile. */
  silence(): void
  /** Ends the silence. */
  speak(): void
  /** Refuses new connections; open ones stay. */
  refuse(): void
  /** Accepts new connections again, on the same port. */
  accept(): Promise<void>
  /** Closes everything; resolves when all connections are closed. */
  close(): Promise<void>
}

/** A connected client. */
export interface Client {
  readonly socket: Socket
  /** Sends bytes; nothing during a silence. */
  send(bytes: string | Buffer): void
}

/** The part of a fake that is specific to its switch. */
interface FakeSwitchDeps<Event> {
  readonly events: readonly Event[]
  /** Updates the switch's own state; returns whether the event is sent to clients. Default: it is. */
  readonly applyEvent?: (event: Event) => boolean
  /** Called for each connection; returns the receiver of the client's bytes. Absent: the fake reads nothing. */
  readonly serveClient?: (client: Client) => (chunk: Buffer) => void
  /** Default: a plain TCP server. */
  readonly createServer?: () => Server
  /** Delivers events by other means than the subscribed clients. */
  readonly deliver?: (event: Event) => Promise<void>
  /** Sends what `deliver` has batched. */
  readonly flush?: () => Promise<void>
}

/** A fake, and the functions for the files that build on it. */
interface FakeSwitchCore<Event> {
  readonly controls: FakeSwitch
  readonly timeline: Timeline
  readonly isSilent: () => boolean
  /** Subscribes a client: it is sent the bytes that `encode` returns for an event. */
  subscribe(client: Client, encode: (event: Event) => Buffer | undefined): void
  unsubscribe(client: Client): void
  /** Takes the pending `cutIn`: the number of bytes; `undefined`: there is none. */
  takeCut(): number | undefined
}

const checkSpeed: Validator = (field, value) => {
  if (typeof value !== 'number' || !(value > 0)) throw invalidOption(field, 'must be a number above 0')
}

/** The checks of `FakeOptions`. */
export const FAKE_CHECKS: Readonly<Record<keyof FakeOptions, Validator>> = {
  recording: checkRecording,
  speed: checkSpeed,
  port: wholeNumber(0, 65_535),
  clock: objectWithMethods('monotonic', 'sleep'),
}

export function createFakeSwitch<Event extends TimedEvent>(
  options: FakeOptions,
  deps: FakeSwitchDeps<Event>,
): FakeSwitchCore<Event> {
  const { clock = systemClock(), speed = 1, port = 0 } = options
  const { applyEvent = () => true, serveClient, deliver, flush } = deps
  const { createServer = () => createTcpServer({ noDelay: true }) } = deps
  const subscribers = new Map<Socket, (event: Event) => Buffer | undefined>()
  const milestones = createMilestones()
  let isSilent = false
  let cutAfter: number | undefined

  const listener = createListener(createServer, port, {
    onConnection(socket) {
      milestones.record('connected')
      // After `end` a request gets no reply: a write would destroy the connection and what the client has not read.
      const send = (bytes: string | Buffer) => void (isSilent || socket.writableEnded || socket.write(bytes))
      const receive = serveClient?.({ socket, send })
      if (receive) socket.on('data', (chunk) => handleChunk(socket, chunk, receive))
    },
    onClosed(socket) {
      subscribers.delete(socket)
      milestones.record('disconnected')
    },
  })
  /** Stops reading from a client that does not read the replies. */
  const handleChunk = (socket: Socket, chunk: Buffer, receive: (chunk: Buffer) => void) => {
    if (!isSilent) receive(chunk)
    if (!socket.writableNeedDrain) return
    socket.pause()
    socket.once('drain', () => socket.resume())
  }
  const broadcast = async (event: Event) => {
    if (!applyEvent(event)) return
    const drains: Promise<void>[] = []
    let wasCut = false
    for (const [socket, encode] of isSilent ? [] : subscribers) {
      const bytes = socket.writable ? encode(event) : undefined
      if (!bytes) continue
      if (cutAfter !== undefined) {
        wasCut = true
        subscribers.delete(socket)
        socket.end(bytes.subarray(0, cutAfter), () => socket.destroy())
      } else if (!socket.write(bytes)) drains.push(waitForDrain(socket))
    }
    if (wasCut) cutAfter = undefined
    await Promise.all(drains)
    await deliver?.(event)
  }
  const timeline = createTimeline(deps.events, { clock, speed, onEvent: broadcast, flush })

  const controls: FakeSwitch = {
    start: () => listener.listen(),
    host: HOST,
    get port() {
      return listener.port
    },
    get position() {
      return timeline.position
    },
    length: timeline.length,
    get connections() {
      return listener.sockets.size
    },
    advance(count = 1) {
      wholeNumber(0, Number.MAX_SAFE_INTEGER)('count', count)
      return timeline.advance(count)
    },
    play(playOptions = {}) {
      if (playOptions.speed !== undefined) checkSpeed('speed', playOptions.speed)
      return timeline.play(playOptions)
    },
    waitFor: milestones.waitFor,
    end: listener.end,
    cut: listener.cut,
    cutIn(bytes) {
      wholeNumber(0, Number.MAX_SAFE_INTEGER)('bytes', bytes)
      cutAfter = bytes
    },
    silence() {
      isSilent = true
    },
    speak() {
      isSilent = false
    },
    refuse: listener.refuse,
    accept: async () => void (await listener.listen()),
    async close() {
      timeline.close()
      await listener.close()
      milestones.rejectAll('the fake was closed')
    },
  }
  return {
    controls,
    timeline,
    isSilent: () => isSilent,
    subscribe({ socket }, encode) {
      if (socket.destroyed) return
      subscribers.set(socket, encode)
      milestones.record('subscribed')
    },
    unsubscribe: ({ socket }) => void subscribers.delete(socket),
    takeCut() {
      const bytes = cutAfter
      cutAfter = undefined
      return bytes
    },
  }
}
