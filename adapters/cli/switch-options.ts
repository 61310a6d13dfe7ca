/**
 * Chooses the switches from the flags: each value is an address with parameters, `HOST:PORT?name=value&name=value`. Opens
 * nothing.
 */
import { isIP } from 'node:net'
import { OPTIONAL_HOOKS, type OptionalHook } from 'hookswitch/asterisk'
import { type AccountFrom, accountFromParameter, realmFromParameter } from './account-from.js'
import { defined, wrongFlag } from './read-flags.js'
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
  integerParameter,
  listParameter,
  type ParameterValues,
  readParameters,
  splitParameters,
  textParameter,
  wordParameter,
} from './switch-parameters.js'

/** The flags that name a switch, as text. */
export interface SwitchFlags {
  readonly freeswitch: readonly string[]
  readonly freeswitchOutbound: readonly string[]
  readonly asteriskAmi: readonly string[]
  readonly asteriskAri: readonly string[]
  readonly kamailio: readonly string[]
  readonly accountFrom?: string
}

type Environment = Readonly<Record<string, string | undefined>>

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

const SHARED = {
  'account-from': accountFromParameter,
  'account-wait-ms': integerParameter(0, 86_400_000),
  'max-open-legs': integerParameter(1, 10_000_000),
}
const PASSWORD_ENV = textParameter(/^[A-Za-z_]\w{0,127}$/, 'the name of an environment variable')
const VARIABLES = {
  'custom-variables': listParameter((item) => /^[^\s,]{1,128}$/.test(item), 'names of channel variables'),
  'optional-hooks': optionalHooksParameter,
}
const FREESWITCH = {
  ...SHARED,
  ...VARIABLES,
  'extra-events': listParameter(
    (item) => /^[A-Z][A-Z_]*$/.test(item),
    'names of FreeSWITCH events such as CHANNEL_EXECUTE',
  ),
  format: wordParameter('json', 'plain'),
}
const ASTERISK = { ...SHARED, ...VARIABLES, 'realm-from': realmFromParameter }
const CONNECT_TIMEOUT = integerParameter(1, 600_000)

/** The parameters of each flag. */
export const SWITCH_PARAMETERS = {
  '--freeswitch': {
    ...FREESWITCH,
    'password-env': PASSWORD_ENV,
    'silence-ms': integerParameter(100, 3_600_000),
    'connect-timeout-ms': CONNECT_TIMEOUT,
  },
  '--freeswitch-outbound': {
    ...FREESWITCH,
    allow: listParameter((item) => isIP(item) !== 0, 'addresses'),
    'max-connections': integerParameter(1, 1_000_000),
    'continue-with': textParameter(
      /^\w+( .*)?$/,
      "a dial plan application with its argument: 'transfer 2001 XML public'",
    ),
  },
  '--asterisk-ami': {
    ...ASTERISK,
    'password-env': PASSWORD_ENV,
    tls: wordParameter('yes', 'no'),
    ca: textParameter(/^.+$/, 'a file'),
  },
  '--asterisk-ari': {
    ...ASTERISK,
    'password-env': PASSWORD_ENV,
    app: textParameter(/^[^\s,]{1,128}$/u, 'the name of an application, without spaces and commas'),
  },
  '--kamailio': {
    ...SHARED,
    'connect-timeout-ms': CONNECT_TIMEOUT,
    'max-call-ms': integerParameter(1_000, 31_536_000_000),
  },
} as const

type Flag = keyof typeof SWITCH_PARAMETERS
type Values<Name extends Flag> = ParameterValues<(typeof SWITCH_PARAMETERS)[Name]>

/** How each flag's value becomes a choice. */
const READERS: {
  readonly [Name in Flag]: (address: string, values: Values<Name>, env: Environment) => AnyChoice
} = {
  '--freeswitch': freeswitch,
  '--freeswitch-outbound': outbound,
  '--asterisk-ami': ami,
  '--asterisk-ari': ari,
  '--kamailio': kamailio,
}

/**
 * Chooses the switches of the flags. Passwords come from the environment, to keep them out of the process list.
 *
 * @returns empty without a switch
 * @throws `InvalidOption` naming the flag and the parameter, or the variable; the message quotes no password
 */
