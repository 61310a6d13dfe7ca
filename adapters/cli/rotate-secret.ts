/** `hookswitch rotate-secret`: replaces the secret that encrypts API keys, signing secrets and custom headers. */

import { existsSync, readFileSync } from 'node:fs'
import { errorCode, HookswitchError, rotateSecret as rotate } from 'hookswitch'
import { printableLine } from 'hookswitch/adapter'
import { auditedResult } from './audit-log.js'
import { createStore, problemWithFlag } from './open-store.js'
import { defined, readFlags, wrongFlag } from './read-flags.js'
import {
  type Environment,
  endsInLineBreak,
  LINE_BREAK_PROBLEM,
  readSecretVariable,
} from './secret-variables.js'
import type { ServeIo } from './serve.js'
import { chooseStore, type FileChoice, type PostgresChoice, targetOf } from './store-options.js'

/** A secret and the flag that named its file or variable. */
export interface GivenSecret {
  readonly flag: string
  readonly secret: string
}

/** The flags of `hookswitch rotate-secret`. */
export interface RotateSecretFlags {
  readonly choice: FileChoice | PostgresChoice
  /** Absent: the key beside the file. */
  readonly from?: GivenSecret
  readonly to: GivenSecret
}

/** @throws `InvalidOption`; its `field` is the flag as written. The message quotes no secret */
export function parseRotateSecretFlags(argv: readonly string[], env: Environment): RotateSecretFlags {
  const { value } = readFlags('rotate-secret', argv, [
    { name: 'data', value: 'FILE' },
    { name: 'postgres', value: 'URL' },
    { name: 'schema', value: 'NAME' },
    { name: 'from-file', value: 'FILE' },
    { name: 'from-variable', value: 'NAME' },
    { name: 'to-file', value: 'FILE' },
    { name: 'to-variable', value: 'NAME' },
  ])
  const data = value('data')
  const flag = value('postgres')
  const variable =
    flag === undefined && data === undefined ? readSecretVariable(env, 'HOOKSWITCH_POSTGRES') : undefined
  const postgres = flag ?? variable?.value
  const nameOf = (name: string) => (name === 'postgres' && variable ? variable.name : `--${name}`)
  const values = defined({ data, postgres, schema: value('schema') })
  const choice = chooseStore({ values, nameOf, labelOf: nameOf })
  // The store would create it.
  if (choice.store === 'sqlite' && !existsSync(choice.path)) {
    throw wrongFlag('--data', `names a file that does not exist: ${choice.path}`)
  }
  const from = givenSecret('from', value('from-file'), value('from-variable'), env)
  const to = givenSecret('to', value('to-file'), value('to-variable'), env)
  if (!to) throw wrongFlag('--to-file', 'or --to-variable is required: where the new secret is')
  if (!from && choice.store !== 'sqlite') {
    throw wrongFlag('--from-file', 'or --from-variable is required: where the secret in use is')
  }
  return { choice, to, ...(from && { from }) }
}

/** A secret is never an argument: the process list would show it. */
function givenSecret(
  name: 'from' | 'to',
  file: string | undefined,
  variable: string | undefined,
  env: Environment,
): GivenSecret | undefined {
  if (file !== undefined && variable !== undefined) {
    throw wrongFlag(`--${name}-variable`, `cannot be combined with --${name}-file`)
  }
  if (variable !== undefined) {
    const flag = `--${name}-variable`
    const secret = env[variable]
    if (secret === undefined) throw wrongFlag(flag, 'names an environment variable that is not set')
    if (endsInLineBreak(secret)) throw wrongFlag(flag, `names a variable that ${LINE_BREAK_PROBLEM}`)
    return { flag, secret }
  }
  if (file === undefined) return undefined
  const flag = `--${name}-file`
  try {
    return { flag, secret: readFileSync(file, 'utf8').trim() }
  } catch (thrown) {
    throw wrongFlag(flag, `cannot be read (${(thrown as NodeJS.ErrnoException).code ?? 'unknown'}): ${file}`)
  }
}

/**
 * Rotates the secret, prints progress to `io.stderr` and one line of JSON to `io.stdout`.
 *
 * @param argv the flags, without program and command
 * @throws `InvalidOption`, `StoreUnavailable`, `StoreCorrupt`; the message is one sentence that begins with the flag
 */
export async function rotateSecret(argv: readonly string[], io: ServeIo): Promise<void> {
  const { choice, from, to } = parseRotateSecretFlags(argv, io.env)
  const report = (sentence: string) => io.stderr.write(`hookswitch: ${printableLine(sentence)}\n`)
  const storeFlag = choice.store === 'sqlite' ? '--data' : choice.flag
  const store = await createStore(choice).catch((thrown: unknown) => {
    throw problemWithFlag(storeFlag, thrown)
  })
  const log = {
    debug() {},
    info() {},
    warn: (fields: object, message: string) => report(`${message} ${JSON.stringify(fields)}`),
    error: (fields: object, message: string) => report(`${message} ${JSON.stringify(fields)}`),
  }
  const secrets = { to: to.secret, ...(from && { from: from.secret }) }
  const { rows, unreadable } = await rotate({ store, ...secrets, log }).catch((thrown: unknown) => {
    throw secretProblem(from, to, thrown) ?? problemWithFlag(storeFlag, thrown)
  })
  report(`${rows} API keys and webhooks are encrypted with the new secret; start every node with it alone`)
  const target = choice.store === 'postgres' ? targetOf(choice) : { path: choice.path }
  const result = { rotated: true, ...target, rows, unreadable: unreadable.length }
  io.stdout.write(auditedResult('rotateServiceSecret', result))
}

/** Makes an error about a secret name its flag. */
function secretProblem(
  from: GivenSecret | undefined,
  to: GivenSecret,
  thrown: unknown,
): HookswitchError | undefined {
  const { field, message } = thrown as HookswitchError
  if (errorCode(thrown) !== 'InvalidOption' || (field !== 'from' && field !== 'to')) return undefined
  const flag = field === 'to' ? to.flag : (from?.flag ?? '--data')
  return new HookswitchError('InvalidOption', `${flag}: ${message.replace(/^(from|to) /, '')}`, {
    field: flag,
    cause: thrown,
  })
}
