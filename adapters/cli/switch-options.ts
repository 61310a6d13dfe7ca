/** Chooses the switches and the source of a call's account from the flags. Opens nothing. */
import { wrongFlag } from './read-flags.js'

/** The flags that name a switch, as text. */
export interface SwitchFlags {
  readonly freeswitch: readonly string[]
  readonly asteriskAmi: readonly string[]
  readonly asteriskAri: readonly string[]
  readonly kamailio: readonly string[]
  readonly accountFrom?: string
}

/** Where the account of a call is read. The value is an account id, except for `realm`. */
export type AccountFrom =
  | { readonly kind: 'variable' | 'sip-header'; readonly name: string }
  | { readonly kind: 'realm' | 'context' | 'endpoint' | 'account-code' }

interface Address {
  readonly host: string
  readonly port: number
}

/** A switch to connect to. */
export type SwitchChoice =
  | ({ readonly kind: 'freeswitch'; readonly password: string } & Address)
  | ({ readonly kind: 'asterisk-ami'; readonly username: string; readonly secret: string } & Address)
  | {
      readonly kind: 'asterisk-ari'
      readonly url: string
      readonly username: string
      readonly password: string
    }
  | ({ readonly kind: 'kamailio' } & Address)

/** All switches and the source of the account. */
export interface SwitchChoices {
  readonly switches: readonly SwitchChoice[]
  readonly accountFrom: AccountFrom
}

type Environment = Readonly<Record<string, string | undefined>>

/** What each switch can provide; the usual choice first. */
const PROVIDES: Readonly<Record<SwitchChoice['kind'], readonly AccountFrom['kind'][]>> = {
  freeswitch: ['variable', 'sip-header', 'realm', 'context', 'endpoint', 'account-code'],
  'asterisk-ami': ['variable', 'account-code', 'context', 'endpoint'],
  'asterisk-ari': ['variable', 'account-code', 'context', 'endpoint'],
  kamailio: ['realm'],
}

/** FreeSWITCH's default, which every installation should change. */
const FREESWITCH_PASSWORD = 'ClueCon'

/**
 * Chooses the switches of the flags. Passwords come from the environment, to keep them out of the process list.
 *
 * @returns `undefined` without a switch
 * @throws `InvalidOption` naming the flag or the variable; the message quotes no password
 */
export function chooseSwitches(flags: SwitchFlags, env: Environment): SwitchChoices | undefined {
  const switches: readonly SwitchChoice[] = [
    ...flags.freeswitch.map((text) => freeswitch(text, env)),
    ...flags.asteriskAmi.map((text) => ami(text, env)),
    ...flags.asteriskAri.map((text) => ari(text, env)),
    ...flags.kamailio.map((text): SwitchChoice => {
      return { kind: 'kamailio', ...address('--kamailio', text, 8448) }
    }),
  ]
  const { accountFrom: text } = flags
  if (switches.length === 0) {
    if (text !== undefined) throw wrongFlag('--account-from', 'needs a switch, and none is given')
    return undefined
  }
  if (text === undefined && switches.some(({ kind }) => kind !== 'kamailio')) {
    throw wrongFlag(
      '--account-from',
      'is required: where to read the account of a call, such as variable:NAME',
    )
  }
  const accountFrom = text === undefined ? { kind: 'realm' as const } : accountFromOf(text)
  // Kamailio always uses the realm, also beside other switches.
  const others = switches.filter(({ kind }) => kind !== 'kamailio')
  const unable = (others.length > 0 ? others : switches).find(
    ({ kind }) => !PROVIDES[kind].includes(accountFrom.kind),
  )
  if (unable) {
    const possible = PROVIDES[unable.kind].join(', ')
    throw wrongFlag(
      '--account-from',
      `cannot be ${accountFrom.kind} with ${unable.kind}, which provides ${possible}`,
    )
  }
  return { switches, accountFrom }
}

