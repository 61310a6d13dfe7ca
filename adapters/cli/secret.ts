/** The key for secrets at rest, judged before anything is opened: with a wrong one nothing could be read. */
import { readFile, realpath } from 'node:fs/promises'
import { wrongFlag } from './read-flags.js'
import type { StoreChoice } from './store-choice.js'

const NAME = 'HOOKSWITCH_SECRET'
const MAKE_ONE = `node -p "crypto.randomBytes(32).toString('hex')"`

/**
 * The secret of the environment; `undefined` where the store keeps or makes one.
 *
 * @throws `InvalidOption` naming `HOOKSWITCH_SECRET`; no secret is ever quoted
 */
export async function secretFor(
  choice: StoreChoice,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const secret = env[NAME]
  if (choice.store === 'postgres' && secret === undefined) {
    throw wrongFlag(NAME, `is needed with PostgreSQL, the same on every node: make one with ${MAKE_ONE}`)
  }
  if (choice.store === 'sqlite' && secret !== undefined) {
    // Beside the file itself, not beside a link to it.
    const path = await realpath(choice.path).catch(() => choice.path)
    const own = await readFile(`${path}.key`, 'utf8').catch(() => undefined)
    if (own !== undefined && own.trim() !== secret) {
      throw wrongFlag(NAME, `is not the key of ${path}: unset it, or take the one in ${path}.key`)
    }
  }
  return secret
}
