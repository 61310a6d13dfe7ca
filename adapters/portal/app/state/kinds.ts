/** The kinds of events of the service in the user's words; those of the host have its name and description. */
import { signal } from '@preact/signals'
import type { Hook } from 'hookswitch/client'
import { page } from '../api/api.js'
import type { MessageKey } from '../text/messages.js'
import { session } from './session.js'
import { t, word } from './translate.js'

const kinds = signal<readonly Hook[]>([])
/** The token with which they were requested. */
let requestedWith: string | undefined
/** After a failure they are requested again at the first use after this time. */
const RETRY_MS = 10_000
let notBeforeMs = 0

/** All kinds; empty until they are loaded, which the first use begins. */
export function catalogue(): readonly Hook[] {
  if (session.value?.token !== requestedWith) queueMicrotask(load)
  return kinds.value
}

function load(): void {
  const token = session.peek()?.token
  if (token === undefined || token === requestedWith || Date.now() < notBeforeMs) return
  requestedWith = token
  page<Hook>('/webhooks', { pageSize: 1_000 }).then(
    ({ items }) => {
      kinds.value = items
    },
    () => {
      requestedWith = undefined
      notBeforeMs = Date.now() + RETRY_MS
    },
  )
}

/** `Call started`; the id of a kind that the service does not have. */
export function kindName(id: string): string {
  const text = word('event', id)
  return text === id ? (catalogue().find((kind) => kind.id === id)?.name ?? id) : text
}

/** One sentence that says when it happens; empty: the host says nothing. */
export function kindHint({ id, description }: Pick<Hook, 'id' | 'description'>): string {
  const key = `event.hint.${id}` as MessageKey
  const text = t(key)
  return text === key ? description : text
}

/** Choices of a kind: all that the service has, and the chosen one. */
export function kindOptions(chosen: string): readonly { readonly value: string; readonly text: string }[] {
  const ids = new Set([...catalogue().map(({ id }) => id), chosen])
  ids.delete('')
  return [...ids].map((value) => ({ value, text: kindName(value) }))
}
