/** Requests the token of a user who is signed in to the host. */
import { effect } from '@preact/signals'
import { begin, end, isExpired, restore, type Session } from '../state/session.js'

/** `undefined`: the user is not signed in to the host. @throws when the host cannot be reached */
export async function hostSession(): Promise<Session | undefined> {
  const response = await fetch('session', { headers: { 'x-hookswitch-portal': '1' }, cache: 'no-store' })
  if (response.status === 401 || response.status === 403) return undefined
  if (!response.ok) throw new Error(`session: ${response.status}`)
  const { token, accountId } = (await response.json()) as Session
  return { token, accountId }
}

/** Shortest time between two requests for the host's session: its tokens may be refused at once. */
const MIN_RENEWAL_MS = 30_000

/** Begins the session of the host's user, who may be another one than that of the stored session. */
export async function startHostSession(): Promise<void> {
  try {
    const found = await hostSession()
    if (found) begin(found)
    else end()
  } catch {
    await restore()
  }
  renewHostSession()
}

/** Requests a new token as soon as one has expired, while the user is still signed in to the host. */
function renewHostSession(): void {
  let requestedMs = Number.NEGATIVE_INFINITY
  effect(() => {
    if (!isExpired.value || performance.now() - requestedMs < MIN_RENEWAL_MS) return
    requestedMs = performance.now()
    // Where it fails, the user sees the question that follows every expiry.
    hostSession().then(
      (found) => found && begin(found),
      () => {},
    )
  })
}
