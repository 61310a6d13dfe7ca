/** Checks the encryption key before anything is opened, because a wrong key can decrypt nothing. */
import { readFile, realpath } from 'node:fs/promises'
import { type Settings, wrongSetting } from './read-settings.js'
import type { FileChoice, StoreChoice } from './store-options.js'

const GENERATE = `node -p "crypto.randomBytes(32).toString('hex')"`

/** A key file: 32 bytes in hex. */
const KEY = /^[0-9a-f]{64}$/

/**
 * Checks the secret of the settings against the store: a secret that is required, and the key file of a SQLite file.
 *
 * @throws `InvalidOption` naming the setting or the key file; the message quotes no secret
 */
export async function checkSecret(settings: Settings, choice: StoreChoice): Promise<void> {
  const { secret } = settings.values
  if (choice.store === 'postgres' && secret === undefined) {
    const sentence = `is required with PostgreSQL, the same on every node; generate one with ${GENERATE}`
    throw wrongSetting(settings, 'secret', sentence)
  }
  if (choice.store === 'sqlite') await checkKeyFile(settings, choice, secret)
}

async function checkKeyFile(
  settings: Settings,
  choice: FileChoice,
  secret: string | readonly string[] | undefined,
): Promise<void> {
  // The key file lies beside the file itself, not beside a link to it.
  const path = await realpath(choice.path).catch(() => choice.path)
  const stored = (await readFile(`${path}.key`, 'utf8').catch(() => undefined))?.trim()
  if (secret === undefined) {
    if (stored && !KEY.test(stored)) {
      const sentence = `${path}.key is not a key (64 hex digits): put the right one there, or remove the file`
      throw wrongSetting(settings, 'data', sentence)
    }
  } else if (stored !== undefined && ![secret].flat().includes(stored)) {
    const sentence = `is not the key of ${path}: unset it or use the contents of ${path}.key`
    throw wrongSetting(settings, 'secret', sentence)
  }
}
