/**
 * Chooses the switches of the settings: each is an address with parameters, as text (`HOST:PORT?name=value&name=value`) or as
 * an object of the configuration file. Opens nothing.
 */
import type { HookswitchError } from 'hookswitch'
import { type AccountFrom, accountFromParameter } from './account-from.js'
import { collectProblems } from './problems.js'
import { defined, wrongFlag } from './read-flags.js'
import { type Settings, wrongSetting } from './read-settings.js'
import type { Environment } from './secret-variables.js'
import { flagOf, variableOf } from './setting-names.js'
import type {
  Address,
  AmiChoice,
  AnyChoice,
  AriChoice,
  FreeswitchChoice,
  KamailioChoice,
  OutboundChoice,
  SwitchChoice,
} from './switch-choice.js'
import {
  decoded,
  type ParameterReaders,
  type ParameterValues,
  readParameters,
  splitParameters,
  textOfParameter,
} from './switch-parameters.js'
import { keyOfParameter, type SwitchItem } from './switch-schema.js'
import { SWITCH_PARAMETERS, type SwitchSetting } from './switch-table.js'

/** What each switch can provide; the usual choice first. */
const PROVIDES: Readonly<Record<SwitchChoice['kind'], readonly AccountFrom['kind'][]>> = {
  freeswitch: ['variable', 'sip-header', 'realm', 'context', 'endpoint', 'account-code'],
  'freeswitch-outbound': ['variable', 'sip-header', 'realm', 'context', 'endpoint', 'account-code'],
  'asterisk-ami': ['variable', 'account-code', 'context', 'endpoint'],
  'asterisk-ari': ['variable', 'account-code', 'context', 'endpoint'],
  kamailio: ['realm'],
}

/** FreeSWITCH's default, which every installation should change. */
const FREESWITCH_PASSWORD = 'ClueCon'

type Values<Name extends SwitchSetting> = ParameterValues<(typeof SWITCH_PARAMETERS)[Name]>

/** One switch of a setting, before its address is read. */
interface SwitchEntry {
  readonly flag: string
  readonly address: string
  /** The password of an object. */
  readonly password?: string
  /** The error about the switch. */
  wrong(sentence: string): HookswitchError
  /** The error about a parameter of it. */
  wrongParameter(name: string, sentence: string): HookswitchError
}

/** Where passwords come from. */
interface Passwords {
  readonly settings: Settings
  readonly env: Environment
  /** False: a password that is not there is not an error, because only a file is checked. */
  readonly areRequired: boolean
}

/** How each setting's value becomes a choice. */
const READERS: {
  readonly [Name in SwitchSetting]: (
    entry: SwitchEntry,
    values: Values<Name>,
    passwords: Passwords,
  ) => AnyChoice
} = {
  freeswitch,
  freeswitchOutbound: outbound,
  asteriskAmi: ami,
  asteriskAri: ari,
  kamailio,
}

const NAMES = Object.keys(READERS) as SwitchSetting[]

/**
 * Chooses the switches of the settings. Passwords come from the environment or the file, never from a flag, to keep them out
 * of the process list.
 *
 * @param arePasswordsRequired false: a missing password is no error, to check a file where its passwords are not
 * @returns empty without a switch
 * @throws `InvalidOption` naming the setting and the parameter; the message quotes no password
 */
export function chooseSwitches(
  settings: Settings,
  env: Environment,
  arePasswordsRequired = true,
): readonly SwitchChoice[] {
  const text = settings.values.accountFrom
  const shared =
    text === undefined
      ? undefined
      : accountFromParameter(text, (sentence) =>
          wrongSetting(settings, 'accountFrom', `${sentence}, not '${text}'`),
        )
  const passwords = { settings, env, areRequired: arePasswordsRequired }
  const problems = collectProblems()
  const switches = NAMES.flatMap((name) => {
    const items: readonly SwitchItem[] = settings.values[name] ?? []
    return items.flatMap((item, index) => {
      try {
        return [chooseSwitch(name, item, index, passwords, shared)]
      } catch (thrown) {
        problems.add([thrown as HookswitchError])
        return []
      }
    })
  })
  problems.throwAny()
  if (shared && switches.length === 0)
    throw wrongSetting(settings, 'accountFrom', 'needs a switch, and none is given')
  return switches
}

