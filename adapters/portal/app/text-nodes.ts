/**
 * Every text of the page passes here before it becomes part of the document: hidden characters are escaped wherever a
 * component shows text from elsewhere, also where it does not use `Line`. The values of inputs stay: they are edited.
 */
import { printable } from 'hookswitch/adapter'
import { options, type VNode } from 'preact'

/** Attributes that are shown or read aloud. */
const TEXT_ATTRIBUTES = ['aria-label', 'label', 'placeholder', 'title']

/** To be called once, before the first component is rendered. */
export function escapeTextNodes(): void {
  const { vnode: next } = options
  options.vnode = (node: VNode) => {
    // The properties of a text node are its text.
    const holder = node as { type: unknown; props: unknown }
    if (typeof holder.props === 'string') holder.props = printable(holder.props)
    else if (typeof holder.type === 'string') escapeAttributes(holder.props as Record<string, unknown>)
    next?.(node)
  }
}

function escapeAttributes(props: Record<string, unknown>): void {
  for (const name of TEXT_ATTRIBUTES) {
    const value = props[name]
    if (typeof value === 'string') props[name] = printable(value)
  }
}
