/** What all fakes are: a timeline of recorded events, the clients who hear them, and the means to disturb both. */
import { createServer, type Server, type Socket } from 'node:net'
import { systemClock } from '../../clock.js'
import { type Check, door, invalid, whole } from '../../option-checks.js'
import type { Clock } from '../../ports.js'
import { drained, HOST, listener } from './listener.js'
import { type Milestone, milestones } from './milestones.js'
import { recording } from './recording.js'
import { type Moment, type PlayOptions, type Timeline, timeline } from './timeline.js'

/** Options of every fake. */
export interface FakeOptions {
  /** The bytes that a switch sent once, as they came; gzipped or not. */
  readonly recording: Uint8Array
  /** Of `play`: 2 is twice as fast as it happened, `Infinity` without a pause. Default 1. */
  readonly speed?: number
  /** Where to listen on 127.0.0.1. Default 0: a free port. */
  readonly port?: number
  /** For the pace of `play`. Default: the machine's. */
  readonly clock?: Pick<Clock, 'monotonic' | 'sleep'>
}

/**
 * A switch on this machine that replays a recording over real connections. Its calls go on whether or not somebody is
 * connected: what happens meanwhile is missed. It waits only for clients that are connected and read slowly, and keeps
 * no more for them than their socket takes.
 */
export interface FakeSwitch {
  /** Listens on 127.0.0.1; resolves to the port. */
  start(): Promise<number>
  readonly host: string
  /** @throws before `start` */
  readonly port: number
  /** How many events of the recording have happened. */
  readonly position: number
  /** How many events the recording has. */
  readonly length: number
  /** Connections that are open now. */
  readonly connections: number
  /** The next `count` events (default 1) happen, at once. Resolves when every client has taken them, or is gone. */
  advance(count?: number): Promise<void>
  /** The others happen at their pace. Resolves at the end of the recording, and when the fake is closed. */
  play(options?: PlayOptions): Promise<void>
  /**
   * Resolves when a client has connected, has asked for events, was disconnected: for the `times`-th time (default 1)
   * since the fake was made. Rejects when the fake is closed.
   */
  waitFor(milestone: Milestone, times?: number): Promise<void>
  /** Destroys all connections, now. */
  cut(): void
  /** Destroys them in the middle of the next event, after so many bytes of it. */
  cutIn(bytes: number): void
  /** From now on it reads, and says nothing. What happens meanwhile is missed. */
  silence(): void
  /** Ends the silence. */
  speak(): void
  /** New connections are refused; those that are open stay. */
  refuse(): void
  /** New connections are taken again, on the same port. */
  accept(): Promise<void>
  /** Ends everything; resolves when nothing is left. */
  close(): Promise<void>
}

/** A client that is connected. */
export interface Client {
  readonly socket: Socket
  /** Nothing while the fake is silent. */
  say(bytes: string | Buffer): void
}

/** What differs between switches. */
export interface FakeParts<Event> {
  readonly events: readonly Event[]
  /** The switch's own book-keeping; whether anybody can hear of the event (default: yes). */
  readonly happen?: (event: Event) => boolean
  /** What a client sends, in chunks as they come. Absent: nobody listens to it. */
  readonly serve?: (client: Client) => (chunk: Buffer) => void
  /** Default: plain TCP. */
  readonly server?: () => Server
  /** Takes events beside the connected clients. */
  readonly tell?: (event: Event) => Promise<void>
  readonly settle?: () => Promise<void>
}

/** A fake, and what its own file does with it. */
export interface Stage<Event> {
  readonly controls: FakeSwitch
  readonly timeline: Timeline
  readonly isSilent: () => boolean
  /** The client has asked for events; it gets those for which there is a frame. */
  subscribe(client: Client, frame: (event: Event) => Buffer | undefined): void
  unsubscribe(client: Client): void
  /** After how many bytes what is sent next is to be cut, once; undefined: it is not. */
  takeCut(): number | undefined
}

const speedCheck: Check = (field, value) => {
  if (typeof value !== 'number' || !(value > 0)) throw invalid(field, 'must be a number above 0')
}

/** The checks of `FakeOptions`. */
export const FAKE_CHECKS: Readonly<Record<keyof FakeOptions, Check>> = {
  recording,
  speed: speedCheck,
  port: whole(0, 65_535),
  clock: door('monotonic', 'sleep'),
}

export function fakeSwitch<Event extends Moment>(
  options: FakeOptions,
  parts: FakeParts<Event>,
): Stage<Event> {
  const { clock = systemClock(), speed = 1, port = 0 } = options
  const { happen = () => true, serve, server = () => createServer({ noDelay: true }), tell, settle } = parts
  const audience = new Map<Socket, (event: Event) => Buffer | undefined>()
  const marks = milestones()
  let isSilent = false
  let cutAfter: number | undefined

  const ears = listener(server, port, {
    onConnection(socket) {
      marks.reached('connected')
      const receive = serve?.({ socket, say: (bytes) => void (isSilent || socket.write(bytes)) })
      if (receive) socket.on('data', (chunk) => hear(socket, chunk, receive))
    },
    onGone(socket) {
      audience.delete(socket)
      marks.reached('disconnected')
    },
  })
  /** A client that asks and does not read the answers is not read from. */
  const hear = (socket: Socket, chunk: Buffer, receive: (chunk: Buffer) => void) => {
    if (!isSilent) receive(chunk)
    if (!socket.writableNeedDrain) return
    socket.pause()
    socket.once('drain', () => socket.resume())
  }
  const broadcast = async (event: Event) => {
    if (!happen(event)) return
    const slow: Promise<void>[] = []
    let wasCut = false
    for (const [socket, frame] of isSilent ? [] : audience) {
      const bytes = socket.writable ? frame(event) : undefined
      if (!bytes) continue
      if (cutAfter !== undefined) {
        wasCut = true
        audience.delete(socket)
        socket.end(bytes.subarray(0, cutAfter), () => socket.destroy())
      } else if (!socket.write(bytes)) slow.push(drained(socket))
    }
    if (wasCut) cutAfter = undefined
    await Promise.all(slow)
    await tell?.(event)
  }
  const course = timeline(parts.events, { clock, speed, happen: broadcast, settle })

  const controls: FakeSwitch = {
    start: () => ears.listen(),
    host: HOST,
    get port() {
      return ears.port
    },
    get position() {
      return course.position
    },
    length: course.length,
    get connections() {
      return ears.sockets.size
    },
    advance(count = 1) {
      whole(0, Number.MAX_SAFE_INTEGER)('count', count)
      return course.advance(count)
    },
    play(playing = {}) {
      if (playing.speed !== undefined) speedCheck('speed', playing.speed)
      return course.play(playing)
    },
    waitFor: marks.waitFor,
    cut: ears.cut,
    cutIn(bytes) {
      whole(0, Number.MAX_SAFE_INTEGER)('bytes', bytes)
      cutAfter = bytes
    },
    silence() {
      isSilent = true
    },
    speak() {
      isSilent = false
    },
    refuse: ears.refuse,
    accept: async () => void (await ears.listen()),
    async close() {
      course.close()
      await ears.close()
      marks.giveUp('the fake was closed')
    },
  }
  return {
    controls,
    timeline: course,
    isSilent: () => isSilent,
    subscribe({ socket }, frame) {
      if (socket.destroyed) return
      audience.set(socket, frame)
      marks.reached('subscribed')
    },
    unsubscribe: ({ socket }) => void audience.delete(socket),
    takeCut() {
      const bytes = cutAfter
      cutAfter = undefined
      return bytes
    },
  }
}