export function chooseSwitches(flags: SwitchFlags, env: Environment): readonly SwitchChoice[] {
  const { accountFrom: text } = flags
  const shared =
    text === undefined
      ? undefined
      : accountFromParameter(text, (sentence) => wrongFlag('--account-from', `${sentence}, not '${text}'`))
  const choose = (flag: Flag, values: readonly string[]) =>
    values.map((value) => chooseSwitch(flag, value, env, shared))
  const switches = [
    ...choose('--freeswitch', flags.freeswitch),
    ...choose('--freeswitch-outbound', flags.freeswitchOutbound),
    ...choose('--asterisk-ami', flags.asteriskAmi),
    ...choose('--asterisk-ari', flags.asteriskAri),
    ...choose('--kamailio', flags.kamailio),
  ]
  if (shared && switches.length === 0) throw wrongFlag('--account-from', 'needs a switch, and none is given')
  return switches
}

function chooseSwitch<Name extends Flag>(
  flag: Name,
  text: string,
  env: Environment,
  shared: AccountFrom | undefined,
): SwitchChoice {
  const { address, query } = splitParameters(text)
  const values = readParameters(flag, query, SWITCH_PARAMETERS[flag]) as Values<Name>
  const choice = READERS[flag](address, values, env)
  const own = values['account-from']
  // A Kamailio provides the realm alone, so that a rule for other switches does not concern it.
  const accountFrom = own ?? (choice.kind === 'kamailio' ? ({ kind: 'realm' } as const) : shared)
  if (accountFrom === undefined) {
    const like = 'where to read the account of a call, such as variable:NAME'
    throw wrongFlag('--account-from', `is required: ${like} (or ${flag} ADDRESS?account-from=variable:NAME)`)
  }
  const possible = PROVIDES[choice.kind]
  if (!possible.includes(accountFrom.kind)) {
    const sentence = `cannot be ${accountFrom.kind} with ${choice.kind}, which provides ${possible.join(', ')}`
    throw own
      ? wrongFlag(flag, `the parameter account-from ${sentence}`)
      : wrongFlag('--account-from', sentence)
  }
  return { ...choice, accountFrom }
}

type SharedValues = ParameterValues<typeof SHARED>
type VariableValues = SharedValues & ParameterValues<typeof VARIABLES>

const sharedOptions = (values: SharedValues) => ({
  accountWaitMs: values['account-wait-ms'],
  maxOpenLegs: values['max-open-legs'],
})
const variableOptions = (values: VariableValues) => ({
  ...sharedOptions(values),
  customVariables: values['custom-variables'],
  optionalHooks: values['optional-hooks'],
})
const freeswitchOptions = (values: ParameterValues<typeof FREESWITCH>) => ({
  ...variableOptions(values),
  extraEvents: values['extra-events'],
  format: values.format,
})

function freeswitch(text: string, values: Values<'--freeswitch'>, env: Environment): FreeswitchChoice {
  const flag = '--freeswitch'
  const variables = { standard: 'HOOKSWITCH_FREESWITCH_PASSWORD', own: values['password-env'] }
  const password = secretOf(env, flag, variables) ?? FREESWITCH_PASSWORD
  const options = {
    ...freeswitchOptions(values),
    silenceMs: values['silence-ms'],
    connectTimeoutMs: values['connect-timeout-ms'],
  }
  return {
    kind: 'freeswitch',
    options: { ...addressOf(flag, text, 8021), password, ...defined(options) },
  }
}

function outbound(text: string, values: Values<'--freeswitch-outbound'>): OutboundChoice {
  const options = {
    ...freeswitchOptions(values),
    allow: values.allow,
    maxConnections: values['max-connections'],
  }
  return {
    kind: 'freeswitch-outbound',
    options: { ...addressOf('--freeswitch-outbound', text, 8084), ...defined(options) },
    ...defined({ continueWith: values['continue-with'] }),
  }
}

function ami(text: string, values: Values<'--asterisk-ami'>, env: Environment): AmiChoice {
  const flag = '--asterisk-ami'
  const [username, target] = userAt(flag, text)
  const isTls = values.tls === 'yes'
  if (values.ca !== undefined && !isTls) throw wrongFlag(flag, 'the parameter ca needs tls=yes')
  const secret = requiredSecret(env, flag, {
    standard: 'HOOKSWITCH_AMI_SECRET',
    own: values['password-env'],
  })
  const address = addressOf(flag, target, isTls ? 5039 : 5038, 'USER@HOST or USER@HOST:PORT')
  return {
    kind: 'asterisk-ami',
    options: { ...address, username, secret, ...defined(variableOptions(values)) },
    isTls,
    ...defined({ caFile: values.ca, realmFrom: values['realm-from'] }),
  }
}

