/** The command line: commands, exit codes and signals. */

import { VERSION } from 'hookswitch'
import { printableLine } from 'hookswitch/adapter'
import type { CommandIo } from './commands/run-command.js'
import { isMisuse, problemsOf } from './problems.js'
import { type ServeIo, type Serving, serve } from './serve.js'

/** The part of `process` that the program uses. */
interface Program extends ServeIo, CommandIo {
  readonly argv: readonly string[]
  readonly stdout: CommandIo['stdout']
  readonly stderr: ServeIo['stderr']
  readonly env: ServeIo['env']
  exitCode?: number | string | null | undefined
  on(signal: 'SIGTERM' | 'SIGINT' | 'SIGHUP', listener: () => void): unknown
  exit(code: number): never
}

const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const

/** How long a signal waits for the end of a start, which may itself wait for its store, ms. */
const START_GRACE_MS = 2_000

/** What is done without a running service: the name of its help, and how it is loaded. */
const OPERATIONS = {
  migrate: ['MIGRATE_HELP', async () => (await import('./migrate.js')).migrate],
  config: ['CONFIG_HELP', async () => (await import('./config-command.js')).config],
  'rotate-secret': ['ROTATE_SECRET_HELP', async () => (await import('./rotate-secret.js')).rotateSecret],
  vacuum: ['VACUUM_HELP', async () => (await import('./vacuum.js')).vacuum],
} as const

/**
 * Runs the command line. Exit codes: 0 success, 1 failed to start or close, 2 wrong usage: a setting or the accounts file;
 * `EXIT_CODES` lists those of the commands for a running service.
 *
 * The first SIGTERM or SIGINT drains, the second exits at once with 128 + its number, as does the first during a start that does
 * not end within 2 s. SIGHUP reloads.
 */
export async function main(program: Program): Promise<void> {
  const [first, ...rest] = program.argv.slice(2)
  // `help webhooks list` is `webhooks list --help`.
  const [command, ...argv] = first === 'help' ? [...rest, '--help'] : [first, ...rest]
  const wantsHelp = (word: string | undefined) => word === '--help' || word === '-h'
  // Loaded when it is needed, so that the service starts without it.
  const help = () => import('./help.js')
  if (wantsHelp(command)) return void program.stdout.write((await help()).MAIN_HELP)
  if (command === '--version' || command === '-v') return void program.stdout.write(`${VERSION}\n`)
  if (command === undefined) return misuse(program, (await help()).MAIN_HELP)
  if (Object.hasOwn(OPERATIONS, command)) {
    const [helpText, load] = OPERATIONS[command as keyof typeof OPERATIONS]
    if (argv.some(wantsHelp)) return void program.stdout.write((await help())[helpText])
    const operation = await load()
    return operation(argv, program).catch((thrown: unknown) => void fail(program, thrown))
  }
  if (command !== 'serve') {
    // A service that starts does not need the commands.
    const { runCommand } = await import('./commands/run-command.js')
    program.exitCode = await runCommand([command, ...argv], program)
    return
  }
  if (argv.some(wantsHelp)) return void program.stdout.write((await help()).SERVE_HELP)

  const starting = serve(argv, program)
  exitOnSignals(program, starting)
  // A failed start has been reported already.
  program.on('SIGHUP', () => void starting.then(({ reload }) => reload()).catch(() => {}))
  await starting.catch((thrown: unknown) => fail(program, thrown))
}

function exitOnSignals(program: Program, starting: Promise<Serving>): void {
  let isDraining = false
  for (const [signal, number] of Object.entries(SIGNALS) as [keyof typeof SIGNALS, number][]) {
    program.on(signal, () => {
      if (isDraining) program.exit(128 + number)
      isDraining = true
      // Nothing is in flight yet.
      const late = setTimeout(() => program.exit(128 + number), START_GRACE_MS)
      const drain = async ({ close }: Serving) => {
        clearTimeout(late)
        const code = await close().then(
          () => 0,
          (thrown) => fail(program, thrown),
        )
        program.exit(code)
      }
      // A failed start has been reported already, and nothing keeps the process alive.
      starting.then(drain, () => clearTimeout(late))
    })
  }
}

function misuse(program: Program, sentence: string): void {
  program.stderr.write(sentence)
  program.exitCode = 2
}

/** Prints one sentence for each problem and sets the exit code. */
function fail(program: Program, thrown: unknown): number {
  for (const { message } of problemsOf(thrown))
    program.stderr.write(`hookswitch: ${printableLine(message)}\n`)
  const code = isMisuse(thrown) ? 2 : 1
  program.exitCode = code
  return code
}
