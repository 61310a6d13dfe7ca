/** Variables with secrets. `NAME_FILE` names a file with the secret instead, as Docker and Kubernetes mount it. */
import { readFileSync, statSync } from 'node:fs'
import { wrongFlag } from './read-flags.js'

export type Environment = Readonly<Record<string, string | undefined>>

/** A secret, and the variable that holds it or names its file. */
interface SecretVariable {
  readonly name: string
  readonly value: string
}

/** Larger files hold something else. */
const MAX_FILE_BYTES = 65_536

/** The variable that names a file with the secret of another variable. */
export const fileVariableOf = (name: string): string => `${name}_FILE`

/** Whether a secret ends in a line break, which tools add and nobody sees. */
export const endsInLineBreak = (secret: string): boolean => /[\r\n]$/.test(secret)

/** Continues a sentence that begins with the name of the secret. */
export const LINE_BREAK_PROBLEM = 'ends in a line break, which would be part of the secret: remove it'

/**
 * Reads a secret of the environment. One line break at the end of a file is not part of the secret.
 *
 * @param name `HOOKSWITCH_SECRET`
 * @returns `undefined`: neither the variable nor that of its file is set
 * @throws `InvalidOption` naming the variable; the message quotes no secret
 */
export function readSecretVariable(env: Environment, name: string): SecretVariable | undefined {
  const fileName = fileVariableOf(name)
  const value = ownValue(env, name)
  const path = ownValue(env, fileName)
  if (path !== undefined) {
    if (value !== undefined) throw wrongFlag(fileName, `cannot be combined with ${name}`)
    return { name: fileName, value: checked(fileName, readSecret(fileName, path)) }
  }
  return value === undefined ? undefined : { name, value: checked(name, value) }
}

/** `env` with the values of these secrets that are in files. Each command checks an empty one. @throws as `readSecretVariable` */
export function withSecretFiles(env: Environment, names: readonly string[]): Environment {
  const secrets = names.flatMap((name) => {
    if (ownValue(env, name) === '' && ownValue(env, fileVariableOf(name)) === undefined) return []
    const secret = readSecretVariable(env, name)
    return secret ? [[name, secret.value]] : []
  })
  return { ...env, ...Object.fromEntries(secrets) }
}

function ownValue(env: Environment, name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined
}

function readSecret(variable: string, path: string): string {
  if (path === '') throw wrongFlag(variable, 'must not be empty')
  let text: string
  try {
    if (statSync(path).size > MAX_FILE_BYTES)
      throw wrongFlag(variable, `${path} is larger than ${MAX_FILE_BYTES} bytes, which no secret is`)
    text = readFileSync(path, 'utf8')
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (code === 'InvalidOption') throw thrown
    throw wrongFlag(
      variable,
      `${path} cannot be read (${code === 'ENOENT' ? 'there is no such file' : code})`,
    )
  }
  return text.replace(/\r?\n$/, '')
}

function checked(variable: string, secret: string): string {
  if (secret === '') throw wrongFlag(variable, 'must not be empty')
  if (endsInLineBreak(secret)) throw wrongFlag(variable, LINE_BREAK_PROBLEM)
  return secret
}
