/** Requests the token of a user who is signed in to the host. */
import type { Session } from '../state/session.js'

/** `undefined`: the user is not signed in to the host. @throws when the host cannot be reached */
export async function hostSession(): Promise<Session | undefined> {
  const response = await fetch('session', { headers: { 'x-hookswitch-portal': '1' }, cache: 'no-store' })
  if (response.status === 401 || response.status === 403) return undefined
  if (!response.ok) throw new Error(`session: ${response.status}`)
  const { token, accountId } = (await response.json()) as Session
  return { token, accountId }
}
