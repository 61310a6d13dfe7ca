/** One connection to the event socket in inbound mode: logs in, subscribes, finds what was missed. */
import type { Clock } from 'hookswitch'
import type { Session } from '../source/connection.js'
import type { Feed } from '../source/feed.js'
import { shown } from '../source/said.js'
import { type TcpSession, type TcpSessionOptions, tcpSession } from '../source/tcp-session.js'
import { type Commands, commands } from './commands.js'
import type { EventFormat } from './event.js'
import { eventStream } from './event-stream.js'
import type { FreeswitchMapping } from './mapping.js'
import { resync, snapshot } from './resync.js'

/** What a session needs. */
export interface SessionDoors {
  readonly tcp: Omit<TcpSessionOptions, 'isFull'>
  readonly password: string
  readonly format: EventFormat
  /** Names of the events to subscribe to. */
  readonly events: readonly string[]
  readonly mapping: FreeswitchMapping
  readonly feed: Feed
  /** There is a connection: to be resumed when there is room. */
  readonly onOpen: (session: TcpSession) => void
}

/**
 * Connects, logs in and subscribes; what was missed is found while events come already.
 *
 * @throws with the reason, in a few words, without the password
 */
export async function openSession(doors: SessionDoors, signal: AbortSignal): Promise<Session> {
  const { tcp, mapping, feed } = doors
  const { clock } = tcp
  let onAuthRequest: () => void = () => {}
  const authRequested = new Promise<void>((resolve) => {
    onAuthRequest = resolve
  })
  let talk: Commands | undefined
  const { session } = await tcpSession({ ...tcp, isFull: feed.isFull }, signal, (opened) => {
    doors.onOpen(opened)
    const made = commands(opened.write)
    talk = made
    const { receive } = eventStream({ feed, mapping, commands: made, onAuthRequest })
    // Any answer is a sign of life, also a refusal.
    const probe = () => void made.ask('api uptime').catch(() => {})
    return { receive, probe, lost: made.lost }
  })
  const over = new AbortController()
  void session.ended.then(() => over.abort())
  const aborted = () => session.close()
  signal.addEventListener('abort', aborted)
  try {
    const before = snapshot(mapping)
    await login(doors, talk as Commands, session, authRequested, clock)
    const lookBack = resync({ feed, mapping, commands: talk as Commands, clock }, before, over.signal)
    // Lost with its connection; the next one asks again.
    lookBack.catch(() => {})
    return session
  } catch (thrown) {
    session.close()
    throw thrown
  } finally {
    signal.removeEventListener('abort', aborted)
  }
}

async function login(
  { tcp, password, format, events }: SessionDoors,
  { ask }: Commands,
  session: TcpSession,
  authRequested: Promise<void>,
  clock: Clock,
): Promise<void> {
  const done = new AbortController()
  const seconds = tcp.connectTimeoutMs / 1000
  const late = clock.sleep(tcp.connectTimeoutMs, done.signal).then(() => {
    if (!done.signal.aborted) session.close(`no login within ${seconds} s`)
  })
  const lost = session.ended.then((reason) => {
    throw new Error(reason)
  })
  const steps = async () => {
    await authRequested
    if (!(await ask(`auth ${password}`)).startsWith('+OK')) throw new Error('the switch refuses the password')
    const answer = await ask(`event ${format} ${events.join(' ')}`)
    if (!answer.startsWith('+OK'))
      throw new Error(`the switch refuses the events: ${shown(answer, password)}`)
  }
  try {
    await Promise.race([steps(), lost])
  } finally {
    lost.catch(() => {})
    done.abort()
    await late
  }
}
