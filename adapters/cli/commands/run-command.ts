/** Runs a command of the table: finds it, connects, prints, and turns errors into exit codes. */
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { errorCode } from 'hookswitch'
import { closestName, printableLine } from 'hookswitch/adapter'
import {
  type ClientOptions,
  createClient,
  type HookswitchClient,
  HookswitchClientError,
} from 'hookswitch/client'
import { wrongFlag } from '../read-flags.js'
import { withSecretFiles } from '../secret-variables.js'
import { type Arguments, readArguments } from './arguments.js'
import { type Command, type CommandContext, CommandFailed, type Environment } from './command.js'
import { commandHelp, groupHelp } from './command-help.js'
import { COMMANDS, GROUPS } from './command-table.js'
import { COMMAND_SECRETS } from './command-variables.js'
import { createOutput, type Writable } from './output.js'
import { integerFlag, readSecretFile } from './values.js'

/** The part of `process` that a command uses. */
export interface CommandIo {
  readonly stdout: Writable & { on?(event: 'error', listener: () => void): unknown }
  readonly stderr: { write(text: string): unknown }
  readonly stdin?: NodeJS.ReadableStream
  readonly env: Environment
  on?(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown
  off?(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown
}

const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const
const SIGNAL_NAMES = ['SIGINT', 'SIGTERM'] as const
const DEFAULT_URL = 'http://127.0.0.1:8000'
const DEFAULT_TIMEOUT_SECONDS = 30
/** A token is revoked at the end of a command, which must not delay its end for long. */
const CLOSE_TIMEOUT_MS = 2_000

/**
 * Runs a command and returns the exit code (`EXIT_CODES`). Prints one sentence on stderr when it fails.
 *
 * @param argv the arguments of the program, beginning with the command
 */
export async function runCommand(argv: readonly string[], io: CommandIo): Promise<number> {
  try {
    const found = findCommand(argv)
    if (typeof found === 'string') {
      io.stdout.write(found)
      return 0
    }
    const args = readArguments(found.command, found.rest)
    if (args.has('help')) {
      io.stdout.write(commandHelp(found.command))
      return 0
    }
    await run(found.command, args, io)
    return 0
  } catch (thrown) {
    if (thrown instanceof CommandFailed) return thrown.exitCode
    io.stderr.write(`hookswitch: ${sentenceOf(thrown)}\n`)
    return exitCodeOf(thrown)
  }
}

/** Returns the command, or the help of a group. @throws `InvalidOption` for unknown words */
function findCommand(
  argv: readonly string[],
): { readonly command: Command; readonly rest: readonly string[] } | string {
  const [first = '', second] = argv
  const isHelp = second === undefined || second === '--help' || second === '-h'
  const single = COMMANDS.find(({ words }) => words.length === 1 && words[0] === first)
  if (single) return { command: single, rest: longHelp(argv.slice(1)) }
  const summary = Object.hasOwn(GROUPS, first) ? GROUPS[first] : undefined
  if (summary === undefined) {
    if (first.startsWith('-')) {
      throw Object.assign(wrongFlag('command', ''), {
        message: `${first.replace(/=.*/s, '')}: flags follow the command, see 'hookswitch --help'`,
      })
    }
    const names = [
      'serve',
      'migrate',
      'config',
      'rotate-secret',
      'vacuum',
      'help',
      ...COMMANDS.map(({ words }) => words[0]!),
    ]
    throw unknownCommand(first, names, '', 'hookswitch --help')
  }
  if (isHelp) return groupHelp(first, summary, COMMANDS)
  const command = COMMANDS.find(({ words }) => words[0] === first && words[1] === second)
  if (command) return { command, rest: longHelp(argv.slice(2)) }
  const names = COMMANDS.filter(({ words }) => words[0] === first).map(({ words }) => words[1]!)
  throw unknownCommand(second, names, `${first} `, `hookswitch ${first} --help`)
}

const longHelp = (argv: readonly string[]) => argv.map((word) => (word === '-h' ? '--help' : word))

function unknownCommand(word: string, names: readonly string[], prefix: string, see: string): Error {
  const closest = closestName(word, [...new Set(names)])
  const hint = closest === undefined ? '' : ` (did you mean '${prefix}${closest}'?)`
  return Object.assign(wrongFlag('command', ''), {
    message: `unknown command '${prefix}${word}'${hint}, see '${see}'`,
  })
}

async function run(command: Command, args: Arguments, io: CommandIo): Promise<void> {
  const env = withSecretFiles(io.env, COMMAND_SECRETS)
  const ending = new AbortController()
  const end = () => ending.abort()
  let interruptedBy: keyof typeof SIGNALS | undefined
  const listeners = SIGNAL_NAMES.map((name) => {
    const interrupt = () => {
      interruptedBy = name
      end()
    }
    io.on?.(name, interrupt)
    return [name, interrupt] as const
  })
  io.stdout.on?.('error', end)
  let isTokenKept = false
  let connected: HookswitchClient | undefined
  const context: CommandContext = {
    client() {
      connected ??= connect(context)
      return connected
    },
    operand: args.operand,
    flag: args.value,
    list: args.list,
    has: args.has,
    output: createOutput(io.stdout, {
      isJson: args.has('json'),
      signal: ending.signal,
      ...(!args.has('utc') && { now: Date.now }),
    }),
    env,
    signal: ending.signal,
    read: (path, source) => readInput(path, source, io.stdin),
    keepToken() {
      isTokenKept = true
    },
    note: (sentence) => void io.stderr.write(`hookswitch: ${printableLine(sentence)}\n`),
    sleep: (ms) => sleep(ms, ending.signal),
    now: Date.now,
  }
  try {
    await command.run(context)
  } catch (thrown) {
    // The error of a request that was cut by the end is no news.
    if (!ending.signal.aborted || (thrown as { code?: unknown }).code !== 'aborted') throw thrown
  } finally {
    if (!isTokenKept) await connected?.close({ timeoutMs: CLOSE_TIMEOUT_MS })
    for (const [name, interrupt] of listeners) io.off?.(name, interrupt)
  }
  if (interruptedBy && !command.isEndless) throw new CommandFailed(128 + SIGNALS[interruptedBy])
}

/** @throws `InvalidOption` naming the flag or variable */
function connect(context: CommandContext): HookswitchClient {
  const { env, flag, signal } = context
  const url = flag('url') ?? env.HOOKSWITCH_URL ?? DEFAULT_URL
  const accountId = flag('account') ?? env.HOOKSWITCH_ACCOUNT
  const timeoutMs = (integerFlag(context, 'timeout', 1) ?? DEFAULT_TIMEOUT_SECONDS) * 1_000
  const login = loginOf(context)
  try {
    return createClient({
      url,
      ...login,
      ...(accountId === undefined ? {} : { accountId }),
      timeoutMs,
      signal,
    })
  } catch (thrown) {
    const { message } = thrown as Error
    const name = flag('url') === undefined ? 'HOOKSWITCH_URL' : '--url'
    throw message.startsWith('url: ') ? wrongFlag(name, message.slice('url: '.length)) : thrown
  }
}

/** The file of `--api-key-file`, otherwise the key of the environment, otherwise its token. */
function loginOf(context: CommandContext): Pick<ClientOptions, 'apiKey' | 'token'> {
  const path = context.flag('api-key-file')
  if (path !== undefined) return { apiKey: () => readSecretFile(context, path, '--api-key-file') }
  const { HOOKSWITCH_API_KEY: apiKey, HOOKSWITCH_TOKEN: token } = context.env
  if (apiKey === '') throw wrongFlag('HOOKSWITCH_API_KEY', 'must not be empty')
  if (apiKey !== undefined) return { apiKey }
  return token ? { token } : {}
}

async function readInput(path: string, source: string, stdin: CommandIo['stdin']): Promise<Buffer> {
  if (path === '-' && stdin) return buffer(stdin)
  try {
    return await readFile(path)
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    throw wrongFlag(source, `${path} cannot be read (${code === 'ENOENT' ? 'there is no such file' : code})`)
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const wake = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    signal.addEventListener('abort', wake)
  })
}

/** Options of the client as this program names them. */
const FLAG_OF: Readonly<Record<string, string>> = {
  apiKey: 'HOOKSWITCH_API_KEY',
  token: 'HOOKSWITCH_TOKEN',
  accountId: '--account',
}

function sentenceOf(thrown: unknown): string {
  if (!(thrown instanceof HookswitchClientError)) {
    return printableLine(thrown instanceof Error ? thrown.message : String(thrown))
  }
  const { code, message, requestId } = thrown
  const [name = ''] = /^\w+(?=: )/.exec(message) ?? []
  const flag = Object.hasOwn(FLAG_OF, name) ? FLAG_OF[name] : undefined
  const text = code === 'invalid_option' && flag ? flag + message.slice(name.length) : message
  return printableLine(requestId === undefined ? text : `${text} (request ${requestId})`)
}

const EXIT_CODE_OF_STATUS: Readonly<Record<number, number>> = {
  400: 2,
  401: 3,
  403: 3,
  404: 4,
  409: 5,
  412: 5,
  423: 3,
  429: 6,
  502: 6,
  503: 6,
  504: 6,
}

/** The exit code of an error; `EXIT_CODES` explains them. */
export function exitCodeOf(thrown: unknown): number {
  if (!(thrown instanceof HookswitchClientError)) return errorCode(thrown) === 'InvalidOption' ? 2 : 1
  const { code, status } = thrown
  if (code === 'invalid_option') return 2
  if (code === 'network' || code === 'timeout') return 6
  return (status !== undefined && EXIT_CODE_OF_STATUS[status]) || 1
}
