/** Reads the arguments of a command. */
import { parseArgs } from 'node:util'
import { closestName } from 'hookswitch/adapter'
import { wrongFlag } from '../read-flags.js'
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
]

/** All flags of a command, its own first. */
export function flagsOf({ flags = [], isList, isOffline }: Command): readonly Flag[] {
  return [...flags, ...(isList ? LIST_FLAGS : []), ...(isOffline ? [] : CONNECTION_FLAGS), ...COMMON_FLAGS]
}

/** The arguments of a command as text. */
export interface Arguments {
  readonly values: ReadonlyMap<string, readonly string[]>
  readonly switches: ReadonlySet<string>
  readonly operands: ReadonlyMap<string, string>
}

/**
 * @param argv the arguments after the words of the command
 * @throws `InvalidOption`; its `field` is the flag or operand as written
 */
export function readArguments(command: Command, argv: readonly string[]): Arguments {
  const flags = flagsOf(command)
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      flags.map(({ name, value }) => [name, { type: value === undefined ? 'boolean' : 'string' }] as const),
    ),
    strict: false,
    tokens: true,
    allowPositionals: true,
  })
  const see = `see 'hookswitch ${command.words.join(' ')} --help'`
  const values = new Map<string, string[]>()
  const switches = new Set<string>()
  const given: string[] = []
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional') {
      given.push(token.value)
      continue
    }
    const { name, rawName, value, inlineValue } = token
    const flag = flags.find((flag) => flag.name === name)
    if (!flag) throw wrongFlag(rawName, `${unknownFlag(name, flags)}, ${see}`)
    if (flag.value === undefined) {
      if (value !== undefined) throw wrongFlag(rawName, 'takes no value')
      switches.add(name)
      continue
    }
    if (value === undefined || (!inlineValue && value.startsWith('--')))
      throw wrongFlag(rawName, 'needs a value')
    const before = values.get(name) ?? []
    if (before.length > 0 && !flag.isRepeatable) throw wrongFlag(rawName, 'was given twice')
    if (flag.values && !flag.values.includes(value)) {
      throw wrongFlag(rawName, `must be ${flag.values.join(' or ')}, not '${value}'`)
    }
    values.set(name, [...before, value])
  }
  return { values, switches, operands: switches.has('help') ? new Map() : operandsOf(command, given, see) }
}

function operandsOf(
  { operands = [] }: Command,
  given: readonly string[],
  see: string,
): ReadonlyMap<string, string> {
  const extra = given[operands.length]
  if (extra !== undefined) throw wrongFlag(`'${extra}'`, `is one argument too many, ${see}`)
  const missing = operands.find(({ isOptional }, index) => !isOptional && given[index] === undefined)
  if (missing) throw wrongFlag(missing.name, `is missing, ${see}`)
  return new Map(
    operands.flatMap(({ name }, index) => (given[index] === undefined ? [] : [[name, given[index]]])),
  )
}

/** Flags with which people would put a secret where every user of the machine can read it. */
const SECRETS: Readonly<Record<string, string>> = {
  'api-key': 'HOOKSWITCH_API_KEY or --api-key-file',
  token: 'HOOKSWITCH_TOKEN',
  password: '--password-file',
  secret: 'HOOKSWITCH_WEBHOOK_SECRET or --secret-file',
}

function unknownFlag(name: string, flags: readonly Flag[]): string {
  const instead = Object.hasOwn(SECRETS, name) ? SECRETS[name] : undefined
  if (instead)
    return `is not accepted, because other users could see it in the list of processes: use ${instead}`
  const closest = closestName(
    name,
    flags.map((flag) => flag.name),
  )
  return `is unknown${closest === undefined ? '' : ` (did you mean '--${closest}'?)`}`
}
