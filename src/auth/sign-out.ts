import type { LiveTokens } from './live-tokens.js'
import { isToken, tokenHash } from './token.js'
import type { TokenStore } from './token-store.js'

/**
 * Revokes one token: on this node it is dead when this resolves. A token that is none, or dead already, is no
 * error.
 *
 * @throws `StoreUnavailable`: the token may still be valid
 */
export async function signOut(
  doors: { readonly tokens: Pick<TokenStore, 'revoke'>; readonly live: LiveTokens },
  token: string,
): Promise<void> {
  if (!isToken(token)) return
  const hash = tokenHash(token)
  try {
    await doors.tokens.revoke(hash)
  } finally {
    // After the store, or a check in between would bring it back; also when the store's answer was lost.
    doors.live.forgetToken(hash)
  }
}
