/** Which switches the command line connects to, and what tells whose call it is. Nothing is opened here. */
import { wrongFlag } from './read-flags.js'

/** The flags that name a switch, as text. */
export interface SwitchFlags {
  readonly freeswitch: readonly string[]
  readonly asteriskAmi: readonly string[]
  readonly asteriskAri: readonly string[]
  readonly kamailio: readonly string[]
  readonly accountFrom?: string
}

/** What tells whose call it is; its value is the id of the account, but for `realm`, which is the account's own. */
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

/** All of them, and what tells the account. */
export interface SwitchChoices {
  readonly switches: readonly SwitchChoice[]
  readonly accountFrom: AccountFrom
}

type Environment = Readonly<Record<string, string | undefined>>

/** Where a switch tells what; the first is what it is mostly set up with. */
const TELLS: Readonly<Record<SwitchChoice['kind'], readonly AccountFrom['kind'][]>> = {
  freeswitch: ['variable', 'sip-header', 'realm', 'context', 'endpoint', 'account-code'],
  'asterisk-ami': ['variable', 'account-code', 'context', 'endpoint'],
  'asterisk-ari': ['variable', 'account-code', 'context', 'endpoint'],
  kamailio: ['realm'],
}

/** FreeSWITCH's own default, which every installation should have changed. */
const FREESWITCH_PASSWORD = 'ClueCon'

/**
 * The switches of the flags; their passwords stand in the environment, not in the list of processes.
 *
 * @returns `undefined` where no switch is named
 * @throws `InvalidOption` naming the flag or the variable; no password is ever quoted
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
    if (text !== undefined) throw wrongFlag('--account-from', 'is for switches, of which none is named')
    return undefined
  }
  if (text === undefined && switches.some(({ kind }) => kind !== 'kamailio')) {
    throw wrongFlag('--account-from', 'is missing: it says what tells whose call it is, as variable:NAME')
  }
  const accountFrom = text === undefined ? { kind: 'realm' as const } : accountFromOf(text)
  // A proxy beside other switches is looked up by realm, whatever tells of theirs.
  const others = switches.filter(({ kind }) => kind !== 'kamailio')
  const deaf = (others.length > 0 ? others : switches).find(
    ({ kind }) => !TELLS[kind].includes(accountFrom.kind),
  )
  if (deaf) {
    const told = TELLS[deaf.kind].join(', ')
    throw wrongFlag('--account-from', `cannot be ${accountFrom.kind} with ${deaf.kind}, which tells ${told}`)
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
  const known = 'variable:NAME, sip-header:NAME, realm, context, endpoint or account-code'
  throw wrongFlag('--account-from', `must be ${known}, not '${text}'`)
}

function freeswitch(text: string, env: Environment): SwitchChoice {
  const password = secretOf(env, 'HOOKSWITCH_FREESWITCH_PASSWORD') ?? FREESWITCH_PASSWORD
  return { kind: 'freeswitch', ...address('--freeswitch', text, 8021), password }
}

function ami(text: string, env: Environment): SwitchChoice {
  const [username, place] = userAt('--asterisk-ami', text)
  const secret = neededSecret(env, 'HOOKSWITCH_AMI_SECRET', '--asterisk-ami')
  return {
    kind: 'asterisk-ami',
    username,
    secret,
    ...address('--asterisk-ami', place, 5038, 'USER@HOST or USER@HOST:PORT'),
  }
}

function ari(text: string, env: Environment): SwitchChoice {
  const flag = '--asterisk-ari'
  const like = 'must be a URL like http://user@127.0.0.1:8088/ari'
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw wrongFlag(flag, like)
  if (url.password !== '') throw wrongFlag(flag, 'must hold no password: HOOKSWITCH_ARI_PASSWORD does')
  if (url.username === '') throw wrongFlag(flag, `${like}: the user is missing`)
  if (/[\r\n\t]/.test(text)) throw wrongFlag(flag, `${like}, on one line`)
  if (url.search !== '' || url.hash !== '') throw wrongFlag(flag, `${like}, without ? and #`)
  const username = decoded(url.username)
  if (username === undefined || /[\p{Cc}:]/u.test(username)) {
    throw wrongFlag(
      flag,
      'has a user that no login can have: %-codes that are wrong, a colon or a line break',
    )
  }
  url.username = ''
  const password = neededSecret(env, 'HOOKSWITCH_ARI_PASSWORD', flag)
  return { kind: 'asterisk-ari', url: url.href.replace(/\/$/, ''), username, password }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** `user@place`. */
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

function neededSecret(env: Environment, name: string, flag: string): string {
  const secret = secretOf(env, name)
  if (secret === undefined) throw wrongFlag(name, `is missing: ${flag} needs it`)
  return secret
}

function secretOf(env: Environment, name: string): string | undefined {
  const secret = env[name]
  if (secret === undefined) return undefined
  if (secret === '') throw wrongFlag(name, 'must not be empty')
  if (/[\r\n\0]/.test(secret)) throw wrongFlag(name, 'must be a text of one line')
  return secret
}