function accountFromOf(text: string): AccountFrom {
  const [kind = '', ...rest] = text.split(':')
  const name = rest.join(':')
  if (kind === 'variable' || kind === 'sip-header') {
    if (!/^[\w.-]{1,128}$/.test(name)) throw wrongFlag('--account-from', `needs a name: ${kind}:NAME`)
    return { kind, name }
  }
  if (kind === 'realm' || kind === 'context' || kind === 'endpoint' || kind === 'account-code') {
    if (rest.length > 0) throw wrongFlag('--account-from', `${kind} takes no name`)
    return { kind }
  }
  const possible = 'variable:NAME, sip-header:NAME, realm, context, endpoint or account-code'
  throw wrongFlag('--account-from', `must be ${possible}, not '${text}'`)
}

function freeswitch(text: string, env: Environment): SwitchChoice {
  const password = secretOf(env, 'HOOKSWITCH_FREESWITCH_PASSWORD') ?? FREESWITCH_PASSWORD
  return { kind: 'freeswitch', ...address('--freeswitch', text, 8021), password }
}

function ami(text: string, env: Environment): SwitchChoice {
  const [username, target] = userAt('--asterisk-ami', text)
  const secret = requiredSecret(env, 'HOOKSWITCH_AMI_SECRET', '--asterisk-ami')
  return {
    kind: 'asterisk-ami',
    username,
    secret,
    ...address('--asterisk-ami', target, 5038, 'USER@HOST or USER@HOST:PORT'),
  }
}

function ari(text: string, env: Environment): SwitchChoice {
  const flag = '--asterisk-ari'
  const like = 'must be a URL like http://user@127.0.0.1:8088/ari'
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw wrongFlag(flag, like)
  if (url.password !== '') throw wrongFlag(flag, 'must not contain a password: use HOOKSWITCH_ARI_PASSWORD')
  if (url.username === '') throw wrongFlag(flag, `${like}: the user is missing`)
  if (/[\r\n\t]/.test(text)) throw wrongFlag(flag, `${like}, on one line`)
  if (url.search !== '' || url.hash !== '') throw wrongFlag(flag, `${like}, without ? and #`)
  const username = decoded(url.username)
  if (username === undefined || /[\p{Cc}:]/u.test(username)) {
    throw wrongFlag(flag, 'has an invalid user: wrong percent-encoding, a colon or a control character')
  }
  url.username = ''
  const password = requiredSecret(env, 'HOOKSWITCH_ARI_PASSWORD', flag)
  return { kind: 'asterisk-ari', url: url.href.replace(/\/$/, ''), username, password }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Splits `user@host:port` at the last `@`. */
function userAt(flag: string, text: string): readonly [string, string] {
  const at = text.lastIndexOf('@')
  const username = text.slice(0, Math.max(at, 0))
  if (!/^[^\s:@]+$/.test(username)) throw wrongFlag(flag, 'must be USER@HOST:PORT, without a password')
  return [username, text.slice(at + 1)]
}

/** `host`, `host:port`, `[::1]:port`. */
function address(flag: string, text: string, defaultPort: number, like = 'HOST or HOST:PORT'): Address {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^\s:@/[\]]+))(?::(\d{1,5}))?$/i.exec(text)
  const port = Number(match?.[3] ?? defaultPort)
  if (!match || port < 1 || port > 65_535) throw wrongFlag(flag, `must be ${like}`)
  return { host: match[1] ?? match[2] ?? '', port }
}

function requiredSecret(env: Environment, name: string, flag: string): string {
  const secret = secretOf(env, name)
  if (secret === undefined) throw wrongFlag(name, `is required by ${flag}`)
  return secret
}

function secretOf(env: Environment, name: string): string | undefined {
  const secret = env[name]
  if (secret === undefined) return undefined
  if (secret === '') throw wrongFlag(name, 'must not be empty')
  if (/[\r\n\0]/.test(secret)) throw wrongFlag(name, 'must be one line of text')
  return secret
}
