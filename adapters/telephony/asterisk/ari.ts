/** Channel events out of an Asterisk by its REST interface (ARI). */
import { checkSourceOptions, oneLine, type SourceOptions, wrong } from '../source/options.js'
import { type SwitchSource, switchSource } from '../source/switch-source.js'
import { ariSession } from './ari-session.js'
import { type Inbox, inbox } from './inbox.js'
import { CHECKS, type LegOptions } from './leg-options.js'
import { mapping } from './mapping.js'

/** Options of `asteriskAri`. */
export interface AsteriskAriOptions extends SourceOptions, LegOptions {
  /** Where ARI is, without user and password. Default 'http://127.0.0.1:8088/ari'. */
  readonly url?: string
  /** The user of `ari.conf`; `read_only = yes` is enough. */
  readonly username: string
  readonly password: string
  /** The application to subscribe as: one that nobody else uses. Default 'hookswitch'. */
  readonly app?: string
}

/** Their defaults. */
export const ARI_DEFAULTS = Object.freeze({ url: 'http://127.0.0.1:8088/ari', app: 'hookswitch' })

const TIMEOUT_MS = 10_000
const SILENCE_MS = 20_000

/**
 * Connects to the REST interface of an Asterisk (16 or newer), subscribes to all channels and publishes what happens to
 * them. The connection comes back by itself; what was missed meanwhile is found by a list of the open channels.
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
 * A WebSocket cannot be asked to wait: while `publish` takes nothing, up to 10,000 events (32 MiB) wait here; one more
 * and the connection is ended. What waits is published all the same, then the connection comes back and the list tells
 * what was missed. ARI has milliseconds only. Needs `undici`, a dependency of this package.
 *
 * @throws `InvalidOption` naming the option
 * @example
 * const source = asteriskAri({ publish: hs.publish, username: 'hookswitch', password, accountOf: accountFromVariable('ACCOUNT_ID') })
 * source.start()
 */
export function asteriskAri(options: AsteriskAriOptions): SwitchSource {
  const own = { ...CHECKS, url: ariUrl, username: userName, password: oneLine, app: oneLine }
  const checked = checkSourceOptions('asteriskAri', options, own, ['username', 'password', 'accountOf'])
  const { username, password } = options
  const url = (options.url ?? ARI_DEFAULTS.url).replace(/\/+$/, '')
  const app = options.app ?? ARI_DEFAULTS.app
  const { accountOf, realmOf, customVariables } = options
  const { clock, maxOpenLegs } = checked
  const legs = mapping({ accountOf, realmOf, customVariables, maxOpenLegs })
  let waiting: Inbox | undefined

  return switchSource(checked, {
    peer: `asterisk ${url}`,
    openLegs: legs.openLegs,
    open(feed, signal) {
      if (!waiting) {
        waiting = inbox(feed.isFull)
        feed.onRoom(waiting.drain)
      }
      const doors = { url, username, password, app, clock, timeoutMs: TIMEOUT_MS, silenceMs: SILENCE_MS }
      return ariSession({ ...doors, mapping: legs, take: feed.take, inbox: waiting }, signal)
    },
  })
}

/** An address without a key: it is part of the log. */
function ariUrl(field: string, value: unknown): void {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw wrong(field, 'must be an http or https address')
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw wrong(field, 'must have no user, no password and no query: they are options of their own')
  }
}

/** Basic authentication ends the name at its first colon (RFC 7617, 2). */
function userName(field: string, value: unknown): void {
  oneLine(field, value)
  if ((value as string).includes(':')) throw wrong(field, 'must have no colon')
}
