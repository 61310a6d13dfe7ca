/** The command line: commands, exit codes and signals. */
import { errorCode, VERSION } from 'hookswitch'
import { MAIN_HELP, MIGRATE_HELP, ROTATE_SECRET_HELP, SERVE_HELP } from './help.js'
import { migrate } from './migrate.js'
import { rotateSecret } from './rotate-secret.js'
import { type ServeIo, type Serving, serve } from './serve.js'

/** The part of `process` that the program uses. */
export interface Program extends ServeIo {
  readonly argv: readonly string[]
  exitCode?: number | string | null | undefined
  on(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown
  exit(code: number): never
}

const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const

/**
 * Runs the command line. Exit codes: 0 success, 1 failed to start or close, 2 wrong usage.
 *
 * The first SIGTERM or SIGINT drains, the second exits at once with 128 + its number.
 */
export async function main(program: Program): Promise<void> {
  const [command, ...argv] = program.argv.slice(2)
  const wantsHelp = (word: string | undefined) => word === '--help' || word === '-h'
  if (wantsHelp(command)) return void program.stdout.write(MAIN_HELP)
  if (command === '--version' || command === '-v') return void program.stdout.write(`${VERSION}\n`)
  if (command === undefined) return misuse(program, MAIN_HELP)
  if (command === 'migrate') {
    if (argv.some(wantsHelp)) return void program.stdout.write(MIGRATE_HELP)
    return migrate(argv, program).catch((thrown: unknown) => void fail(program, thrown))
  }
  if (command === 'rotate-secret') {
    if (argv.some(wantsHelp)) return void program.stdout.write(ROTATE_SECRET_HELP)
    return rotateSecret(argv, program).catch((thrown: unknown) => void fail(program, thrown))
  }
  if (command !== 'serve') {
    return misuse(program, `hookswitch: unknown command '${command}', see 'hookswitch --help'\n`)
  }
  if (argv.some(wantsHelp)) return void program.stdout.write(SERVE_HELP)

  const starting = serve(argv, program)
  exitOnSignals(program, starting)
  await starting.catch((thrown: unknown) => fail(program, thrown))
}

function exitOnSignals(program: Program, starting: Promise<Serving>): void {
  let isDraining = false
  for (const [signal, number] of Object.entries(SIGNALS) as [keyof typeof SIGNALS, number][]) {
    program.on(signal, () => {
      if (isDraining) program.exit(128 + number)
      isDraining = true
      const drain = async ({ close }: Serving) => {
        const code = await close().then(
          () => 0,
          (thrown) => fail(program, thrown),
        )
        program.exit(code)
      }
      // A failed start has been reported already, and nothing keeps the process alive.
      starting.then(drain, () => {})
    })
  }
}

function misuse(program: Program, sentence: string): void {
  program.stderr.write(sentence)
  program.exitCode = 2
}

/** Prints the error in one sentence and sets the exit code. */
function fail(program: Program, thrown: unknown): number {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  program.stderr.write(`hookswitch: ${message}\n`)
  const code = errorCode(thrown) === 'InvalidOption' ? 2 : 1
  program.exitCode = code
  return code
}
