/**
 * Bounds what the publishes of one account hold. A body takes many times its bytes from when it is parsed until its last event is
 * accepted: as many as fit into `MAX_AT_ONCE` are worked on, and the others wait. What waits is bounded too: above it, a client that
 * has publishes in progress waits before its body is read, and another one is refused.
 */
import type { Clock } from '../ports.js'
import { MAX_BODY_BYTES } from './message.js'

/** Bytes of the bodies of one account that are worked on at once. */
const MAX_AT_ONCE = MAX_BODY_BYTES
/** Bytes of the bodies of one account that wait. */
const MAX_WAITING = 8 * MAX_BODY_BYTES
/** Bytes of all bodies that wait; above it, an account may have one that waits. */
const MAX_WAITING_IN_ALL = 64 * MAX_BODY_BYTES
/** Bytes of the bodies of one account that wait or are read, above which others wait before they are read. */
const MAX_READ_AHEAD = MAX_BODY_BYTES
/** How long a publish waits, ms: once before its body is read, and once before it is parsed. */
const MAX_WAIT_MS = 10_000
/** Bodies up to this size wait in a line of their own: single events must not wait for lists. */
const SMALL_BODY_BYTES = 16_384

/** Publishes of one account that wait unread. */
const MAX_UNREAD = 500

/** Why a publish is refused. */
export const TOO_MANY_WAIT = `too many publishes of this account wait: bodies of more than ${MAX_WAITING} bytes, or one for ${MAX_WAIT_MS / 1_000} s`

interface Waiter {
  readonly bytes: number
  settle(isAdmitted: boolean): void
}

/** The publishes of one account. */
interface Line {
  /** Bytes that are worked on. */
  running: number
  /** Bytes that wait. */
  waiting: number
  /** Bytes that are read for those that waited unread. */
  reading: number
  readonly waiters: Waiter[]
  readonly unread: Waiter[]
  /** Number of publishes that are worked on or wait, by token. */
  readonly clients: Map<string, number>
}

/** The place of a publish whose body has to wait before it is read. */
export interface UnreadPublish {
  /** Resolves to whether the body may be read. */
  readonly ready: Promise<boolean>
  /** The body is read, or given up. May be called again. */
  end(): void
}

export interface PublishAdmission {
  /**
   * Called before a body is read.
   *
   * @param token the client's, not yet checked
   * @param bytes the size of the body, or the most that it can have
   * @returns `undefined` if it may be read at once
   */
  beforeReading(accountId: string, token: string, bytes: number): UnreadPublish | undefined
  /**
   * Waits until a body may be parsed. Resolves to what is to be called once when the publish is answered; to `undefined` if it is
   * refused.
   *
   * @param token the client's, after it was checked
   */
  enter(accountId: string, token: string, bytes: number): Promise<(() => void) | undefined>
}

export function createPublishAdmission(clock: Pick<Clock, 'sleep'>): PublishAdmission {
  const lines = new Map<string, Line>()
  /** Bytes of all bodies that wait. */
  let waitingInAll = 0

  const keyOf = (accountId: string, bytes: number) =>
    bytes > SMALL_BODY_BYTES ? accountId : `${accountId}/small`

  function lineOf(key: string): Line {
    let line = lines.get(key)
    if (!line) {
      line = { running: 0, waiting: 0, reading: 0, waiters: [], unread: [], clients: new Map() }
      lines.set(key, line)
    }
    return line
  }

  /** Waits in a line, at most `MAX_WAIT_MS`. Resolves to whether it is its turn; `end` ends the wait. */
  function wait(waiters: Waiter[], bytes: number): { readonly ready: Promise<boolean>; end(): void } {
    const timeout = new AbortController()
    const end = () => timeout.abort()
    const ready = new Promise<boolean>((resolve) => {
      const waiter: Waiter = {
        bytes,
        settle(isAdmitted) {
          resolve(isAdmitted)
          end()
        },
      }
      waiters.push(waiter)
      void clock.sleep(MAX_WAIT_MS, timeout.signal).then(() => {
        const index = waiters.indexOf(waiter)
        if (index >= 0) waiters.splice(index, 1)
        resolve(false)
      })
    })
    return { ready, end }
  }

  const mayRun = ({ running }: Line, bytes: number) => running === 0 || running + bytes <= MAX_AT_ONCE

  const mayWait = ({ waiting }: Line, bytes: number) =>
    waiting === 0 || (waiting + bytes <= MAX_WAITING && waitingInAll + bytes <= MAX_WAITING_IN_ALL)

  function mayRead({ waiting, reading }: Line, bytes: number): boolean {
    const ahead = waiting + reading
    return ahead === 0 || ahead + bytes <= MAX_READ_AHEAD
  }

  function addWaiting(line: Line, bytes: number): void {
    line.waiting += bytes
    waitingInAll += bytes
  }

  /** Admits those whose turn it is. */
  function advance(key: string, line: Line): void {
    for (let [next] = line.waiters; next && mayRun(line, next.bytes); [next] = line.waiters) {
      line.waiters.shift()
      addWaiting(line, -next.bytes)
      line.running += next.bytes
      next.settle(true)
    }
    for (let [next] = line.unread; next && mayRead(line, next.bytes); [next] = line.unread) {
      line.unread.shift()
      line.reading += next.bytes
      next.settle(true)
    }
    if (line.clients.size === 0 && line.reading === 0) lines.delete(key)
  }

  function countClient({ clients }: Line, token: string, change: 1 | -1): void {
    const count = (clients.get(token) ?? 0) + change
    if (count > 0) clients.set(token, count)
    else clients.delete(token)
  }

  return {
    beforeReading(accountId, token, bytes) {
      if (bytes <= SMALL_BODY_BYTES) return undefined
      const key = keyOf(accountId, bytes)
      const line = lines.get(key)
      if (!line?.clients.has(token)) return undefined
      if (line.waiters.length === 0 && line.unread.length === 0) return undefined
      if (line.unread.length >= MAX_UNREAD) return { ready: Promise.resolve(false), end() {} }
      const place = wait(line.unread, bytes)
      let isReading = false
      let isOver = false
      const end = () => {
        isOver = true
        place.end()
        if (!isReading) return
        isReading = false
        line.reading -= bytes
        advance(key, line)
      }
      const ready = place.ready.then((isAdmitted) => {
        isReading = isAdmitted
        if (isOver) end()
        return isAdmitted
      })
      return { ready, end }
    },
    async enter(accountId, token, bytes) {
      const key = keyOf(accountId, bytes)
      const line = lineOf(key)
      countClient(line, token, 1)
      const leave = () => {
        countClient(line, token, -1)
        advance(key, line)
      }
      if (line.waiters.length === 0 && mayRun(line, bytes)) line.running += bytes
      else {
        if (!mayWait(line, bytes)) {
          leave()
          return undefined
        }
        addWaiting(line, bytes)
        if (!(await wait(line.waiters, bytes).ready)) {
          addWaiting(line, -bytes)
          leave()
          return undefined
        }
      }
      return () => {
        line.running -= bytes
        leave()
      }
    },
  }
}
