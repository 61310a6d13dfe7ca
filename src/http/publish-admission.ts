/**
 * Bounds what publishes over HTTP hold. A body takes many times its bytes from when it is parsed until its last event is accepted: a
 * limited number of bytes is worked on, others wait, and above that they are refused. Refusals are answered at a limited rate: a client
 * that repeats at once would otherwise make the service read bodies all the time.
 *
 * Bodies are counted for the account in which they publish and for the client: the account of the token, which may publish in
 * all accounts below it. Those of one account start in the order of arrival, and the accounts of a client take turns.
 */
import type { Clock } from '../ports.js'
import { MAX_BODY_BYTES } from './message.js'

/**
 * Bytes of the bodies in one account that are worked on at once, or one body. More lists at once are not accepted faster, and make others
 * wait longer.
 */
const MAX_AT_ONCE = 262_144
/** The same of small bodies: their events are accepted together. */
const MAX_SMALL_AT_ONCE = MAX_BODY_BYTES
/** The same of all bodies of one client, large or small. */
const MAX_OF_CLIENT_AT_ONCE = 4 * MAX_BODY_BYTES
/** Bytes of the bodies in one account that wait. */
const MAX_WAITING = 8 * MAX_BODY_BYTES
/** Bytes of the bodies of one client that wait, and of all: above the latter, of each client fewer may wait. */
const MAX_OF_CLIENT_WAITING = 32 * MAX_BODY_BYTES
const MAX_WAITING_IN_ALL = 64 * MAX_BODY_BYTES
const MIN_OF_CLIENT_WAITING = MAX_BODY_BYTES
const MAX_WAIT_MS = 10_000
/** Bodies up to this size, large or small ones apart: single events must not wait for lists. */
const SMALL_BODY_BYTES = 16_384
/** Time between two refusals of one client, ms. */
const REFUSAL_MS = 20

/** Why a publish is refused. */
export const TOO_MANY_WAIT = `too many publishes wait: bodies of more than ${MAX_WAITING} bytes in this account or ${MAX_OF_CLIENT_WAITING} of this client, or one for ${MAX_WAIT_MS / 1_000} s`

interface Waiter {
  readonly bytes: number
  start(): void
}

/** The bodies of one client in one account. */
interface Line {
  /** Bytes that are worked on. */
  running: number
  /** Bytes that wait. */
  waiting: number
  readonly waiters: Waiter[]
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

export interface PublishAdmission {
  /**
   * Waits until a body may be parsed. Resolves to what is to be called once when the publish is answered; to `undefined` if it is
   * refused.
   *
   * @param clientId the account of the token
   * @param accountId the account in which the events happened
   */
  enter(clientId: string, accountId: string, bytes: number): Promise<(() => void) | undefined>
  /** Waits until a refusal of a client may be answered: at least 20 ms after the one before, at most 10 s. */
  beforeRefusal(clientId: string): Promise<void>
}

export function createPublishAdmission(clock: Pick<Clock, 'monotonic' | 'sleep'>): PublishAdmission {
  const large = createLane(clock, MAX_AT_ONCE)
  const small = createLane(clock, MAX_SMALL_AT_ONCE)
  /** When the last refusal of each client is answered, and how many are not yet. */
  const refusals = new Map<string, { lastMs: number; pending: number }>()
  return {
    enter: (clientId, accountId, bytes) =>
      (bytes > SMALL_BODY_BYTES ? large : small)(clientId, accountId, bytes),
    async beforeRefusal(clientId) {
      const nowMs = clock.monotonic()
      const refused = refusals.get(clientId) ?? { lastMs: nowMs, pending: 0 }
      refusals.set(clientId, refused)
      refused.lastMs = Math.min(refused.lastMs + REFUSAL_MS, nowMs + MAX_WAIT_MS)
      refused.pending += 1
      await clock.sleep(refused.lastMs - nowMs)
      refused.pending -= 1
      if (refused.pending === 0) refusals.delete(clientId)
    },
  }
}

function createLane(clock: Pick<Clock, 'sleep'>, maxAtOnce: number): PublishAdmission['enter'] {
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
      line = { running: 0, waiting: 0, waiters: [] }
      lines.set(accountId, line)
    }
    return line
  }

  const fits = ({ running }: Line | Client, bytes: number, max: number) =>
    running === 0 || running + bytes <= max

  function mayWait(client: Client, line: Line, bytes: number): boolean {
    const max = waitingInAll + bytes <= MAX_WAITING_IN_ALL ? MAX_OF_CLIENT_WAITING : MIN_OF_CLIENT_WAITING
    return line.waiting + bytes <= MAX_WAITING && client.waiting + bytes <= max
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
          timeout.abort()
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
    const refuse = () => {
      leave()
      return undefined
    }
    const isFirst = line.waiters.length === 0 && !client.isFull
    if (isFirst && fits(line, bytes, maxAtOnce) && fits(client, bytes, MAX_OF_CLIENT_AT_ONCE))
      addRunning(client, line, bytes)
    else {
      if (!mayWait(client, line, bytes)) return refuse()
      addWaiting(client, line, bytes)
      const isStarted = await wait(client, accountId, line, bytes)
      addWaiting(client, line, -bytes)
      if (!isStarted) return refuse()
    }
    return () => {
      addRunning(client, line, -bytes)
      leave()
    }
  }
}
