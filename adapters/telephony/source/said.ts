/**
 * What was thrown, as a text for people: hosts throw anything, also what cannot become a text. One line, at most 200
 * characters, without control characters; and without these secrets, which a peer may have sent back.
 */
export function said(thrown: unknown, ...secrets: readonly string[]): string {
  let text: string
  try {
    text = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  } catch {
    text = `a thrown ${typeof thrown}`
  }
  return shown(text, ...secrets)
}

/** A text of a peer, fit for logs and events: see `said`. */
export function shown(text: string, ...secrets: readonly string[]): string {
  let clean = text.slice(0, 10_000)
  for (const secret of secrets) if (secret !== '') clean = clean.replaceAll(secret, '…')
  return clean.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, '?').slice(0, 200)
}

/**
 * A part of a text without the text: V8's slices keep the whole of what they were cut from. Cut from a text of its own,
 * one character longer, it keeps that alone (a third of the time of a copy by way of bytes).
 */
export function detached(text: string): string {
  return text.length < 13 ? text : ` ${text}`.slice(1)
}
