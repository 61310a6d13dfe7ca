import type { Clock, Random } from '../ports.js'
import type { SecretBox } from '../values/seal.js'
import type { AccountStore } from './account-store.js'

/** What the verbs of accounts ask of the outside. */
export interface AccountDoors {
  readonly accounts: AccountStore
  readonly box: SecretBox
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
  newId(): string
}
