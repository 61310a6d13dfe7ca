/** One connection to the event socket in inbound mode: logs in, subscribes and starts the resync. */
import type { Clock } from 'hookswitch'
import type { SwitchSession } from '../source/connection.js'
import type { EventPipeline } from '../source/event-pipeline.js'
import { sanitizeText } from '../source/sanitize.js'
import { openTcpSession, type TcpSession, type TcpSessionOptions } from '../source/tcp-session.js'
import type { AccountLookup } from './account-lookup.js'
import { type CommandChannel, createCommandChannel } from './commands.js'
import type { EventFormat } from './event.js'
import { createEventStream } from './event-stream.js'
import type { FreeswitchMapping } from './mapping.js'
import { resync, takeSnapshot } from './resync.js'

/** Dependencies of a session. */
interface SessionDeps {
  readonly tcp: Omit<TcpSessionOptions, 'isFull'>
  readonly password: string
  readonly format: EventFormat
  /** Names of the events to subscribe to. */
  readonly eventNames: readonly string[]
  readonly mapping: FreeswitchMapping
  readonly pipeline: EventPipeline
  readonly accounts: Pick<AccountLookup, 'connect'>
  /** Called with the TCP session once connected, so that the caller can resume reading. */
  readonly onOpen: (session: TcpSession) => void
}

/**
 * Connects, logs in and subscribes. The resync runs in the background while events already arrive.
 *
 * @throws with a short reason that never contains the password
 */
export async function openSession(deps: SessionDeps, signal: AbortSignal): Promise<SwitchSession> {
  const { tcp, mapping, pipeline } = deps
  const { clock } = tcp
  let onAuthRequest: () => void = () => {}
  const authRequested = new Promise<void>((resolve) => {
    onAuthRequest = resolve
  })
  let opened: CommandChannel | undefined
  const { session } = await openTcpSession({ ...tcp, isFull: pipeline.isFull }, signal, (tcpSession) => {
    deps.onOpen(tcpSession)
    const channel = createCommandChannel(tcpSession.write)
    opened = channel
    const { receive } = createEventStream({ pipeline, mapping, commands: channel, onAuthRequest })
    // Any reply shows that the switch is alive, even an error.
    const probe = () => void channel.send('api uptime').catch(() => {})
    return { receive, probe, onDisconnected: channel.onDisconnected }
  })
  const commands = opened as CommandChannel
  const over = new AbortController()
  void session.ended.then(() => over.abort())
  const onAbort = () => session.close()
  signal.addEventListener('abort', onAbort)
  try {
    const before = takeSnapshot(mapping)
    await login(deps, commands, session, authRequested, clock)
    deps.accounts.connect({ pipeline, commands, signal: over.signal })
    const resynced = resync({ pipeline, mapping, commands, clock }, before, over.signal)
    // It fails only when the connection is lost; the next connection starts another one.
    let hasResynced = false
    resynced.then(
      () => {
        hasResynced = true
      },
      () => {},
    )
    return { ...session, isSettled: () => hasResynced }
  } catch (thrown) {
    session.close()
    throw thrown
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

async function login(
  { tcp, password, format, eventNames }: SessionDeps,
  { send }: CommandChannel,
  session: TcpSession,
  authRequested: Promise<void>,
  clock: Clock,
): Promise<void> {
  const done = new AbortController()
  const seconds = tcp.connectTimeoutMs / 1000
  const timeout = clock.sleep(tcp.connectTimeoutMs, done.signal).then(() => {
    if (!done.signal.aborted) session.close(`no login within ${seconds} s`)
  })
  const disconnected = session.ended.then((reason) => {
    throw new Error(reason)
  })
  const steps = async () => {
    await authRequested
    if (!(await send(`auth ${password}`)).startsWith('+OK'))
      throw new Error('the switch refuses the password')
    const reply = await send(`event ${format} ${eventNames.join(' ')}`)
    if (!reply.startsWith('+OK'))
      throw new Error(`the switch refuses the events: ${sanitizeText(reply, password)}`)
  }
  try {
    await Promise.race([steps(), disconnected])
  } finally {
    disconnected.catch(() => {})
    done.abort()
    await timeout
  }
}
