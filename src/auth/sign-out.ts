import { hashToken, isWellFormedToken } from './token.js'
import type { TokenCache } from './token-cache.js'
import type { TokenStore } from './token-store.js'

/**
 * Revokes one token. On this node it is invalid as soon as the promise resolves. A malformed or already invalid token
 * is not an error.
 *
 * @throws `StoreUnavailable`: the token may still be valid
 */
export async function signOut(
  deps: { readonly tokens: Pick<TokenStore, 'revoke'>; readonly tokenCache: TokenCache },
  token: string,
): Promise<void> {
  if (!isWellFormedToken(token)) return
  const hash = hashToken(token)
  try {
    await deps.tokens.revoke(hash)
  } finally {
    // After the write: a concurrent check could otherwise cache the old row again. Also when the write's outcome is unknown.
    deps.tokenCache.invalidateToken(hash)
  }
}
