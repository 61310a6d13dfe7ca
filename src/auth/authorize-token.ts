import { forbidden } from './auth-errors.js'
import { type AuthenticateDeps, authenticate, type Caller } from './authenticate.js'
import { authorize } from './authorize.js'

/**
 * Authenticates a token for reading one account.
 *
 * @throws `InvalidCredentials` for the token, `Forbidden` for an account that its caller may not read, existing or not,
 *   `StoreUnavailable`
 */
export async function authorizeToken(
  deps: AuthenticateDeps & Parameters<typeof authorize>[0],
  token: string,
  accountId: string,
): Promise<Caller> {
  const caller = await authenticate(deps, token)
  if (await authorize(deps, caller, accountId, 'read')) return caller
  // Operators alone learn that an account does not exist, and there is nothing to read.
  throw forbidden()
}
