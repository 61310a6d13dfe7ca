/**
 * Bounds what publishes over HTTP hold. A body takes many times its bytes from when it is parsed until its last event is accepted: a
 * limited number of bytes is worked on, others wait, and above that they are refused. Refusals are answered at a limited rate: a client
 * that repeats at once would otherwise make the service read bodies all the time.
 *
 * Bodies are counted for the client (the account of the token, which may publish in all accounts below it) and for the account in
 * which it publishes. Those of one client in one account start in the order of arrival, and the accounts of a client take turns. Large
 * and small bodies are counted apart: single events must not wait for lists.
 */
import type { Clock } from '../ports.js'
import { MAX_BODY_BYTES } from './message.js'

/**
 * Bytes of large bodies of a client in one account that are worked on at once, or one body. More lists at once are not accepted faster,
 * and make others wait longer.
 */
const MAX_AT_ONCE = 262_144
/** The same of small bodies, whose events are accepted together. */
const MAX_SMALL_AT_ONCE = MAX_BODY_BYTES
/** The same of a client in all accounts. */
const MAX_OF_CLIENT_AT_ONCE = 4 * MAX_BODY_BYTES
/** Bytes of the bodies of a client in one account that wait. */
const MAX_WAITING = 8 * MAX_BODY_BYTES
/** The same of a client in all accounts, and of all clients. Above them a client may still have in each account what is worked on at once. */
const MAX_OF_CLIENT_WAITING = 32 * MAX_BODY_BYTES
const MAX_WAITING_IN_ALL = 64 * MAX_BODY_BYTES
/** Bytes of all bodies that wait, above which every publish is refused that would have to wait. */
const CEILING_IN_ALL = 128 * MAX_BODY_BYTES
/** How long a body waits, ms. */
const MAX_WAIT_MS = 10_000
/** Larger bodies are large. */
const SMALL_BODY_BYTES = 16_384
/** Time between two refusals of a client in one account, and the longest that one waits for it, ms. */
const REFUSAL_MS = 20
const MAX_REFUSAL_WAIT_MS = 5_000

/** Why a publish is refused. */
export const TOO_MANY_WAIT = `too many publishes wait: ${MAX_WAITING} bytes in this account, ${MAX_OF_CLIENT_WAITING} of this client, ${MAX_WAITING_IN_ALL} in all, or one for ${MAX_WAIT_MS / 1_000} s`

/** Without a reason, an abort creates an exception with a stack. */
const STARTED = 'started'

interface Waiter {
  readonly bytes: number
  start(): void
}

/** The bodies of a client in one account. */
interface Line {
  /** Bytes that are worked on. */
  running: number
  /** Bytes that wait. */
  waiting: number
  readonly waiters: Waiter[]
  /** When the last refusal is answered, monotonic ms. */
  refusedMs: number
}

interface Client {
  running: number
  waiting: number
  /** By account. */
  readonly lines: Map<string, Line>
  /** Those in which a body waits, in the order of their turns. */
  readonly turns: Map<string, Line>
  /** Whether the body whose turn it is waits for other accounts of the client: nobody passes it. */
  isFull: boolean
}

/** A publish that may be worked on. */
interface Admitted {
  /** To be called once, when the publish is answered. */
  leave(): void
}

interface Refused {
  readonly leave?: undefined
  /** When the refusal is to be answered, ms from now. Nobody reads the body any more. */
  readonly afterMs: number
}

/**
 * Waits until a body may be parsed.
 *
 * @param clientId the account of the token
 * @param accountId the account in which the events happened
 */
export type PublishAdmission = (
  clientId: string,
  accountId: string,
  bytes: number,
) => Promise<Admitted | Refused>

export function createPublishAdmission(clock: Pick<Clock, 'monotonic' | 'sleep'>): PublishAdmission {
  const large = createLane(clock, MAX_AT_ONCE)
  const small = createLane(clock, MAX_SMALL_AT_ONCE)
  return (clientId, accountId, bytes) =>
    (bytes > SMALL_BODY_BYTES ? large : small)(clientId, accountId, bytes)
}

