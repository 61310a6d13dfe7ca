import { createHash } from 'node:crypto'
import type { AccountDeps } from '../../src/accounts/manage.js'
import { type ManualClock, manualClock } from '../../src/testkit/clock.js'
import { seededRandom } from '../../src/testkit/random.js'
import { createSecretCipher } from '../../src/values/encryption.js'
import { createIdGenerator } from '../../src/values/ids.js'
import { recordingAccountStore } from './recording-stores.js'

export const SECRET = 'a secret of the service'

/** Creates the dependencies of the account operations over Maps. `calls`: every call of the store. */
export function createAccountHarness(secrets: readonly string[] = [SECRET]): AccountDeps & {
  readonly clock: ManualClock
  readonly calls: unknown[]
  /** The fields of every line of the log. */
  readonly logged: unknown[]
} {
  const calls: unknown[] = []
  const logged: unknown[] = []
  const random = seededRandom(1)
  return {
    accounts: recordingAccountStore(calls),
    cipher: createSecretCipher(secrets),
    clock: manualClock(),
    random,
    newId: createIdGenerator(random.bytes),
    log: { debug: (fields) => logged.push(fields) },
    calls,
    logged,
  }
}

export const md5Of = (text: string) => createHash('md5').update(text).digest('hex')
export const sha1Of = (text: string) => createHash('sha1').update(text).digest('hex')
