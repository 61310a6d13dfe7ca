/** The file of `--accounts`. */
import { readFile } from 'node:fs/promises'
import { HookswitchError } from 'hookswitch'

/**
 * Reads the array of accounts in a JSON file. What is in the accounts is not judged here.
 *
 * @throws `InvalidInput` naming the flag and the file
 */
export async function readAccountsFile(path: string): Promise<readonly unknown[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw problem(path, `cannot be read (${error.code === 'ENOENT' ? 'there is no such file' : error.code})`)
  })
  let parsed: unknown
  try {
    // A byte order mark is what some editors leave behind.
    parsed = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    // The parser's own message quotes the text, and there are passwords in it.
    throw problem(path, 'is not JSON')
  }
  if (!Array.isArray(parsed)) throw problem(path, 'must hold an array of accounts')
  return parsed
}

/** The error of an account in the file: as the service says it, with the flag and the file before it. */
export function wrongAccount(path: string, thrown: Error): HookswitchError {
  return problem(path, thrown.message)
}

function problem(path: string, sentence: string): HookswitchError {
  return new HookswitchError('InvalidInput', `--accounts: ${path}: ${sentence}`, { field: '--accounts' })
}
