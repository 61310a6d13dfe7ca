/** One line of text from receivers and callers: a text node, with hidden characters shown. */
import { printableLine } from 'hookswitch/adapter'

export function Line({ text }: { readonly text: string }) {
  return <bdi>{printableLine(text)}</bdi>
}
