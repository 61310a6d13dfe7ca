/** What a command is: its words, flags and operands as data, from which parsing, help and completion follow. */
import type { HookswitchClient } from 'hookswitch/client'
import type { FlagSyntax } from '../read-flags.js'
import type { Output } from './output.js'

/** A flag of a command. */
export interface Flag extends FlagSyntax {
  readonly description: string
  /** The value is the name of a file. */
  readonly isFile?: true
}

/** An operand: an argument without a flag. */
export interface Operand {
  /** As in the usage: `WEBHOOK`. */
  readonly name: string
  readonly description: string
  readonly isOptional?: true
  readonly isFile?: true
}

/** A command of the program. */
export interface Command {
  /** `['webhooks', 'list']`. */
  readonly words: readonly string[]
  /** One sentence without a full stop, beginning with a verb. */
  readonly summary: string
  /** Further paragraphs of its help. */
  readonly details?: string
  readonly operands?: readonly Operand[]
  /** Its own flags, besides the common ones. */
  readonly flags?: readonly Flag[]
  /** It prints a list: `--limit` applies, and `--json` prints one line per item. */
  readonly isList?: true
  /** It runs until it is interrupted, which is its proper end. */
  readonly isEndless?: true
  /** It contacts no service: the common flags of the connection do not apply. */
  readonly isOffline?: true
  /** @throws `InvalidOption` for a wrong argument, `HookswitchClientError` */
  run(context: CommandContext): Promise<void>
}

/** The environment of a command. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The arguments, the client and the output of a running command. */
export interface CommandContext {
  /** The client of the service; created at the first use. */
  client(): HookswitchClient
  /** The operand of this name. */
  operand(name: string): string | undefined
  /** The value of a flag. */
  flag(name: string): string | undefined
  /** All values of a repeatable flag. */
  list(name: string): readonly string[]
  /** Whether a flag without a value was given. */
  has(name: string): boolean
  readonly output: Output
  readonly env: Environment
  /** Aborts at SIGINT, SIGTERM, and when the reader of the output is gone. */
  readonly signal: AbortSignal
  /** Reads a file as bytes; `-` is the standard input. @throws `InvalidOption` naming `source` */
  read(path: string, source: string): Promise<Buffer>
  /** Keeps the token of this run valid. */
  keepToken(): void
  /** Prints a remark for people on stderr. */
  note(sentence: string): void
  /** Waits, and returns at once when `signal` aborts. */
  sleep(ms: number): Promise<void>
  /** Unix time in milliseconds. */
  now(): number
}

/** Ends a command with this exit code without a message. */
export class CommandFailed extends Error {
  constructor(readonly exitCode: number) {
    super(`exit ${exitCode}`)
  }
}
