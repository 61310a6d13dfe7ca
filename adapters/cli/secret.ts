/** Checks the encryption key before anything is opened, because a wrong key can decrypt nothing. */
import { readFile, realpath } from 'node:fs/promises'
import { wrongFlag } from './read-flags.js'
import type { StoreChoice } from './store-options.js'

const NAME = 'HOOKSWITCH_SECRET'
const OTHER_NAME = 'HOOKSWITCH_OTHER_SECRET'
const MIN_LENGTH = 16
const GENERATE = `node -p "crypto.randomBytes(32).toString('hex')"`

/**
 * Returns the secrets of the environment, or `undefined` where the store keeps or creates one. The first encrypts, all
 * decrypt.
 *
 * @throws `InvalidOption` naming the variable; the message quotes no secret
 */
export async function secretFor(
  choice: StoreChoice,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[] | undefined> {
  const secret = env[NAME]
  const other = env[OTHER_NAME]
  if (other !== undefined && secret === undefined)
    throw wrongFlag(OTHER_NAME, `has no effect without ${NAME}`)
  if (other !== undefined && other.length < MIN_LENGTH) {
    throw wrongFlag(OTHER_NAME, `must have at least ${MIN_LENGTH} characters`)
  }
  if (choice.store === 'postgres' && secret === undefined) {
    throw wrongFlag(
      NAME,
      `is required with PostgreSQL, the same on every node; generate one with ${GENERATE}`,
    )
  }
  if (choice.store === 'sqlite' && secret !== undefined) {
    // The key file lies beside the file itself, not beside a link to it.
    const path = await realpath(choice.path).catch(() => choice.path)
    const stored = await readFile(`${path}.key`, 'utf8').catch(() => undefined)
    if (stored !== undefined && stored.trim() !== secret) {
      throw wrongFlag(NAME, `is not the key of ${path}: unset it or use the contents of ${path}.key`)
    }
  }
  if (secret === undefined) return undefined
  return other === undefined ? [secret] : [secret, other]
}
