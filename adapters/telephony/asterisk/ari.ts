/** The source for the Asterisk REST Interface (ARI): options and connection. */
import { checkSingleLine, checkSourceOptions, invalidOption, type SourceOptions } from '../source/options.js'
import { createSwitchSource, type SwitchSource } from '../source/switch-source.js'
import { openAriSession } from './ari-session.js'
import { type BackpressureBuffer, createBackpressureBuffer } from './backpressure-buffer.js'
import { LEG_OPTION_CHECKS, type LegOptions } from './leg-options.js'
import { createAsteriskMapping } from './mapping.js'

/** Options of `asteriskAri`. */
export interface AsteriskAriOptions extends SourceOptions, LegOptions {
  /** The URL of ARI, without user and password. Default 'http://127.0.0.1:8088/ari'. */
  readonly url?: string
  /** The user in `ari.conf`; `read_only = yes` is sufficient. */
  readonly username: string
  /** The user's `password` in `ari.conf`. */
  readonly password: string
  /** The application to subscribe as; no other client may use it. Default 'hookswitch'. */
  readonly app?: string
}

/** Defaults of `AsteriskAriOptions`. */
export const ARI_DEFAULTS = Object.freeze({ url: 'http://127.0.0.1:8088/ari', app: 'hookswitch' })

const TIMEOUT_MS = 10_000
const SILENCE_MS = 20_000

/**
 * Connects to the REST interface of an Asterisk (16 or newer), subscribes to all channels and publishes their events.
 * The source reconnects automatically; a list of the open channels then reveals what it missed.
 *
 * `ari.conf`, with `enabled = yes` in `http.conf`:
 * ```
 * [general]
 * enabled = yes
 * channelvars = ACCOUNT_ID    ; the channel variables that accountOf and customVariables read
 * [hookswitch]
 * type = user
 * read_only = yes
 * password = …
 * ```
 * A WebSocket has no backpressure: while `publish` is full, up to 10,000 events (32 MiB) are buffered; above that the
 * connection is closed. Buffered events are still published; then the source reconnects, and the list reveals what it
 * missed. Times of ARI have milliseconds only. Needs `undici`, a dependency of this package.
 *
 * @throws `InvalidOption` with the name of the option
 * @example
 * const source = asteriskAri({ publish: hs.publish, username: 'hookswitch', password, accountOf: accountFromVariable('ACCOUNT_ID') })
 * source.start()
 */
export function asteriskAri(options: AsteriskAriOptions): SwitchSource {
  const specificChecks = {
    ...LEG_OPTION_CHECKS,
    url: checkAriUrl,
    username: checkUsername,
    password: checkSingleLine,
    app: checkSingleLine,
  }
  const required = ['username', 'password', 'accountOf']
  const checked = checkSourceOptions('asteriskAri', options, specificChecks, required)
  const { username, password } = options
  const url = (options.url ?? ARI_DEFAULTS.url).replace(/\/+$/, '')
  const app = options.app ?? ARI_DEFAULTS.app
  const { accountOf, realmOf, customVariables } = options
  const { clock, maxOpenLegs } = checked
  const mapping = createAsteriskMapping({ accountOf, realmOf, customVariables, maxOpenLegs })
  let buffer: BackpressureBuffer | undefined

  return createSwitchSource(checked, {
    peer: `asterisk ${url}`,
    openLegs: mapping.openLegs,
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
        timeoutMs: TIMEOUT_MS,
        silenceMs: SILENCE_MS,
      }
      return openAriSession({ ...address, ...deps }, signal)
    },
  })
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