function chooseSwitch<Name extends SwitchSetting>(
  name: Name,
  item: SwitchItem,
  index: number,
  passwords: Passwords,
  shared: AccountFrom | undefined,
): SwitchChoice {
  const { settings } = passwords
  const wrong = (sentence: string) => wrongSetting(settings, name, sentence, [index])
  const { entry, values } =
    typeof item === 'string' ? readText(name, item, wrong) : readObject(name, item, index, settings)
  const choice = READERS[name](entry, values, passwords)
  const own = values['account-from']
  // A Kamailio provides the realm alone, so that a rule for other switches does not concern it.
  const accountFrom = own ?? (choice.kind === 'kamailio' ? ({ kind: 'realm' } as const) : shared)
  if (accountFrom === undefined) {
    const like = 'where to read the account of a call, such as variable:NAME'
    throw wrongFlag(
      '--account-from',
      `is required: ${like} (or ${flagOf(name)} ADDRESS?account-from=variable:NAME)`,
    )
  }
  const possible = PROVIDES[choice.kind]
  if (!possible.includes(accountFrom.kind)) {
    const sentence = `cannot be ${accountFrom.kind} with ${choice.kind}, which provides ${possible.join(', ')}`
    throw own
      ? entry.wrongParameter('account-from', sentence)
      : wrongSetting(settings, 'accountFrom', sentence)
  }
  return { ...choice, accountFrom }
}

/** A switch as its address and parameters. */
interface ReadSwitch<Name extends SwitchSetting> {
  readonly entry: SwitchEntry
  readonly values: Values<Name>
}

function readText<Name extends SwitchSetting>(
  name: Name,
  text: string,
  wrong: SwitchEntry['wrong'],
): ReadSwitch<Name> {
  const { address, query } = splitParameters(text)
  const values = readParameters(wrong, query, SWITCH_PARAMETERS[name]) as Values<Name>
  const wrongParameter = (parameter: string, sentence: string) =>
    wrong(`the parameter ${parameter} ${sentence}`)
  return { entry: { flag: flagOf(name), address, wrong, wrongParameter }, values }
}

function readObject<Name extends SwitchSetting>(
  name: Name,
  item: Exclude<SwitchItem, string>,
  index: number,
  settings: Settings,
): ReadSwitch<Name> {
  const readers: ParameterReaders = SWITCH_PARAMETERS[name]
  const wrongAt = (key: string, sentence: string) => wrongSetting(settings, name, sentence, [index, key])
  const values = Object.entries(readers).flatMap(([parameter, read]) => {
    const value = item[keyOfParameter(parameter)]
    if (value === undefined) return []
    const problem = (sentence: string) => wrongAt(keyOfParameter(parameter), sentence)
    return [[parameter, read(textOfParameter(value), problem)]]
  })
  const entry = {
    flag: flagOf(name),
    address: item.address,
    ...(item.password === undefined ? {} : { password: item.password }),
    wrong: (sentence: string) => wrongAt('address', sentence),
    wrongParameter: (parameter: string, sentence: string) => wrongAt(keyOfParameter(parameter), sentence),
  }
  if (item.address.includes('?')) {
    throw entry.wrong('must be an address alone: parameters are properties of the object')
  }
  return { entry, values: Object.fromEntries(values) }
}

/** `custom-variables` → `customVariables`. */
type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name

/** Parameters that are no options of a source: this file reads them. */
const OWN_PARAMETERS = ['account-from', 'password-env', 'realm-from', 'tls', 'ca', 'continue-with'] as const

type SourceValues<Values> = {
  readonly [Name in Exclude<
    keyof Values & string,
    (typeof OWN_PARAMETERS)[number]
  > as CamelCase<Name>]?: Exclude<Values[Name], undefined>
}

/** The parameters that are options of the source, under the names that its function has. */
function sourceOptions<Values extends object>(values: Values): SourceValues<Values> {
  const given = Object.entries(values).filter(
    ([name, value]) => value !== undefined && !OWN_PARAMETERS.some((own) => own === name),
  )
  return Object.fromEntries(given.map(([name, value]) => [keyOfParameter(name), value])) as never
}

function freeswitch(
  entry: SwitchEntry,
  values: Values<'freeswitch'>,
  passwords: Passwords,
): FreeswitchChoice {
  const own = values['password-env']
  const password = passwordOf(entry, 'freeswitchPassword', own, passwords) ?? FREESWITCH_PASSWORD
  return {
    kind: 'freeswitch',
    options: { ...addressOf(entry, entry.address, 8021), password, ...sourceOptions(values) },
  }
}

function outbound(entry: SwitchEntry, values: Values<'freeswitchOutbound'>): OutboundChoice {
  return {
    kind: 'freeswitch-outbound',
    options: { ...addressOf(entry, entry.address, 8084), ...sourceOptions(values) },
    ...defined({ continueWith: values['continue-with'] }),
  }
}

