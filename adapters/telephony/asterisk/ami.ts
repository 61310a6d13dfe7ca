/** Channel events out of an Asterisk by its manager interface (AMI). */
import { checkSourceOptions, hostName, oneLine, type SourceOptions, whole } from '../source/options.js'
import { type SwitchSource, switchSource } from '../source/switch-source.js'
import { type TcpSession, tcpSession } from '../source/tcp-session.js'
import { type AmiSession, amiSession } from './ami-session.js'
import { CHECKS, type LegOptions } from './leg-options.js'
import { mapping } from './mapping.js'

/** Options of `asteriskAmi`. */
export interface AsteriskAmiOptions extends SourceOptions, LegOptions {
  /** Where Asterisk is. Default '127.0.0.1'. */
  readonly host?: string
  /** `port` of `manager.conf`. Default 5038. */
  readonly port?: number
  /** The user of `manager.conf`: `read = call`, `write = reporting`. */
  readonly username: string
  readonly secret: string
  /** The classes of events to ask for. Default 'call': all that is needed is in it. */
  readonly eventMask?: string
}

/** Their defaults. */
export const AMI_DEFAULTS = Object.freeze({ host: '127.0.0.1', port: 5038, eventMask: 'call' })

const CONNECT_TIMEOUT_MS = 10_000
const SILENCE_MS = 20_000

/**
 * Connects to the manager interface of an Asterisk (13 or newer) and publishes what happens to its calls. The
 * connection comes back by itself; what was missed meanwhile is found by a list of the open channels.
 *
 * `manager.conf`:
 * ```
 * [general]
 * enabled = yes
 * timestampevents = yes       ; or the arrival of an event is taken for its time
 * channelvars = ACCOUNT_ID    ; the channel variables that accountOf and customVariables read
 * [hookswitch]
 * secret = …
 * read = call
 * write = reporting           ; to ask for the open channels
 * writetimeout = 5000         ; while `publish` is full nothing is read: Asterisk ends a connection that does not read
 * ```
 * The connection is not encrypted: keep it on the machine, or in a network of your own. Where one host listens to several
 * Asterisks, give each a `systemname` in `asterisk.conf`: their ids are alike otherwise.
 *
 * @throws `InvalidOption` naming the option
 * @example
 * const source = asteriskAmi({ publish: hs.publish, username: 'hookswitch', secret, accountOf: accountFromVariable('ACCOUNT_ID') })
 * source.events.on('disconnected', ({ reason }) => console.log(reason))
 * source.start()
 */
export function asteriskAmi(options: AsteriskAmiOptions): SwitchSource {
  const own = {
    ...CHECKS,
    host: hostName,
    port: whole(1, 65_535),
    username: oneLine,
    secret: oneLine,
    eventMask: oneLine,
  }
  const checked = checkSourceOptions('asteriskAmi', options, own, ['username', 'secret', 'accountOf'])
  const { username, secret } = options
  const host = options.host ?? AMI_DEFAULTS.host
  const port = options.port ?? AMI_DEFAULTS.port
  const eventMask = options.eventMask ?? AMI_DEFAULTS.eventMask
  const { accountOf, realmOf, customVariables } = options
  const { clock, maxOpenLegs } = checked
  const legs = mapping({ accountOf, realmOf, customVariables, maxOpenLegs })
  let current: TcpSession | undefined
  let listens = false
  let roomMs = 0

  return switchSource(checked, {
    peer: `asterisk ${host}:${port}`,
    openLegs: legs.openLegs,
    async open(feed, signal) {
      if (!listens) {
        feed.onRoom(() => {
          roomMs = clock.monotonic()
          current?.resume()
        })
      }
      listens = true
      const to = {
        host,
        port,
        clock,
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        silenceMs: SILENCE_MS,
        isFull: feed.isFull,
      }
      let protocol: AmiSession | undefined
      const { session } = await tcpSession(to, signal, ({ write }) => {
        protocol = amiSession({
          username,
          secret,
          eventMask,
          mapping: legs,
          take: feed.take,
          write,
          nowMs: () => clock.now(),
        })
        return protocol
      })
      current = session
      const abort = () => session.close()
      signal.addEventListener('abort', abort)
      const settled = new AbortController()
      const limit = async () => {
        for (let sinceMs = clock.monotonic(); ; sinceMs = clock.monotonic()) {
          await clock.sleep(CONNECT_TIMEOUT_MS, settled.signal)
          if (settled.signal.aborted) return
          // Who did not read all the time cannot complain.
          if (feed.isFull() || roomMs > sinceMs) continue
          return session.close(`no list of channels within ${CONNECT_TIMEOUT_MS / 1000} s`)
        }
      }
      void limit()
      try {
        if (signal.aborted) abort()
        await protocol?.ready
      } finally {
        settled.abort()
        signal.removeEventListener('abort', abort)
      }
      return session
    },
  })
}
