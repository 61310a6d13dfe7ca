/** Reads the arguments of a command. */
import { type GivenFlags, readFlags, wrongFlag } from '../read-flags.js'
import type { Command, Flag } from './command.js'

/** Flags of every command. */
export const COMMON_FLAGS: readonly Flag[] = [
  { name: 'json', description: 'print JSON: one document, or for lists one line per item' },
  { name: 'help', description: 'show this help' },
]

/** Flags of every command that contacts a service. */
export const CONNECTION_FLAGS: readonly Flag[] = [
  { name: 'url', value: 'URL', description: 'the service (HOOKSWITCH_URL, http://127.0.0.1:8000)' },
  {
    name: 'api-key-file',
    value: 'FILE',
    isFile: true,
    description: 'file with the API key (HOOKSWITCH_API_KEY holds the key itself)',
  },
  {
    name: 'account',
    value: 'ID',
    description: 'act on this account (HOOKSWITCH_ACCOUNT, the account of the key)',
  },
  { name: 'timeout', value: 'SECONDS', description: 'limit of each request, retries included (30)' },
]

/** Flags of every list. */
export const LIST_FLAGS: readonly Flag[] = [
  { name: 'limit', value: 'N', description: "print at most this many items, or 'all' (100)" },
  { name: 'utc', description: 'print times in UTC, not as ages; pipes and --json always have them' },
]

/** All flags of a command, its own first. */
export function flagsOf({ flags = [], isList, isOffline }: Command): readonly Flag[] {
  return [...flags, ...(isList ? LIST_FLAGS : []), ...(isOffline ? [] : CONNECTION_FLAGS), ...COMMON_FLAGS]
}

/** Reasons to refuse flags with which people would put a secret where every user of the machine can read it. */
const SECRETS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    'api-key': 'HOOKSWITCH_API_KEY or --api-key-file',
    token: 'HOOKSWITCH_TOKEN',
    password: '--password-file',
    secret: 'HOOKSWITCH_WEBHOOK_SECRET or --secret-file',
  }).map(([name, instead]) => [
    name,
    `is not accepted, because other users could see it in the list of processes: use ${instead}`,
  ]),
)

/** The arguments of a command as text. */
export interface Arguments extends Omit<GivenFlags, 'operands'> {
  /** The operand of this name. */
  operand(name: string): string | undefined
}

/**
 * @param argv the arguments after the words of the command
 * @throws `InvalidOption`; its `field` is the flag or operand as written
 */
export function readArguments(command: Command, argv: readonly string[]): Arguments {
  const { operands = [], words } = command
  const name = words.join(' ')
  const given = readFlags(name, argv, flagsOf(command), { takesOperands: true, refusals: SECRETS })
  if (!given.has('help')) {
    const see = `see 'hookswitch ${name} --help'`
    const extra = given.operands[operands.length]
    if (extra !== undefined) throw wrongFlag(`'${extra}'`, `is one argument too many, ${see}`)
    const missing = operands.slice(given.operands.length).find(({ isOptional }) => !isOptional)
    if (missing) throw wrongFlag(missing.name, `is missing, ${see}`)
  }
  return {
    ...given,
    operand: (operand) => given.operands[operands.findIndex((syntax) => syntax.name === operand)],
  }
}
