/** The source for the Asterisk Manager Interface (AMI): options and TCP connection. */
import type { OptionalHook } from '../source/optional-hooks.js'
import {
  checkHostName,
  checkSingleLine,
  checkSourceOptions,
  checkTls,
  integerBetween,
  OPEN_LEGS_OPTION,
  type OpenLegsOption,
  optionWithDefault,
  requiredOption,
  type SourceOptions,
} from '../source/options.js'
import { createSwitchSource, type SwitchSource } from '../source/switch-source.js'
import { openTcpSession, type TcpSession, type TlsOptions } from '../source/tcp-session.js'
import { type AmiSession, createAmiSession } from './ami-session.js'
import { LEG_OPTIONS, type LegOptions } from './leg-options.js'
import { limitWaits } from './limit-waits.js'
import { createAsteriskMapping } from './mapping.js'

/** Options of `asteriskAmi`. */
export interface AsteriskAmiOptions extends SourceOptions, LegOptions, OpenLegsOption {
  /** Host name or address of Asterisk. Default '127.0.0.1'. */
  readonly host?: string | undefined
  /** `port` of `manager.conf`, or with `tls` that of `tlsbindaddr`. Default 5038, with `tls` 5039. */
  readonly port?: number | undefined
  /**
   * Encrypts the connection (`tlsenable = yes` in `manager.conf`). `true`: an authority that Node trusts has signed the
   * certificate. Default: not encrypted.
   */
  readonly tls?: boolean | TlsOptions | undefined
  /** The user in `manager.conf`, with `read = call,dialplan,agent` and `write = reporting`. */
  readonly username: string
  /** The user's `secret` in `manager.conf`. */
  readonly secret: string
  /**
   * The event classes to subscribe to. Default 'call,dialplan,agent', which contain all events that are needed: without
   * 'agent' if neither a hook of a queue nor `missed_call` is selected, with 'dtmf' if `channel_dtmf` is, with 'system' if one
   * of a device is. 'call' alone is half of the stream; then a variable that the dial plan sets is known only with the next
   * event of the call.
   */
  readonly eventMask?: string | undefined
}

/** The table of `AsteriskAmiOptions`; the defaults of `port` and `eventMask` depend on other options. */
const AMI_OPTIONS = {
  username: requiredOption(checkSingleLine),
  secret: requiredOption(checkSingleLine),
  ...LEG_OPTIONS,
  ...OPEN_LEGS_OPTION,
  host: optionWithDefault(checkHostName, '127.0.0.1'),
  port: { check: integerBetween(1, 65_535) },
  tls: { check: checkTls },
  eventMask: { check: checkSingleLine },
}

const CONNECT_TIMEOUT_MS = 10_000
const SILENCE_MS = 10_000

/**
 * Connects to the manager interface of an Asterisk (13 or newer) and publishes the channel events of its calls. The
 * source reconnects automatically; a list of the open channels then reveals what it missed.
 *
 * `manager.conf`:
 * ```
 * [general]
 * enabled = yes
 * timestampevents = yes       ; otherwise the arrival time of an event is used
 * ; what accountOf and customVariables read, and whether a number is withheld
 * channelvars = ACCOUNT_ID,CALLERID(num-pres),CONNECTEDLINE(num-pres)
 * [hookswitch]
 * secret = …
 * read = call,dialplan,agent  ; dialplan: the variables that the dial plan sets; agent: queues
 * write = reporting           ; to list the open channels, and to query their times and these settings
 * writetimeout = 5000         ; while `publish` is full nothing is read: Asterisk closes a connection that does not read
 * ```
 * Without `tls` the connection is not encrypted: use it on one machine or in a private network. If one host connects to
 * several Asterisks, give each a `systemname` in `asterisk.conf`; otherwise their channel ids may collide.
 *
 * @throws `InvalidOption` with the name of the option
 * @example
 * const source = asteriskAmi({ publish: hs.publish, username: 'hookswitch', secret, accountOf: accountFromVariable('ACCOUNT_ID') })
 * source.events.on('disconnected', ({ reason }) => console.log(reason))
 * source.start()
 */
export function asteriskAmi(options: AsteriskAmiOptions): SwitchSource {
  const checked = checkSourceOptions('asteriskAmi', options, AMI_OPTIONS)
  const { username, secret, host, clock } = checked
  const tls = options.tls === true ? {} : options.tls || undefined
  const port = options.port ?? (tls ? 5039 : 5038)
  const { optionalHooks } = checked
  const classes = classesFor(optionalHooks)
  const eventMask = options.eventMask ?? ['call', 'dialplan', ...classes].join(',')
  const selectedClasses = options.optionalHooks ? classes : []
  const mapping = createAsteriskMapping(checked)
  const reportedSettings = new Set<string>()
  let currentSession: TcpSession | undefined
  let isListening = false
  let lastResumeMs = 0

  return createSwitchSource(checked, {
    peer: `asterisk ${host}:${port}`,
    addressOption: 'host',
    openLegs: mapping.openLegs,
    savableLegs: mapping.savable,
    flush: mapping.flush,
    async open(pipeline, signal) {
      if (!isListening) {
        pipeline.onCapacity(() => {
          lastResumeMs = clock.monotonic()
          currentSession?.resume()
        })
      }
      isListening = true
      const tcpOptions = {
        host,
        port,
        tls,
        clock,
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        silenceMs: SILENCE_MS,
        isFull: pipeline.isFull,
      }
      let protocol: AmiSession | undefined
      const { session } = await openTcpSession(tcpOptions, signal, ({ write }) => {
        protocol = createAmiSession({
          username,
          secret,
          eventMask,
          selectedClasses,
          mapping,
          reportedSettings,
          push: pipeline.push,
          write,
          nowMs: () => clock.now(),
        })
        return protocol
      })
      currentSession = session
      const over = new AbortController()
      void session.ended.then(() => over.abort())
      void limitWaits({
        clock,
        settle: () => pipeline.push(mapping.settleWaiting()),
        signal: over.signal,
      })
      const abort = () => session.close()
      signal.addEventListener('abort', abort)
      const settled = new AbortController()
      const limitListing = async () => {
        for (let sinceMs = clock.monotonic(); ; sinceMs = clock.monotonic()) {
          await clock.sleep(CONNECT_TIMEOUT_MS, settled.signal)
          if (settled.signal.aborted) return
          // The timeout counts only if the socket was being read all the time.
          if (pipeline.isFull() || lastResumeMs > sinceMs) continue
          return session.close(`no list of channels within ${CONNECT_TIMEOUT_MS / 1000} s`)
        }
      }
      void limitListing()
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

/** Returns the event classes of these hooks beside those of a leg. */
function classesFor(optionalHooks: readonly OptionalHook[]): readonly string[] {
  const classes: string[] = []
  // A call that a queue dials is not missed.
  if (optionalHooks.some((hook) => hook.startsWith('queue_') || hook === 'missed_call')) classes.push('agent')
  if (optionalHooks.includes('channel_dtmf')) classes.push('dtmf')
  if (optionalHooks.some((hook) => hook.startsWith('device_'))) classes.push('system')
  return classes
}
