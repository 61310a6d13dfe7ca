/** One connection to ARI at work: events, a list of the open channels, a watch over its silence. */
import type { Clock } from 'hookswitch'
import type { Session } from '../source/connection.js'
import type { Mapped } from '../source/leg-news.js'
import { ariEvent, ariListed, mayMatter } from './ari-event.js'
import { type AriAddress, type AriSocket, ariSocket, messageOf } from './ari-socket.js'
import type { Inbox } from './inbox.js'
import type { Mapping } from './mapping.js'

/** What a session is given. */
export interface AriSessionDoors extends AriAddress {
  readonly clock: Clock
  readonly mapping: Mapping
  readonly take: (mapped: Mapped) => void
  /** What cannot be published yet waits in it; it outlives the connection. */
  readonly inbox: Inbox
  /** How long opening and each request may take, milliseconds. */
  readonly timeoutMs: number
  /** A silence of so long is asked for a sign of life, one of twice so long ends the connection; milliseconds. */
  readonly silenceMs: number
}

/**
 * Connects, subscribes, compares the list.
 *
 * @throws with the reason, in a few words
 */
export async function ariSession(doors: AriSessionDoors, signal: AbortSignal): Promise<Session> {
  const { clock, mapping, take, inbox, timeoutMs, silenceMs } = doors
  // What the last connection brought comes first.
  await inbox.emptied(signal)
  const over = new AbortController()
  let reason: string | undefined
  let endWith: (reason: string) => void = () => {}
  const lost = new Promise<string>((resolve) => {
    endWith = resolve
  })
  let heardMs = clock.monotonic()
  let socket: AriSocket | undefined

  const end = (why: string): void => {
    if (over.signal.aborted) return
    reason = why
    over.abort()
    socket?.destroy()
    endWith(why)
  }
  const read = (frame: string): void => {
    const event = ariEvent(frame, clock.now())
    if (!event) return
    if ('isReplaced' in event) end('another client has taken over the application: each needs its own `app`')
    else if ('malformed' in event)
      take({ news: [], problems: [{ kind: 'malformed', message: event.malformed }] })
    else {
      const mapped = mapping.map(event.happening)
      if (mapped.news.length > 0 || mapped.problems.length > 0) take(mapped)
    }
  }

  const opened = await ariSocket(doors, clock, timeoutMs, signal, {
    frame(text) {
      heardMs = clock.monotonic()
      if (over.signal.aborted || !mayMatter(text)) return
      if (!inbox.put(() => read(text), text.length))
        end('more events than can be published: it is ended and comes back')
    },
    pong: () => {
      heardMs = clock.monotonic()
    },
    ended: end,
  })
  socket = opened
  // It may have ended in the very moment in which it was opened.
  if (over.signal.aborted) opened.destroy()
  const abort = () => end('closed')
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()

  try {
    const question = mapping.ask()
    const [channels, bridges] = await Promise.all([opened.get('/channels'), opened.get('/bridges')])
    const listed = ariListed(channels, bridges)
    inbox.put(() => take(mapping.compare(question, listed, clock.now())), 0)
  } catch (thrown) {
    end(messageOf(thrown, doors))
    throw new Error(reason)
  } finally {
    signal.removeEventListener('abort', abort)
  }

  const watch = async () => {
    for (;;) {
      await clock.sleep(silenceMs, over.signal)
      if (over.signal.aborted) return
      const silentMs = clock.monotonic() - heardMs
      if (silentMs >= 2 * silenceMs) return end(`no sign of life for ${silentMs / 1000} s`)
      if (silentMs >= silenceMs) opened.ping()
    }
  }
  void watch()
  return { ended: lost, close: () => end('closed') }
}
