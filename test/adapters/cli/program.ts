import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const BIN = fileURLToPath(new URL('../../../dist/bin.js', import.meta.url))

/** The program in a child process, with its output. Killed at the end of the test. */
export interface RunningProgram {
  readonly child: ReturnType<typeof spawn>
  readonly output: { readonly stdout: string; readonly stderr: string }
  readonly ended: Promise<{
    readonly code: number | null
    readonly signal: NodeJS.Signals | null
    readonly stdout: string
    readonly stderr: string
  }>
}

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly uid?: number
  readonly gid?: number
}

/** Starts `hookswitch` with these arguments. It inherits the environment except its own variables, which `env` sets. */
export function hookswitch(
  argv: readonly string[],
  { env = {}, ...options }: ProgramOptions = {},
): RunningProgram {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('HOOKSWITCH_'))
  const child = spawn(process.execPath, [BIN, ...argv], {
    ...options,
    env: { ...Object.fromEntries(inherited), ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output.stderr += text
  })
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...output }))
  return { child, ended, output }
}

/** Returns the line that the program prints when it listens. Throws its log if it ends before. */
export async function ready({
  child,
  ended,
  output,
}: RunningProgram): Promise<{ url: string; adminUrl?: string }> {
  while (!output.stdout.includes('\n')) {
    await Promise.race([once(child.stdout!, 'data'), ended])
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(output.stderr)
  }
  return JSON.parse(output.stdout)
}
