import type { AccountChange } from '../accounts/account-input.js'
import type { Directory } from '../accounts/directory.js'
import type { AccountDoors } from '../accounts/doors.js'
import type { LineageCache } from '../accounts/lineage-cache.js'
import { type AccountView, removeAccount, updateAccount } from '../accounts/manage.js'
import { removeUser, setPassword } from '../accounts/users.js'
import { HookswitchError } from '../errors.js'
import type { LiveTokens } from './live-tokens.js'
import type { TokenStore } from './token-store.js'

/**
 * Changes of accounts that end tokens. What ends them is the change itself: the credential has another version, the
 * account is disabled or gone. Here this node's caches are told, so that they are dead at once, and the rows of
 * tokens that can never live again are removed.
 */
export interface RevocationDoors {
  readonly tokens: Pick<TokenStore, 'revokeAll'>
  readonly live: Pick<LiveTokens, 'forgetAccount' | 'forgetAll'>
  readonly lineages: Pick<LineageCache, 'changed'>
}

/**
 * Makes a new API key; the old one and the tokens that it was traded for are dead. Resolves to the new key.
 *
 * @throws `NotFound`; `Unsupported` where the host's directory does not rotate keys; `StoreUnavailable`
 */
export function rotateKeyAndRevoke(
  doors: RevocationDoors & { readonly directory: Directory },
  accountId: string,
): Promise<string> {
  return ending(doors, accountId, async () => {
    if (!doors.directory.rotateApiKey) {
      throw new HookswitchError('Unsupported', "the host's directory does not rotate API keys", {
        field: 'directory',
      })
    }
    const apiKey = await doors.directory.rotateApiKey(accountId)
    await removeRows(doors, accountId, null)
    return apiKey
  })
}

/** Gives a user a new password; the user's tokens are dead. @throws `InvalidInput`, `NotFound` */
export function setPasswordAndRevoke(
  doors: RevocationDoors & AccountDoors,
  accountId: string,
  user: string,
  password: string,
): Promise<void> {
  return ending(doors, accountId, async () => {
    await removeRows(doors, accountId, await setPassword(doors, accountId, user, password))
  })
}

/** Removes a user with all tokens. @throws `NotFound` */
export function removeUserAndRevoke(
  doors: RevocationDoors & AccountDoors,
  accountId: string,
  user: string,
): Promise<void> {
  return ending(doors, accountId, async () => {
    await removeRows(doors, accountId, await removeUser(doors, accountId, user))
  })
}

/**
 * Changes an account. Disabling it kills its tokens at once, enabling it again revives those that are not over:
 * a token is valid while its account is enabled. To end them for good, rotate the key and set the passwords.
 *
 * @throws `InvalidInput`, `Conflict`, `NotFound`
 */
export function updateAccountAndForget(
  doors: RevocationDoors & Pick<AccountDoors, 'accounts' | 'clock'>,
  accountId: string,
  change: AccountChange,
): Promise<AccountView> {
  return ending(doors, accountId, () => updateAccount(doors, accountId, change))
}

/** Removes an account with key, users and tokens. @throws `NotFound`, `Conflict` while there are accounts below it */
export function removeAccountAndRevoke(
  doors: RevocationDoors & Pick<AccountDoors, 'accounts'>,
  accountId: string,
): Promise<void> {
  return ending(doors, accountId, async () => {
    await removeAccount(doors, accountId)
    await removeRows(doors, accountId)
  })
}

/** Tells this node's caches that an account is not as it was. */
export function forgetAccount(doors: Omit<RevocationDoors, 'tokens'>, accountId: string): void {
  doors.lineages.changed()
  doors.live.forgetAccount(accountId)
}

/** Forgets after the change, or a check in between would bring the old back; also when its answer was lost. */
async function ending<T>(doors: RevocationDoors, accountId: string, change: () => Promise<T>): Promise<T> {
  try {
    return await change()
  } finally {
    forgetAccount(doors, accountId)
  }
}

/** Only tidies up, and the change is done: a store that fails now must not make it look as if it were not. */
async function removeRows(doors: RevocationDoors, accountId: string, holder?: string | null): Promise<void> {
  await doors.tokens.revokeAll(accountId, holder).catch(() => 0)
}
