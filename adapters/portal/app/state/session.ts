/**
 * The session: a token and its account, in memory and in `sessionStorage`, which the browser clears with the tab. A new
 * tab gets it from another one over a `BroadcastChannel`. It is never in a URL and never in a cookie.
 */
import { signal } from '@preact/signals'

export interface Session {
  readonly token: string
  /** The account that the token belongs to. */
  readonly accountId: string
}

export const session = signal<Session | undefined>(undefined)
/** The token is no longer valid; the screen stays until the user signs in again. */
export const isExpired = signal(false)
/** Raised by each login: what is shown is loaded again. */
export const generation = signal(0)

const STORAGE_KEY = `hookswitch-portal:${location.pathname}`
/** How long a new tab waits for the answer of another one. */
const OTHER_TABS_MS = 150

type Message =
  | { readonly kind: 'request' }
  | { readonly kind: 'session'; readonly session: Session }
  | { readonly kind: 'signed-out' }

const channel = new BroadcastChannel(STORAGE_KEY)
const send = (message: Message) => channel.postMessage(message)

channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  const own = session.value
  if (data.kind === 'request') {
    if (own && !isExpired.value) send({ kind: 'session', session: own })
  } else if (data.kind === 'signed-out') forget()
  else if (!own || isExpired.value) adopt(data.session)
})

function adopt(next: Session): void {
  session.value = next
  isExpired.value = false
  generation.value += 1
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(next))
  } catch {
    // Storage is off: the session lives as long as the page.
  }
}

function forget(): void {
  session.value = undefined
  isExpired.value = false
  try {
    sessionStorage.removeItem(STORAGE_KEY)
  } catch {
    // As above.
  }
}

/** What has to be done with the token of a session before it is revoked, such as removing what nobody has saved. */
const lastDuties = new Set<(ending: Session) => Promise<unknown>>()

/** Calls `duty` when the user signs out, until the returned function is called. */
export function beforeRevoking(duty: (ending: Session) => Promise<unknown>): () => void {
  lastDuties.add(duty)
  return () => {
    lastDuties.delete(duty)
  }
}

/** Ends the session here and in the other tabs at once; `revoke` gets it when nothing needs its token any more. */
export function signOut(revoke: (ended: Session) => Promise<void>): void {
  const ending = session.peek()
  if (!ending) return
  const done = Promise.allSettled([...lastDuties].map((duty) => duty(ending)))
  end()
  void done.then(() => revoke(ending))
}

/** Begins a session and tells the other tabs. */
export function begin(next: Session): void {
  adopt(next)
  send({ kind: 'session', session: next })
}

/** Ends the session here and in the other tabs. */
export function end(): void {
  forget()
  send({ kind: 'signed-out' })
}

/** Marks the session as no longer valid, unless another one has replaced it. */
export function expire(used: Session): void {
  if (session.value?.token === used.token) isExpired.value = true
}

/** Restores the session of this tab or of another one. */
export async function restore(): Promise<void> {
  const stored = readStored()
  if (stored) return adopt(stored)
  send({ kind: 'request' })
  const deadline = Date.now() + OTHER_TABS_MS
  while (!session.value && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10))
}

function readStored(): Session | undefined {
  try {
    const { token, accountId } = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? '') as Partial<Session>
    return typeof token === 'string' && typeof accountId === 'string' ? { token, accountId } : undefined
  } catch {
    return undefined
  }
}
