/** The source for the Asterisk REST Interface (ARI): options, name of the application, connection. */
import { hostname } from 'node:os'
import type { Random } from 'hookswitch/adapter'
import {
  checkSingleLine,
  checkSourceOptions,
  invalidOption,
  OPEN_LEGS_OPTION,
  type OpenLegsOption,
  optionWithDefault,
  requiredOption,
  type SourceOptions,
} from '../source/options.js'
import { createSwitchSource, type SwitchSource } from '../source/switch-source.js'
import { openAriSession } from './ari-session.js'
import { type BackpressureBuffer, createBackpressureBuffer } from './backpressure-buffer.js'
import { LEG_OPTIONS, type LegOptions } from './leg-options.js'
import { createAsteriskMapping } from './mapping.js'

/** Options of `asteriskAri`. */
export interface AsteriskAriOptions extends SourceOptions, LegOptions, OpenLegsOption {
  /** The URL of ARI, without user and password. Default 'http://127.0.0.1:8088/ari'. */
  readonly url?: string | undefined
  /** The user in `ari.conf`; `read_only = yes` is sufficient. */
  readonly username: string
  /** The user's `password` in `ari.conf`. */
  readonly password: string
  /**
   * The application to subscribe as; no other client may use it. Default 'hookswitch-', the name of this machine, and
   * eight random hexadecimal digits, which differ at each start.
   */
  readonly app?: string | undefined
}

/** The table of `AsteriskAriOptions`; the default of `app` is made for each source. */
const ARI_OPTIONS = {
  username: requiredOption(checkUsername),
  password: requiredOption(checkSingleLine),
  ...LEG_OPTIONS,
  ...OPEN_LEGS_OPTION,
  url: optionWithDefault(checkAriUrl, 'http://127.0.0.1:8088/ari'),
  app: { check: checkApp },
}

/** Returns the name of an application that no other service uses, on this machine or another. */
function uniqueApp(random: Random): string {
  const machine = hostname().replace(/[^\w.-]/g, '-')
  return `hookswitch-${machine}-${Buffer.from(random.bytes(4)).toString('hex')}`
}

const TIMEOUT_MS = 10_000
const SILENCE_MS = 10_000

/**
 * Connects to the REST interface of an Asterisk (16 or newer), subscribes to all channels and publishes their events.
 * The source reconnects automatically; a list of the open channels then reveals what it missed.
 *
 * `ari.conf`, with `enabled = yes` in `http.conf`:
 * ```
 * [general]
 * enabled = yes
 * ; what accountOf and customVariables read, and whether a number is withheld
 * channelvars = ACCOUNT_ID,CALLERID(num-pres),CONNECTEDLINE(num-pres)
 * [hookswitch]
 * type = user
 * read_only = yes
 * password = …
 * ```
 * A WebSocket has no backpressure: while `publish` is full, up to 10,000 events (32 MiB) are buffered; above that the
 * connection is closed. Buffered events are still published; then the source reconnects, and the list reveals what it
 * missed. Times of ARI have milliseconds only. Needs `undici`, a dependency of this package.
 *
 * Asterisk gives the events of an application to its newest connection alone, so each service needs another application. The
 * default name stays the same over reconnects: the new connection replaces one that the network has left behind.
 *
 * @throws `InvalidOption` with the name of the option
 * @example
 * const source = asteriskAri({ publish: hs.publish, username: 'hookswitch', password, accountOf: accountFromVariable('ACCOUNT_ID') })
 * source.start()
 */
export function asteriskAri(options: AsteriskAriOptions): SwitchSource {
  const checked = checkSourceOptions('asteriskAri', options, ARI_OPTIONS)
  const { username, password, clock } = checked
  const url = checked.url.replace(/(?<!\/)\/+$/, '')
  let app = options.app ?? uniqueApp(checked.random)
  const onEvicted = (): string => {
    const reason = 'another client has taken over the application'
    if (options.app !== undefined) return `${reason} ${app}: each client needs its own app`
    app = uniqueApp(checked.random)
    return `${reason}: this one continues as ${app}`
  }
  const mapping = createAsteriskMapping(checked)
  let buffer: BackpressureBuffer | undefined

  return createSwitchSource(checked, {
    peer: `asterisk ${url}`,
    addressOption: 'url',
    openLegs: mapping.openLegs,
    savableLegs: mapping.savable,
    open(pipeline, signal) {
      if (!buffer) {
        buffer = createBackpressureBuffer(pipeline.isFull)
        pipeline.onCapacity(buffer.drain)
      }
      const address = { url, username, password, app }
      const deps = {
        clock,
        mapping,
        push: pipeline.push,
        buffer,
        onEvicted,
        timeoutMs: TIMEOUT_MS,
        silenceMs: SILENCE_MS,
      }
      return openAriSession({ ...address, ...deps }, signal)
    },
  })
}

/** Checks for the name of one application: ARI takes a list, separated by commas. */
function checkApp(field: string, value: unknown): void {
  checkSingleLine(field, value)
  if ((value as string).includes(',')) throw invalidOption(field, 'must not contain a comma')
}

/** Checks for a URL without credentials: it is logged. */
function checkAriUrl(field: string, value: unknown): void {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw invalidOption(field, 'must be an http or https URL')
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw invalidOption(
      field,
      'must not contain a user, a password, a query or a fragment: use the options username and password',
    )
  }
}

/** In Basic authentication the first colon ends the user name (RFC 7617, 2). */
function checkUsername(field: string, value: unknown): void {
  checkSingleLine(field, value)
  if ((value as string).includes(':')) throw invalidOption(field, 'must not contain a colon')
}
