/**
 * Account changes that invalidate tokens. The change itself invalidates them: the credential gets another version, or
 * the account is disabled or removed. The functions here also invalidate this node's caches, so that it shows at once,
 * and delete the rows of tokens that can never be valid again.
 */
import type { AccountChange } from '../accounts/account-input.js'
import type { Directory } from '../accounts/directory.js'
import type { LineageCache } from '../accounts/lineage-cache.js'
import { type AccountDeps, type AccountView, updateAccount } from '../accounts/manage.js'
import { removeUser, setPassword } from '../accounts/users.js'
import { HookswitchError } from '../errors.js'
import type { TokenCache } from './token-cache.js'
import type { TokenStore } from './token-store.js'

export interface RevocationDeps {
  readonly tokens: Pick<TokenStore, 'revokeAll'>
  readonly tokenCache: Pick<TokenCache, 'invalidateAccount' | 'invalidateAll'>
  readonly lineages: Pick<LineageCache, 'invalidate'>
  /** Called after a webhook was deleted with its account, which cancels its pending deliveries. */
  onDeliveriesCancelled?(webhookId: string): void
}

/**
 * Replaces the API key and revokes the tokens issued for the old one. Resolves to the new key.
 *
 * @throws `NotFound`; `Unsupported` when the host's directory does not rotate keys; `StoreUnavailable`
 */
export function rotateKeyAndRevoke(
  deps: RevocationDeps & { readonly directory: Directory },
  accountId: string,
): Promise<string> {
  return thenInvalidate(deps, accountId, async () => {
    if (!deps.directory.rotateApiKey) {
      throw new HookswitchError('Unsupported', "the host's directory does not rotate API keys", {
        field: 'directory',
      })
    }
    const apiKey = await deps.directory.rotateApiKey(accountId)
    await deleteTokens(deps, accountId, null)
    return apiKey
  })
}

/** Sets a user's password and revokes the user's tokens. @throws `InvalidInput`, `NotFound` */
export function setPasswordAndRevoke(
  deps: RevocationDeps & AccountDeps,
  accountId: string,
  user: string,
  password: string,
): Promise<void> {
  return thenInvalidate(deps, accountId, async () => {
    await deleteTokens(deps, accountId, await setPassword(deps, accountId, user, password))
  })
}

/** Removes a user and revokes the user's tokens. @throws `NotFound` */
export function removeUserAndRevoke(
  deps: RevocationDeps & AccountDeps,
  accountId: string,
  user: string,
): Promise<void> {
  return thenInvalidate(deps, accountId, async () => {
    await deleteTokens(deps, accountId, await removeUser(deps, accountId, user))
  })
}

/**
 * Updates an account. A token is valid only while its account is enabled, so disabling invalidates the account's tokens
 * at once and enabling makes the unexpired ones valid again. To revoke them for good, rotate the key and set the
 * passwords.
 *
 * @throws `InvalidInput`, `Conflict`, `NotFound`
 */
export function updateAccountAndInvalidate(
  deps: RevocationDeps & Pick<AccountDeps, 'accounts' | 'clock'>,
  accountId: string,
  change: AccountChange,
): Promise<AccountView> {
  return thenInvalidate(deps, accountId, () => updateAccount(deps, accountId, change))
}

/**
 * Removes an account with its key, users, webhooks and tokens.
 *
 * @param revision expected revision. Default: any
 * @throws `NotFound`, `Conflict` while there are accounts below it, `RevisionConflict`
 */
export function removeAccountAndRevoke(
  deps: RevocationDeps & Pick<AccountDeps, 'accounts' | 'clock'>,
  accountId: string,
  revision?: number,
): Promise<void> {
  return thenInvalidate(deps, accountId, async () => {
    const removal = { nowMs: deps.clock.now(), ...(revision !== undefined && { revision }) }
    const webhookIds = await deps.accounts.remove(accountId, removal)
    for (const id of webhookIds) deps.onDeliveriesCancelled?.(id)
    await deleteTokens(deps, accountId)
  })
}

/** Drops everything that this node's caches hold about an account. */
export function invalidateAccount(
  deps: Pick<RevocationDeps, 'lineages' | 'tokenCache'>,
  accountId: string,
): void {
  deps.lineages.invalidate()
  deps.tokenCache.invalidateAccount(accountId)
}

/**
 * Invalidates the caches after the change: a concurrent check could otherwise cache the old state again. Also when the
 * change failed, since its outcome may be unknown.
 */
export async function thenInvalidate<T>(
  deps: RevocationDeps,
  accountId: string,
  change: () => Promise<T>,
): Promise<T> {
  try {
    return await change()
  } finally {
    invalidateAccount(deps, accountId)
  }
}

/** Only cleans up: the change is already committed, so an error here must not make it look as if it had failed. */
export async function deleteTokens(
  deps: RevocationDeps,
  accountId: string,
  holder?: string | null,
): Promise<void> {
  await deps.tokens.revokeAll(accountId, holder).catch(() => 0)
}
