/** Kinds of events of the catalogue in the user's words; those of the host have its name and description. */
import type { Hook } from 'hookswitch/client'
import type { MessageKey } from '../text/messages.js'
import { t, word } from './translate.js'

/** `Call started`. */
export function kindName({ id, name }: Pick<Hook, 'id' | 'name'>): string {
  const text = word('event', id)
  return text === id ? name : text
}

/** One sentence that says when it happens; empty: the host says nothing. */
export function kindHint({ id, description }: Pick<Hook, 'id' | 'description'>): string {
  const key = `event.hint.${id}` as MessageKey
  const text = t(key)
  return text === key ? description : text
}
