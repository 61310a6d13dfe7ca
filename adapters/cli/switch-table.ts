/** The parameters of each kind of switch: how each is read, and what it means. */
import { isIP } from 'node:net'
import { OPTIONAL_HOOKS, type OptionalHook } from 'hookswitch/asterisk'
import { accountFromParameter, realmFromParameter } from './account-from.js'
import {
  integerParameter,
  listParameter,
  type ParameterReader,
  textParameter,
  wordParameter,
  yesOrNoParameter,
} from './switch-parameters.js'

const SHARED = {
  'account-from': accountFromParameter,
  'account-wait-ms': integerParameter(0, 86_400_000),
  'max-open-legs': integerParameter(1, 10_000_000),
}
const PASSWORD_ENV = textParameter(/^[A-Za-z_]\w{0,127}$/, 'the name of an environment variable')
const VARIABLES = {
  'custom-variables': listParameter((item) => /^[^\s,]{1,128}$/.test(item), 'names of channel variables'),
  'optional-hooks': optionalHooksParameter(),
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
    tls: yesOrNoParameter(),
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

/** A flag that names a switch. */
export type SwitchFlag = keyof typeof SWITCH_PARAMETERS

/** What a parameter means, for help, schema and documentation. */
interface ParameterAbout {
  /** Stands for the value. */
  readonly argument: string
  readonly about: string
  readonly defaultText?: string
}

/** The parameters of all switches, in the order of the help. */
export const PARAMETER_HELP: Readonly<Record<string, ParameterAbout>> = {
  'account-from': { argument: 'SOURCE', about: 'as --account-from, for this switch' },
  'account-wait-ms': {
    argument: 'N',
    about: 'how long the events of a call wait for its account',
    defaultText: '10000',
  },
  'max-open-legs': {
    argument: 'N',
    about: 'open calls above which the oldest is dropped',
    defaultText: '100000',
  },
  'password-env': {
    argument: 'NAME',
    about: "the environment variable with this switch's password (not --freeswitch-outbound, --kamailio)",
  },
  'custom-variables': {
    argument: 'A,B',
    about: 'channel variables for custom_channel_vars (not --kamailio)',
  },
  'optional-hooks': {
    argument: 'A,B',
    about: 'hooks to publish beside those of a leg, or none (all but channel_dtmf; not --kamailio)',
  },
  'extra-events': {
    argument: 'A,B',
    about: 'further FreeSWITCH events for the account, such as CHANNEL_EXECUTE (--freeswitch...)',
  },
  format: { argument: 'json|plain', about: 'how FreeSWITCH writes events', defaultText: 'json' },
  'silence-ms': {
    argument: 'N',
    about: 'probe a silent FreeSWITCH after this time',
    defaultText: '20000; --freeswitch',
  },
  'connect-timeout-ms': {
    argument: 'N',
    about: 'limit for connecting',
    defaultText: '10000; --freeswitch, --kamailio',
  },
  allow: {
    argument: 'IP,IP',
    about: 'addresses that may connect',
    defaultText: '127.0.0.1,::1; --freeswitch-outbound',
  },
  'max-connections': {
    argument: 'N',
    about: 'calls at the same time',
    defaultText: '10000; --freeswitch-outbound',
  },
  'continue-with': {
    argument: 'TEXT',
    about: "the application that continues the dial plan, such as 'transfer 2001 XML public'",
    defaultText: 'a transfer to where the call was going; --freeswitch-outbound',
  },
  'realm-from': {
    argument: 'SOURCE',
    about:
      "the realm of an Asterisk call's addresses: account (the realm of its account), variable:NAME or fixed:DOMAIN",
    defaultText: 'none: addresses are numbers',
  },
  tls: {
    argument: 'yes|no',
    about: 'encrypt the manager interface; the default port is then 5039',
    defaultText: 'no; --asterisk-ami',
  },
  ca: {
    argument: 'FILE',
    about: 'the certificate of the authority to trust (--asterisk-ami with tls=yes)',
  },
  app: { argument: 'NAME', about: 'the ARI application, one per node (--asterisk-ari)' },
  'max-call-ms': {
    argument: 'N',
    about: 'end a Kamailio call whose end was missed after this time',
    defaultText: '43260000',
  },
}

/** Reads hooks separated by commas, or `none`. */
function optionalHooksParameter(): ParameterReader<readonly OptionalHook[]> {
  const read = (text: string, problem: (sentence: string) => Error): readonly OptionalHook[] => {
    if (text === 'none') return []
    return text.split(',').map((item) => {
      const hook = OPTIONAL_HOOKS.find((hookName) => hookName === item)
      if (hook === undefined)
        throw problem(`must be none, or of ${OPTIONAL_HOOKS.join(', ')}, separated by commas`)
      return hook
    })
  }
  return Object.assign(read, {
    schema: { type: 'array', items: { type: 'string', enum: OPTIONAL_HOOKS } } as const,
  })
}
