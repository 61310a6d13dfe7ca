/** Makes texts of a peer or of the host safe for logs and events. */
import { printableLine } from 'hookswitch/adapter'

/**
 * Describes a thrown value, even one that cannot be converted to a string: one line of at most 200 characters, with
 * hidden characters escaped.
 *
 * @param secrets texts that a peer may have echoed; each is replaced with `…`
 */
export function sanitizeError(thrown: unknown, ...secrets: readonly string[]): string {
  let text: string
  try {
    text = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  } catch {
    text = `a thrown ${typeof thrown}`
  }
  return sanitizeText(text, ...secrets)
}

/**
 * Makes a text one line of at most 200 characters, with hidden characters escaped.
 *
 * @param secrets texts that a peer may have echoed; each is replaced with `…`
 */
export function sanitizeText(text: string, ...secrets: readonly string[]): string {
  let clean = text.slice(0, 10_000)
  for (const secret of secrets) if (secret !== '') clean = clean.replaceAll(secret, '…')
  return printableLine(clean).slice(0, 200)
}

/**
 * Copies a substring so that it does not keep its parent alive: a V8 slice references the string that it was cut from.
 * The slice returned here references only a concatenation that is one character longer, which takes a third of the time
 * of a copy through a Buffer. Slices shorter than 13 characters are always copies.
 */
export function detachSubstring(text: string): string {
  return text.length < 13 ? text : ` ${text}`.slice(1)
}