function createLane(clock: Pick<Clock, 'monotonic' | 'sleep'>, maxAtOnce: number): PublishAdmission {
  const clients = new Map<string, Client>()
  let waitingInAll = 0

  function clientOf(clientId: string): Client {
    let client = clients.get(clientId)
    if (!client) {
      client = { running: 0, waiting: 0, lines: new Map(), turns: new Map(), isFull: false }
      clients.set(clientId, client)
    }
    return client
  }

  function lineOf({ lines }: Client, accountId: string): Line {
    let line = lines.get(accountId)
    if (!line) {
      line = { running: 0, waiting: 0, waiters: [], refusedMs: 0 }
      lines.set(accountId, line)
    }
    return line
  }

  const fits = ({ running }: Line | Client, bytes: number, max: number) =>
    running === 0 || running + bytes <= max

  function mayWait(client: Client, line: Line, bytes: number): boolean {
    const ofLine = line.waiting + bytes
    const all = waitingInAll + bytes
    if (ofLine > MAX_WAITING || all > CEILING_IN_ALL) return false
    const isLeast = line.waiting === 0 || ofLine <= maxAtOnce
    return isLeast || (client.waiting + bytes <= MAX_OF_CLIENT_WAITING && all <= MAX_WAITING_IN_ALL)
  }

  /** In how many ms the next refusal of a line is to be answered. */
  function paceRefusal(line: Line): number {
    const nowMs = clock.monotonic()
    line.refusedMs = Math.min(Math.max(line.refusedMs, nowMs) + REFUSAL_MS, nowMs + MAX_REFUSAL_WAIT_MS)
    return line.refusedMs - nowMs
  }

  function addRunning(client: Client, line: Line, bytes: number): void {
    client.running += bytes
    line.running += bytes
  }

  function addWaiting(client: Client, line: Line, bytes: number): void {
    client.waiting += bytes
    line.waiting += bytes
    waitingInAll += bytes
  }

  /** Starts those whose turn it is. */
  function advance(client: Client): void {
    client.isFull = false
    for (const [accountId, line] of client.turns) {
      const next = line.waiters[0]!
      if (!fits(line, next.bytes, maxAtOnce)) continue
      client.isFull = !fits(client, next.bytes, MAX_OF_CLIENT_AT_ONCE)
      if (client.isFull) return
      line.waiters.shift()
      // To the end of the turns; the loop comes to it again.
      client.turns.delete(accountId)
      if (line.waiters.length > 0) client.turns.set(accountId, line)
      addRunning(client, line, next.bytes)
      next.start()
    }
  }

  /** Waits in a line. Resolves to whether the body was started. */
  function wait(client: Client, accountId: string, line: Line, bytes: number): Promise<boolean> {
    const timeout = new AbortController()
    return new Promise((resolve) => {
      const waiter: Waiter = {
        bytes,
        start() {
          resolve(true)
          timeout.abort(STARTED)
        },
      }
      line.waiters.push(waiter)
      client.turns.set(accountId, line)
      void clock.sleep(MAX_WAIT_MS, timeout.signal).then(() => {
        const index = line.waiters.indexOf(waiter)
        if (index < 0) return
        line.waiters.splice(index, 1)
        if (line.waiters.length === 0) client.turns.delete(accountId)
        resolve(false)
      })
    })
  }

  return async (clientId, accountId, bytes) => {
    const client = clientOf(clientId)
    const line = lineOf(client, accountId)
    const leave = () => {
      advance(client)
      if (line.running === 0 && line.waiting === 0) client.lines.delete(accountId)
      if (client.lines.size === 0) clients.delete(clientId)
    }
    const refuse = (afterMs: number): Refused => {
      leave()
      return { afterMs }
    }
    const fitsLine = line.waiters.length === 0 && fits(line, bytes, maxAtOnce)
    const fitsClient = !client.isFull && fits(client, bytes, MAX_OF_CLIENT_AT_ONCE)
    if (fitsLine && fitsClient) addRunning(client, line, bytes)
    else {
      if (!mayWait(client, line, bytes)) return refuse(paceRefusal(line))
      if (fitsLine) client.isFull = true
      addWaiting(client, line, bytes)
      const isStarted = await wait(client, accountId, line, bytes)
      addWaiting(client, line, -bytes)
      if (!isStarted) return refuse(0)
    }
    return {
      leave() {
        addRunning(client, line, -bytes)
        leave()
      },
    }
  }
}
