/** Reads the file of the setting `accounts`, checks it and describes its errors. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { HookswitchError } from 'hookswitch'
import { checkAccounts } from 'hookswitch/adapter'
import { FormatError, type ParsedText, parseJson } from './json-places.js'
import { collectProblems } from './problems.js'

/** Each description reads the file again to find its place. */
const MAX_DESCRIBED = 20

/** A list of accounts with where it came from. */
export interface AccountsFile {
  readonly path: string
  /** SHA-256 of the content, to notice a change. The content itself has passwords and may be large. */
  readonly digest: string
  readonly accounts: readonly unknown[]
  /** Describes an error of `accounts.ensure`: the setting, the file, the place, the account and the message. */
  describe(thrown: Error): HookswitchError
}

/**
 * Reads the array of accounts in a JSON file and checks everything that does not depend on the accounts that exist.
 *
 * @param label how errors name the setting: `--accounts`
 * @throws `InvalidInput`, `Conflict` naming the setting, the file, the place in it and the account, for each that is wrong
 */
export async function readAccountsFile(path: string, label = '--accounts'): Promise<AccountsFile> {
  const problem = (sentence: string) =>
    new HookswitchError('InvalidInput', `${label}: ${path}: ${sentence}`, { field: '--accounts' })
  const content = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw problem(`cannot be read (${error.code === 'ENOENT' ? 'there is no such file' : error.code})`)
  })
  // Some editors write a byte order mark.
  const text = content.replace(/^\uFEFF/, '')
  let parsed: ParsedText
  try {
    parsed = parseJson(text)
  } catch (thrown) {
    if (!(thrown instanceof FormatError)) throw thrown
    const { line, column } = thrown.place
    throw problem(`is not JSON (line ${line}, column ${column})`)
  }
  const accounts = parsed.value
  if (!Array.isArray(accounts)) throw problem('must hold an array of accounts')
  const describe = (thrown: Error) => describeProblem(parsed, accounts, thrown, problem)
  const problems = collectProblems()
  problems.add(checkAccounts(accounts).slice(0, MAX_DESCRIBED).map(describe))
  problems.throwAny()
  const digest = createHash('sha256').update(text).digest('hex')
  return { path, digest, accounts, describe }
}

/** @param thrown its fields begin with the index in the array */
function describeProblem(
  parsed: ParsedText,
  accounts: readonly unknown[],
  thrown: Error,
  problem: (sentence: string) => HookswitchError,
): HookswitchError {
  const { field = '', message, failures = [], cause } = thrown as HookswitchError
  const path = failures[0]?.path ?? field
  const [index] = /^\d+(?=\.|$)/.exec(path) ?? []
  if (index === undefined) return problem(message)
  // The service prefixes every field with the index; the message names the account once, in front.
  const details =
    cause instanceof Error
      ? cause.message
      : message.replaceAll(new RegExp(`(^|; )${index}(\\.|: )`, 'g'), '$1')
  const steps = path.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step))
  const { line, column } = parsed.placeOf(steps)
  return problem(`line ${line}, column ${column}: ${nameOf(accounts, Number(index))}: ${details}`)
}

/** `account 'acme' (realm acme.example)`: its id, or its place counted from 1. Quotes only valid ids and realms, never other text. */
function nameOf(accounts: readonly unknown[], index: number): string {
  const { id, realm } = (accounts[index] ?? {}) as { id?: unknown; realm?: unknown }
  const name = typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? `'${id}'` : `${index + 1} of the list`
  const isRealm = typeof realm === 'string' && /^[^\s\p{Cc}\p{Cs}]{1,253}$/u.test(realm)
  return `account ${name}${isRealm ? ` (realm ${realm})` : ''}`
}
