/** The parameters of each kind of switch: the only place that defines how each is read, and what it means. */
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

/** A parameter of a switch. */
interface SwitchParameter<Value> extends ParameterReader<Value> {
  /** Stands for the value in the help. */
  readonly argument: string
  /** For help, schema and documentation. */
  readonly about: string
  readonly defaultText?: string
}

function parameter<Value>(
  reader: ParameterReader<Value>,
  argument: string,
  about: string,
  defaultText?: string,
): SwitchParameter<Value> {
  const read = (...args: Parameters<typeof reader>) => reader(...args)
  const { schema } = reader
  return Object.assign(read, {
    argument,
    about,
    ...(schema && { schema }),
    ...(defaultText && { defaultText }),
  })
}

/** The parameters of all switches, in the order of the help. */
export const PARAMETERS = {
  'account-from': parameter(accountFromParameter, 'SOURCE', 'as --account-from, for this switch'),
  'account-wait-ms': parameter(
    integerParameter(0, 86_400_000),
    'N',
    'how long the events of a call wait for its account',
    '10000',
  ),
  'max-open-legs': parameter(
    integerParameter(1, 10_000_000),
    'N',
    'open calls above which the oldest is dropped',
    '100000',
  ),
  'password-env': parameter(
    textParameter(/^[A-Za-z_]\w{0,127}$/, 'the name of an environment variable'),
    'NAME',
    "the environment variable with this switch's password (not --freeswitch-outbound, --kamailio)",
  ),
  'custom-variables': parameter(
    listParameter((item) => /^[^\s,]{1,128}$/.test(item), 'names of channel variables'),
    'A,B',
    'channel variables for custom_channel_vars (not --kamailio)',
  ),
  'optional-hooks': parameter(
    optionalHooksParameter(),
    'A,B',
    'hooks to publish beside those of a leg, or none (all but channel_dtmf; not --kamailio)',
  ),
  'extra-events': parameter(
    listParameter(
      (item) => /^[A-Z][A-Z_]*$/.test(item),
      'names of FreeSWITCH events such as CHANNEL_EXECUTE',
    ),
    'A,B',
    'further FreeSWITCH events for the account, such as CHANNEL_EXECUTE (--freeswitch...)',
  ),
  format: parameter(wordParameter('json', 'plain'), 'json|plain', 'how FreeSWITCH writes events', 'json'),
  'silence-ms': parameter(
    integerParameter(100, 3_600_000),
    'N',
    'probe a silent FreeSWITCH after this time',
    '10000; --freeswitch',
  ),
  'connect-timeout-ms': parameter(
    integerParameter(1, 600_000),
    'N',
    'limit for connecting',
    '10000; --freeswitch, --kamailio',
  ),
  allow: parameter(
    listParameter((item) => isIP(item) !== 0, 'addresses'),
    'IP,IP',
    'addresses that may connect',
    '127.0.0.1,::1; --freeswitch-outbound',
  ),
  'max-connections': parameter(
    integerParameter(1, 1_000_000),
    'N',
    'calls at the same time',
    '10000; --freeswitch-outbound',
  ),
  'continue-with': parameter(
    textParameter(/^\w+( .*)?$/, "a dial plan application with its argument: 'transfer 2001 XML public'"),
    'TEXT',
    "the application that continues the dial plan, such as 'transfer 2001 XML public'",
    'a transfer to where the call was going; --freeswitch-outbound',
  ),
  'realm-from': parameter(
    realmFromParameter,
    'SOURCE',
    "the realm of an Asterisk call's addresses: account (the realm of its account), variable:NAME or fixed:DOMAIN",
    'none: addresses are numbers',
  ),
  trunks: parameter(
    listParameter((item) => /^[^\s,]{1,128}$/.test(item), 'names of endpoints'),
    'A,B',
    'all endpoints of Asterisk that are trunks to carriers, for endpoint.kind',
    'they are guessed',
  ),
  tls: parameter(
    yesOrNoParameter(),
    'yes|no',
    'encrypt the manager interface; the default port is then 5039',
    'no; --asterisk-ami',
  ),
  ca: parameter(
    textParameter(/^.+$/, 'a file'),
    'FILE',
    'the certificate of the authority to trust (--asterisk-ami with tls=yes)',
  ),
  app: parameter(
    textParameter(/^[^\s,]{1,128}$/u, 'the name of an application, without spaces and commas'),
    'NAME',
    'the ARI application, one per node (--asterisk-ari)',
  ),
  'max-call-ms': parameter(
    integerParameter(1_000, 31_536_000_000),
    'N',
    'end a Kamailio call whose end was missed after this time',
    '43260000',
  ),
} as const

type ParameterName = keyof typeof PARAMETERS

const pick = <Name extends ParameterName>(...names: readonly Name[]): Pick<typeof PARAMETERS, Name> =>
  Object.fromEntries(names.map((name) => [name, PARAMETERS[name]])) as never

const SHARED = ['account-from', 'account-wait-ms', 'max-open-legs'] as const
const VARIABLES = [...SHARED, 'custom-variables', 'optional-hooks'] as const
const FREESWITCH = [...VARIABLES, 'extra-events', 'format'] as const
const ASTERISK = [...VARIABLES, 'realm-from', 'trunks', 'password-env'] as const

/** The parameters of each setting that names switches. */
export const SWITCH_PARAMETERS = {
  freeswitch: pick(...FREESWITCH, 'password-env', 'silence-ms', 'connect-timeout-ms'),
  freeswitchOutbound: pick(...FREESWITCH, 'allow', 'max-connections', 'continue-with'),
  asteriskAmi: pick(...ASTERISK, 'tls', 'ca'),
  asteriskAri: pick(...ASTERISK, 'app'),
  kamailio: pick(...SHARED, 'connect-timeout-ms', 'max-call-ms'),
} as const

/** A setting that names switches. */
export type SwitchSetting = keyof typeof SWITCH_PARAMETERS

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