function ari(text: string, values: Values<'--asterisk-ari'>, env: Environment): AriChoice {
  const flag = '--asterisk-ari'
  const like = 'must be a URL like http://user@127.0.0.1:8088/ari'
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw wrongFlag(flag, like)
  if (url.password !== '') throw wrongFlag(flag, 'must not contain a password: use HOOKSWITCH_ARI_PASSWORD')
  if (url.username === '') throw wrongFlag(flag, `${like}: the user is missing`)
  if (/[\r\n\t]/.test(text)) throw wrongFlag(flag, `${like}, on one line`)
  if (url.hash !== '') throw wrongFlag(flag, `${like}, without #`)
  const username = decoded(url.username)
  if (username === undefined || /[\p{Cc}:]/u.test(username)) {
    throw wrongFlag(flag, 'has an invalid user: wrong percent-encoding, a colon or a control character')
  }
  url.username = ''
  const password = requiredSecret(env, flag, {
    standard: 'HOOKSWITCH_ARI_PASSWORD',
    own: values['password-env'],
  })
  const options = { ...variableOptions(values), app: values.app }
  return {
    kind: 'asterisk-ari',
    options: { url: url.href.replace(/\/$/, ''), username, password, ...defined(options) },
    ...defined({ realmFrom: values['realm-from'] }),
  }
}

function kamailio(text: string, values: Values<'--kamailio'>): KamailioChoice {
  const options = {
    ...sharedOptions(values),
    connectTimeoutMs: values['connect-timeout-ms'],
    maxCallMs: values['max-call-ms'],
  }
  return { kind: 'kamailio', options: { ...addressOf('--kamailio', text, 8448), ...defined(options) } }
}

/** Reads hooks separated by commas, or `none`. */
function optionalHooksParameter(text: string, problem: (sentence: string) => Error): readonly OptionalHook[] {
  if (text === 'none') return []
  return text.split(',').map((item) => {
    const hook = OPTIONAL_HOOKS.find((one) => one === item)
    if (hook === undefined)
      throw problem(`must be none, or of ${OPTIONAL_HOOKS.join(', ')}, separated by commas`)
    return hook
  })
}

/** Splits `user@host:port` at the last `@`. */
function userAt(flag: string, text: string): readonly [string, string] {
  const at = text.lastIndexOf('@')
  const username = text.slice(0, Math.max(at, 0))
  if (!/^[^\s:@]+$/.test(username)) throw wrongFlag(flag, 'must be USER@HOST:PORT, without a password')
  return [username, text.slice(at + 1)]
}

/** `host`, `host:port`, `[::1]:port`. */
function addressOf(flag: string, text: string, defaultPort: number, like = 'HOST or HOST:PORT'): Address {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^\s:@/[\]]+))(?::(\d{1,5}))?$/i.exec(text)
  const port = Number(match?.[3] ?? defaultPort)
  if (!match || port < 1 || port > 65_535) throw wrongFlag(flag, `must be ${like}`)
  return { host: match[1] ?? match[2] ?? '', port }
}

/** The environment variables of a password: that of all switches of a kind, and the one that `password-env` names. */
interface SecretVariables {
  readonly standard: string
  readonly own: string | undefined
}

function requiredSecret(env: Environment, flag: string, variables: SecretVariables): string {
  const secret = secretOf(env, flag, variables)
  if (secret === undefined) throw wrongFlag(variables.standard, `is required by ${flag}`)
  return secret
}

/** The messages do not quote the parameter: it may be the password itself, by mistake. */
function secretOf(env: Environment, flag: string, { standard, own }: SecretVariables): string | undefined {
  const name = own ?? standard
  const secret = Object.hasOwn(env, name) ? env[name] : undefined
  const problem = (sentence: string) =>
    own === undefined
      ? wrongFlag(standard, sentence)
      : wrongFlag(flag, `the parameter password-env names a variable that ${sentence}`)
  if (secret === undefined && own !== undefined) throw problem('is not set')
  if (secret === '') throw problem('must not be empty')
  if (secret !== undefined && /[\r\n\0]/.test(secret)) throw problem('must be one line of text')
  return secret
}
