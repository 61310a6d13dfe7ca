/** One line of text from receivers and callers: a text node, with hidden characters shown. */
import { printableLine } from 'hookswitch/adapter'

export function Line({ text, class: name }: { readonly text: string; readonly class?: string }) {
  return <bdi class={name}>{printableLine(text)}</bdi>
}
