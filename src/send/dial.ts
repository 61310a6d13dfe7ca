/**
 * Dials addresses of a list, and nothing else.
 *
 * One after the other, the next when one fails or has said nothing for a while, the first that connects wins (RFC 8305,
 * "happy eyeballs"). Not node's own: that one gives up a slow address after 250 ms, and asks a look-up hook for the list.
 */
import { connect as connectTcp, type Socket } from 'node:net'
import { sameAddress } from '../values/address.js'
import { judgeError, type NoAnswer, noResponse } from './failure.js'

/** A stranger's list must not turn us into a scanner. */
const MAX_DIALS = 8
/** RFC 8305, section 5: "Connection Attempt Delay", 250 ms recommended. */
const NEXT_AFTER_MS = 250

export type Dialled = { readonly socket: Socket } | { readonly failed: NoAnswer }

/** Tries one address, calls `done` at most once, later. Returns what ends it, a connection of its own included. */
export type Try = (ip: string, done: (result: Dialled) => void) => () => void

/** IPv4 first, then by turns: most machines have it, and where they have not its failure comes at once. */
export function dialOrder(addresses: readonly string[]): readonly string[] {
  const four = addresses.filter((ip) => !ip.includes(':'))
  const six = addresses.filter((ip) => ip.includes(':'))
  const longer = Math.max(four.length, six.length)
  return Array.from({ length: longer }, (_, i) => [four[i], six[i]])
    .flat()
    .filter((ip) => ip !== undefined)
}

/**
 * Connects to one of the addresses. `opened` hears of every socket at once, `done` is called once.
 * Returns a function that ends it all, after which `done` is not called.
 */
export function dial(
  addresses: readonly string[],
  port: number,
  opened: (socket: Socket) => void,
  done: (result: Dialled) => void,
): () => void {
  return race(addresses, (ip, tried) => dialOne(ip, port, opened, tried), NEXT_AFTER_MS, done)
}

/** Tries the addresses by `attempt`, one more each `nextAfterMs`; for the rest as `dial`. */
export function race(
  addresses: readonly string[],
  attempt: Try,
  nextAfterMs: number,
  done: (result: Dialled) => void,
): () => void {
  const list = dialOrder(addresses).slice(0, MAX_DIALS)
  const trying = new Map<string, () => void>()
  let timer: NodeJS.Timeout | undefined
  let failure: NoAnswer = noResponse('connection', 'no address to connect to')
  let next = 0
  let isOver = false

  function end(winner?: string): void {
    isOver = true
    clearTimeout(timer)
    for (const [key, stop] of trying) if (key !== winner) stop()
    trying.clear()
  }

  function start(): void {
    clearTimeout(timer)
    const ip = list[next++]!
    // An address may be in the list twice.
    const key = `${next} ${ip}`
    const stop = attempt(ip, (result) => {
      if (isOver) return
      if ('socket' in result) {
        end(key)
        done(result)
        return
      }
      trying.delete(key)
      // What is our fault stays so, whatever else failed: the receiver had no full chance.
      if (failure.kind !== 'own_fault') failure = result.failed
      if (next < list.length) start()
      else if (trying.size === 0) {
        end()
        done({ failed: failure })
      }
    })
    trying.set(key, stop)
    if (next < list.length) timer = setTimeout(start, nextAfterMs)
  }

  if (list.length === 0) queueMicrotask(() => isOver || done({ failed: failure }))
  else start()
  return end
}

function dialOne(
  ip: string,
  port: number,
  opened: (socket: Socket) => void,
  done: (result: Dialled) => void,
): () => void {
  const socket = connectTcp({ host: ip, port, lookup: refuseLookup, noDelay: true })
  let isOver = false
  const failed = (seen: NoAnswer) => {
    if (isOver) return
    isOver = true
    done({ failed: seen })
  }
  opened(socket)
  socket.on('error', (error) => failed(judgeError(error, { ip })))
  socket.once('connect', () => {
    if (isOver) return
    if (socket.remoteAddress && sameAddress(socket.remoteAddress, ip)) {
      isOver = true
      done({ socket })
      return
    }
    const elsewhere = socket.remoteAddress !== undefined
    socket.destroy()
    failed(noResponse(elsewhere ? 'blocked_address' : 'connection', 'the peer is not who was dialled'))
  })
  return () => {
    isOver = true
    socket.destroy()
  }
}

/** Only addresses are dialled; should node ever take one for a name, there is no answer. */
function refuseLookup(
  hostname: string,
  _: unknown,
  callback: (error: Error, address: string, family: number) => void,
) {
  callback(new Error(`not an address: ${hostname}`), '', 0)
}
