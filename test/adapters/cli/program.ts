import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const BIN = fileURLToPath(new URL('../../../dist/bin.js', import.meta.url))

/** The program as a process of its own, with what it wrote; killed when its test is over. */
export interface Running {
  readonly child: ReturnType<typeof spawn>
  readonly output: { readonly stdout: string; readonly stderr: string }
  readonly ended: Promise<{
    readonly code: number | null
    readonly signal: NodeJS.Signals | null
    readonly stdout: string
    readonly stderr: string
  }>
}

export interface Circumstances {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly uid?: number
  readonly gid?: number
}

/** Starts `hookswitch` with these words; of the environment it sees no variable of its own but those given. */
export function hookswitch(argv: readonly string[], { env = {}, ...how }: Circumstances = {}): Running {
  const { HOOKSWITCH_SECRET: _, HOOKSWITCH_POSTGRES: __, ...inherited } = process.env
  const child = spawn(process.execPath, [BIN, ...argv], { ...how, env: { ...inherited, ...env } })
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

/** The line that it prints when it listens. Throws what it says when it ends before that. */
export async function ready({ child, ended, output }: Running): Promise<{ url: string; adminUrl?: string }> {
  while (!output.stdout.includes('\n')) {
    await Promise.race([once(child.stdout!, 'data'), ended])
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(output.stderr)
  }
  return JSON.parse(output.stdout)
}
