import { createHash } from 'node:crypto'
import type { AccountDoors } from '../../src/accounts/doors.js'
import { type ManualClock, manualClock } from '../../src/testkit/clock.js'
import { seededRandom } from '../../src/testkit/random.js'
import { idMaker } from '../../src/values/ids.js'
import { secretBox } from '../../src/values/seal.js'
import { mapAccountStore } from './map-stores.js'

export const SECRET = 'a secret of the service'

/** The doors of accounts over Maps, and all that the store heard. */
export function accountWorld(secrets: readonly string[] = [SECRET]): AccountDoors & {
  readonly clock: ManualClock
  readonly heard: unknown[]
} {
  const heard: unknown[] = []
  const random = seededRandom(1)
  return {
    accounts: mapAccountStore(heard),
    box: secretBox(secrets),
    clock: manualClock(),
    random,
    newId: idMaker(random.bytes),
    heard,
  }
}

export const md5Of = (text: string) => createHash('md5').update(text).digest('hex')
export const sha1Of = (text: string) => createHash('sha1').update(text).digest('hex')