function ami(entry: SwitchEntry, values: Values<'asteriskAmi'>, passwords: Passwords): AmiChoice {
  const [username, target] = userAt(entry, entry.address)
  const isTls = values.tls === true
  if (values.ca !== undefined && !isTls) throw entry.wrongParameter('ca', 'needs tls=yes')
  const secret = requiredPassword(entry, 'amiSecret', values['password-env'], passwords)
  const address = addressOf(entry, target, isTls ? 5039 : 5038, 'USER@HOST or USER@HOST:PORT')
  return {
    kind: 'asterisk-ami',
    options: { ...address, username, secret, ...sourceOptions(values) },
    isTls,
    ...defined({ caFile: values.ca, realmFrom: values['realm-from'] }),
  }
}

function ari(entry: SwitchEntry, values: Values<'asteriskAri'>, passwords: Passwords): AriChoice {
  const { address: text, wrong } = entry
  const like = 'must be a URL like http://user@127.0.0.1:8088/ari'
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw wrong(like)
  if (url.password !== '') throw wrong('must not contain a password: use HOOKSWITCH_ARI_PASSWORD')
  if (url.username === '') throw wrong(`${like}: the user is missing`)
  if (/[\r\n\t]/.test(text)) throw wrong(`${like}, on one line`)
  if (url.hash !== '') throw wrong(`${like}, without #`)
  const username = decoded(url.username)
  if (username === undefined || /[\p{Cc}:]/u.test(username)) {
    throw wrong('has an invalid user: wrong percent-encoding, a colon or a control character')
  }
  url.username = ''
  const password = requiredPassword(entry, 'ariPassword', values['password-env'], passwords)
  return {
    kind: 'asterisk-ari',
    options: { url: url.href.replace(/\/$/, ''), username, password, ...sourceOptions(values) },
    ...defined({ realmFrom: values['realm-from'] }),
  }
}

function kamailio(entry: SwitchEntry, values: Values<'kamailio'>): KamailioChoice {
  return {
    kind: 'kamailio',
    options: { ...addressOf(entry, entry.address, 8448), ...sourceOptions(values) },
  }
}

/** Splits `user@host:port` at the last `@`. */
function userAt({ wrong }: SwitchEntry, text: string): readonly [string, string] {
  const at = text.lastIndexOf('@')
  const username = text.slice(0, Math.max(at, 0))
  if (!/^[^\s:@]+$/.test(username)) throw wrong('must be USER@HOST:PORT, without a password')
  return [username, text.slice(at + 1)]
}

/** `host`, `host:port`, `[::1]:port`. */
function addressOf(
  { wrong }: SwitchEntry,
  text: string,
  defaultPort: number,
  like = 'HOST or HOST:PORT',
): Address {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^\s:@/[\]]+))(?::(\d{1,5}))?$/i.exec(text)
  const port = Number(match?.[3] ?? defaultPort)
  if (!match || port < 1 || port > 65_535) throw wrong(`must be ${like}`)
  return { host: match[1] ?? match[2] ?? '', port }
}

type PasswordSetting = 'freeswitchPassword' | 'amiSecret' | 'ariPassword'

function requiredPassword(
  entry: SwitchEntry,
  standard: PasswordSetting,
  variable: string | undefined,
  passwords: Passwords,
): string {
  const password = passwordOf(entry, standard, variable, passwords)
  if (password === undefined && passwords.areRequired)
    throw wrongFlag(variableOf(standard), `is required by ${entry.flag}`)
  return password ?? ''
}

/**
 * The password of a switch: its own, that of the variable that it names, or that of all switches of its kind. The messages
 * do not quote the name of the variable: it may be the password itself, by mistake.
 */
function passwordOf(
  entry: SwitchEntry,
  standard: PasswordSetting,
  variable: string | undefined,
  { settings, env, areRequired }: Passwords,
): string | undefined {
  if (entry.password !== undefined && variable !== undefined)
    throw entry.wrongParameter('password-env', 'cannot be combined with password')
  const isLine = (password: string) => !/[\r\n\0]/.test(password)
  if (entry.password !== undefined) {
    if (!isLine(entry.password)) throw entry.wrongParameter('password', 'must be one line of text')
    return entry.password
  }
  if (variable === undefined) {
    const password = settings.values[standard]
    if (password === undefined || isLine(password)) return password
    throw wrongSetting(settings, standard, 'must be one line of text')
  }
  const password = Object.hasOwn(env, variable) ? env[variable] : undefined
  const problem = (sentence: string) =>
    entry.wrongParameter('password-env', `names a variable that ${sentence}`)
  if (password === undefined && areRequired) throw problem('is not set')
  if (password === '') throw problem('must not be empty')
  if (password !== undefined && !isLine(password)) throw problem('must be one line of text')
  return password
}
