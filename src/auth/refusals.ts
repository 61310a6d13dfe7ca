import { HookswitchError } from '../errors.js'

/** One error for every cause, of a login as of a token: it tells nothing of what was wrong. */
export function invalidCredentials(): HookswitchError {
  return new HookswitchError('InvalidCredentials', 'invalid credentials')
}

/** The login is right, but its account is disabled. */
export function accountLocked(): HookswitchError {
  return new HookswitchError('AccountLocked', 'the account is disabled')
}

/** The account is outside the caller's authority, whether it exists or not. */
export function forbidden(): HookswitchError {
  return new HookswitchError('Forbidden', 'forbidden')
}

/** Too many logins from there; `waitMs` until one is let in. */
export function tooManyLogins(waitMs: number): HookswitchError {
  return new HookswitchError('TooManyLogins', 'too many logins', {
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  })
}
