/**
 * Connects to one of a list of addresses, and to no other (RFC 8305, "happy eyeballs").
 *
 * Addresses are tried in order; the next attempt starts when the previous one fails or has not connected after a delay,
 * and the first connection wins. Node's own implementation is not used: it abandons a slow address after 250 ms, and
 * takes the list from a lookup hook.
 */
import { connect as connectTcp, type Socket } from 'node:net'
import { isSameAddress } from '../values/address.js'
import type { FailureCause } from '../values/failure-cause.js'
import { classifyError, noResponse, type SendFailure } from './error-classifier.js'

/** Limits attempts, so that a third party's DNS answer cannot make this process a port scanner. */
const MAX_ATTEMPTS = 8
/** RFC 8305, section 5: "Connection Attempt Delay", 250 ms recommended. */
const ATTEMPT_DELAY_MS = 250

/**
 * Causes in order of priority: if addresses fail for several causes, the first of these is reported. An error of the remote
 * machine says more than a missing route, which is usual for IPv6 addresses on a machine without IPv6.
 */
const MOST_TELLING: readonly FailureCause[] = [
  'blocked_address',
  'refused',
  'reset',
  'closed_early',
  'timeout_connect',
  'proxy_failed',
  'unreachable',
]

export type ConnectResult = { readonly socket: Socket } | { readonly failure: SendFailure }

/** Tries one address; calls `done` at most once, asynchronously. Returns a function that aborts it and its connection. */
export type ConnectAttempt = (ip: string, done: (result: ConnectResult) => void) => () => void

/** IPv4 first, then alternating families: most machines have IPv4, and where it is missing it fails at once. @internal */
export function interleaveFamilies(addresses: readonly string[]): readonly string[] {
  const four = addresses.filter((ip) => !ip.includes(':'))
  const six = addresses.filter((ip) => ip.includes(':'))
  const length = Math.max(four.length, six.length)
  return Array.from({ length }, (_, i) => [four[i], six[i]])
    .flat()
    .filter((ip) => ip !== undefined)
}

/**
 * Connects to one of the addresses over TCP. `onSocket` receives every socket as soon as it exists; `done` is called
 * once. Returns a function that aborts everything, after which `done` is not called.
 */
export function connectHappyEyeballs(
  addresses: readonly string[],
  port: number,
  onSocket: (socket: Socket) => void,
  done: (result: ConnectResult, ip?: string) => void,
): () => void {
  return raceAddresses(
    addresses,
    (ip, attemptDone) => connectOne(ip, port, onSocket, attemptDone),
    ATTEMPT_DELAY_MS,
    done,
  )
}

/** As `connectHappyEyeballs`, with any kind of attempt. `delayMs`: time until the next attempt starts as well. `ip`: the address connected to. */
export function raceAddresses(
  addresses: readonly string[],
  attempt: ConnectAttempt,
  delayMs: number,
  done: (result: ConnectResult, ip?: string) => void,
): () => void {
  const list = interleaveFamilies(addresses).slice(0, MAX_ATTEMPTS)
  const pending = new Map<string, () => void>()
  let timer: NodeJS.Timeout | undefined
  let failure: SendFailure = noResponse('connection', 'connection_failed', 'no address to connect to')
  let next = 0
  let isOver = false

  function end(winner?: string): void {
    isOver = true
    clearTimeout(timer)
    for (const [key, abort] of pending) if (key !== winner) abort()
    pending.clear()
  }

  function start(): void {
    clearTimeout(timer)
    const ip = list[next++]!
    // The list may contain an address twice.
    const key = `${next} ${ip}`
    const abort = attempt(ip, (result) => {
      if (isOver) return
      if ('socket' in result) {
        end(key)
        done(result, ip)
        return
      }
      pending.delete(key)
      if (rankOf(result.failure) <= rankOf(failure)) failure = result.failure
      if (next < list.length) start()
      else if (pending.size === 0) {
        end()
        done({ failure })
      }
    })
    pending.set(key, abort)
    if (next < list.length) timer = setTimeout(start, delayMs)
  }

  if (list.length === 0) queueMicrotask(() => isOver || done({ failure }))
  else start()
  return end
}

/** An internal fault takes precedence over other failures: the receiver did not get every attempt. */
function rankOf(failure: SendFailure): number {
  if (failure.kind === 'own_fault') return -1
  const rank = MOST_TELLING.indexOf(failure.cause!)
  return rank < 0 ? MOST_TELLING.length : rank
}

function connectOne(
  ip: string,
  port: number,
  onSocket: (socket: Socket) => void,
  done: (result: ConnectResult) => void,
): () => void {
  const socket = connectTcp({ host: ip, port, lookup: refuseLookup, noDelay: true })
  let isOver = false
  const fail = (failure: SendFailure) => {
    if (isOver) return
    isOver = true
    done({ failure })
  }
  onSocket(socket)
  socket.on('error', (error) => fail(classifyError(error, { ip })))
  socket.once('connect', () => {
    if (isOver) return
    if (socket.remoteAddress && isSameAddress(socket.remoteAddress, ip)) {
      isOver = true
      done({ socket })
      return
    }
    const isOtherPeer = socket.remoteAddress !== undefined
    socket.destroy()
    const detail = 'the peer is not the address connected to'
    fail(
      isOtherPeer
        ? noResponse('blocked_address', 'blocked_address', detail)
        : noResponse('connection', 'reset', detail),
    )
  })
  return () => {
    isOver = true
    socket.destroy()
  }
}

/** Only addresses are connected to. If Node ever mistook one for a name, the lookup fails. */
function refuseLookup(
  hostname: string,
  _: unknown,
  callback: (error: Error, address: string, family: number) => void,
) {
  callback(new Error(`not an address: ${hostname}`), '', 0)
}
