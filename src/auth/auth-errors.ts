import { HookswitchError } from '../errors.js'

/** The same error for every cause, of a login as of a token: it does not reveal which part was wrong. */
export function invalidCredentials(): HookswitchError {
  return new HookswitchError('InvalidCredentials', 'invalid credentials')
}

/** The login is correct, but its account is disabled. */
export function accountLocked(): HookswitchError {
  return new HookswitchError('AccountLocked', 'the account is disabled')
}

/** The caller may not act on the account, whether it exists or not. */
export function forbidden(): HookswitchError {
  return new HookswitchError('Forbidden', 'forbidden')
}

/** Nobody deletes its own account (KAZOO `cb_accounts`). */
export function ownAccountDeletion(accountId: string): HookswitchError {
  return new HookswitchError('Forbidden', 'deleting your own account is forbidden', { id: accountId })
}

/** Too many logins from this source; the next one is allowed after `waitMs`. */
export function tooManyLogins(waitMs: number): HookswitchError {
  return new HookswitchError('TooManyLogins', 'too many logins', {
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  })
}
