/** The file of `--accounts`. */
import { readFile } from 'node:fs/promises'
import { HookswitchError } from 'hookswitch'

/**
 * Reads the array of accounts in a JSON file. What is in the accounts is not judged here.
 *
 * @throws `InvalidInput` naming the flag, the file and the place in it
 */
export async function readAccountsFile(path: string): Promise<readonly unknown[]> {
  const file = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw problem(path, `cannot be read (${error.code === 'ENOENT' ? 'there is no such file' : error.code})`)
  })
  // A byte order mark is what some editors leave behind.
  const text = file.replace(/^\uFEFF/, '')
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, and there are passwords in it.
    throw problem(path, `is not JSON (${placeOfProblem(text)})`)
  }
  if (!Array.isArray(parsed)) throw problem(path, 'must hold an array of accounts')
  return parsed
}

/**
 * The error of an account in the file: the flag, the file, the account, and what the service says of it.
 *
 * @param accounts as they were read
 * @param thrown by `accounts.ensure`: its fields begin with the place in the list, from 0
 */
export function wrongAccount(path: string, accounts: readonly unknown[], thrown: Error): HookswitchError {
  const { field = '', message, failures = [], cause } = thrown as HookswitchError
  const [place] = /^\d+(?=\.|$)/.exec(failures[0]?.path ?? field) ?? []
  if (place === undefined) return problem(path, message)
  // The service names accounts by their place in the list; for people that is said once, in front.
  const said =
    cause instanceof Error
      ? cause.message
      : message.replaceAll(new RegExp(`(^|; )${place}(\\.|: )`, 'g'), '$1')
  return problem(path, `${nameOf(accounts, Number(place))}: ${said}`)
}

/** `account 'acme' (realm acme.example)`: its id, or its place counted from 1; only what can be an id or a realm. */
function nameOf(accounts: readonly unknown[], place: number): string {
  const { id, realm } = (accounts[place] ?? {}) as { id?: unknown; realm?: unknown }
  const name = typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? `'${id}'` : `${place + 1} of the list`
  const isRealm = typeof realm === 'string' && /^[^\s\p{Cc}\p{Cs}]{1,253}$/u.test(realm)
  return `account ${name}${isRealm ? ` (realm ${realm})` : ''}`
}

/** `line 3, column 7`: the first character after which no text could make it JSON, or the end. */
function placeOfProblem(text: string): string {
  let fine = 0
  let wrong = text.length + 1
  while (wrong - fine > 1) {
    const middle = Math.floor((fine + wrong) / 2)
    if (couldBegin(text.slice(0, middle))) fine = middle
    else wrong = middle
  }
  const lines = text.slice(0, fine).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
}

/** Whether this is JSON, or would be if it went on: then the parser complains of the end alone. */
function couldBegin(text: string): boolean {
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
