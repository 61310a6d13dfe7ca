/** Kinds of events in the user's words; those of the host have its name and description. */
import { t, word } from './translate.js'

interface NamedKind {
  readonly id: string
  readonly name: string
  readonly description: string
}

/** `Call started`. */
export function eventName({ id, name }: Pick<NamedKind, 'id' | 'name'>): string {
  const text = word('event', id)
  return text === id ? name : text
}

/** One sentence that says when it happens; empty: the host says nothing. */
export function eventHint({ id, description }: Pick<NamedKind, 'id' | 'description'>): string {
  const key = `event.hint.${id}` as Parameters<typeof t>[0]
  const text = t(key)
  return text === key ? description : text
}
