/** Reads the file of `--accounts` and describes its errors. The accounts themselves are checked by `accounts.ensure`. */
import { readFile } from 'node:fs/promises'
import { HookswitchError } from 'hookswitch'

/**
 * Reads the array of accounts in a JSON file, without checking the accounts.
 *
 * @throws `InvalidInput` naming the flag, the file and the place in it
 */
export async function readAccountsFile(path: string): Promise<readonly unknown[]> {
  const file = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw problem(path, `cannot be read (${error.code === 'ENOENT' ? 'there is no such file' : error.code})`)
  })
  // Some editors write a byte order mark.
  const text = file.replace(/^\uFEFF/, '')
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    // The parser's message quotes the text, which contains passwords.
    throw problem(path, `is not JSON (${placeOfProblem(text)})`)
  }
  if (!Array.isArray(parsed)) throw problem(path, 'must hold an array of accounts')
  return parsed
}

/**
 * Describes an error of one account: the flag, the file, the account and the service's message.
 *
 * @param accounts the array of the file
 * @param thrown by `accounts.ensure`; its fields begin with the index in the array
 */
export function wrongAccount(path: string, accounts: readonly unknown[], thrown: Error): HookswitchError {
  const { field = '', message, failures = [], cause } = thrown as HookswitchError
  const [index] = /^\d+(?=\.|$)/.exec(failures[0]?.path ?? field) ?? []
  if (index === undefined) return problem(path, message)
  // The service prefixes every field with the index; the message names the account once, in front.
  const details =
    cause instanceof Error
      ? cause.message
      : message.replaceAll(new RegExp(`(^|; )${index}(\\.|: )`, 'g'), '$1')
  return problem(path, `${nameOf(accounts, Number(index))}: ${details}`)
}

/** `account 'acme' (realm acme.example)`: its id, or its place counted from 1. Quotes only valid ids and realms, never other text. */
function nameOf(accounts: readonly unknown[], index: number): string {
  const { id, realm } = (accounts[index] ?? {}) as { id?: unknown; realm?: unknown }
  const name = typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? `'${id}'` : `${index + 1} of the list`
  const isRealm = typeof realm === 'string' && /^[^\s\p{Cc}\p{Cs}]{1,253}$/u.test(realm)
  return `account ${name}${isRealm ? ` (realm ${realm})` : ''}`
}

/** `line 3, column 7`: the end of the longest prefix that could begin a JSON text. */
function placeOfProblem(text: string): string {
  let valid = 0
  let invalid = text.length + 1
  while (invalid - valid > 1) {
    const middle = Math.floor((valid + invalid) / 2)
    if (isPrefixOfJson(text.slice(0, middle))) valid = middle
    else invalid = middle
  }
  const lines = text.slice(0, valid).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
}

/** True for JSON and for text whose only parse error is its end. */
function isPrefixOfJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (thrown) {
    const { message } = thrown as Error
    if (/^(Unexpected end of JSON input$|Unterminated string )/.test(message)) return true
    const [, position] = / in JSON at position (\d+)[^"]*$/.exec(message) ?? []
    return Number(position) === text.length
  }
}

function problem(path: string, sentence: string): HookswitchError {
  return new HookswitchError('InvalidInput', `--accounts: ${path}: ${sentence}`, { field: '--accounts' })
}
