/** Keeps the token: logs in when one is needed and renews it before it expires. Concurrent calls share one login. */
import type { ClientClock } from './deadline.js'

/** A token and the account that it belongs to. */
export interface Session {
  readonly token: string
  /** Absent for a token that the client did not request itself. */
  readonly accountId?: string
}

/** Part of the lifetime after which a token is renewed in the background. */
const RENEW_AFTER = 0.9
/** Shortest time between two renewals in the background, so that a failing login is not repeated with every call. */
const RENEWAL_PAUSE_MS = 10_000

/** The token of a client. */
interface SessionKeeper {
  /** The current session; logs in if there is none. @throws the error of the login */
  get(): Promise<Session>
  /** Drops this session after a 401, unless another has replaced it. */
  invalidate(session: Session): void
  /** The current session without a login; `undefined` if there is none. */
  current(): Session | undefined
  /** Drops the current session. */
  clear(): void
}

/**
 * @param logIn requests a token; its errors reject every waiting call, and the next call tries again
 * @param lifetimeMs lifetime of a token in milliseconds
 */
export function sessionKeeper(
  logIn: () => Promise<Session>,
  lifetimeMs: number,
  clock: ClientClock,
): SessionKeeper {
  let current: { readonly session: Session; readonly renewAtMs: number; readonly endMs: number } | undefined
  let pending: Promise<Session> | undefined
  let nextRenewalMs = 0
  /** Raised by `clear`: a login that began before it must not bring a session back. */
  let epoch = 0

  const renew = () => {
    if (pending) return pending
    const startEpoch = epoch
    const startMs = clock.monotonic()
    const started = (async () => {
      const session = await logIn()
      // The service counts the lifetime from some moment after the request was sent.
      const renewAtMs = startMs + lifetimeMs * RENEW_AFTER
      if (epoch === startEpoch) current = { session, renewAtMs, endMs: startMs + lifetimeMs }
      return session
    })()
    pending = started
    const settle = () => {
      if (pending === started) pending = undefined
    }
    started.then(settle, settle)
    return started
  }

  return {
    async get() {
      const nowMs = clock.monotonic()
      if (!current || nowMs >= current.endMs) return renew()
      if (nowMs >= current.renewAtMs && nowMs >= nextRenewalMs) {
        nextRenewalMs = nowMs + RENEWAL_PAUSE_MS
        // The old token is still valid; a failure is tried again later.
        renew().catch(() => {})
      }
      return current.session
    },
    invalidate(session) {
      if (current?.session === session) current = undefined
    },
    current: () => current?.session,
    clear() {
      epoch += 1
      current = undefined
      pending = undefined
    },
  }
}
