import { Readable } from 'node:stream'
import { type CommandIo, runCommand } from '../../../../adapters/cli/commands/run-command.js'

/** The result of a command. */
export interface CommandRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** Width of a terminal; absent: the output is a pipe. */
  readonly columns?: number
}

/** Runs a command in this process. */
export async function runHere(
  argv: readonly string[],
  { env = {}, stdin = '', columns }: RunOptions = {},
): Promise<CommandRun> {
  const output = { stdout: '', stderr: '' }
  const write = (name: keyof typeof output) => (text: string) => {
    output[name] += text
    return true
  }
  const io: CommandIo = {
    stdout: { write: write('stdout'), ...(columns === undefined ? {} : { isTTY: true, columns }) },
    stderr: { write: write('stderr') },
    stdin: Readable.from([Buffer.from(stdin)]),
    env,
  }
  return { code: await runCommand(argv, io), ...output }
}
