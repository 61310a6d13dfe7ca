/**
 * Makes text from elsewhere visible: control characters, marks that turn the direction of writing and invisible
 * characters are shown as `\u{202E}`, so that no text looks like another. Pure.
 */

const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** One part of a text; an escaped one is shown in another style. */
export interface TextPart {
  readonly text: string
  readonly isEscaped: boolean
}

const escapeOf = (character: string) => `\\u{${character.codePointAt(0)!.toString(16).toUpperCase()}}`

/** Escapes hidden characters but line feed and tab. */
export function printable(text: string): string {
  return text.replace(HIDDEN, escapeOf)
}

/** Escapes hidden characters, line feed and tab too. */
export function printableLine(text: string): string {
  return printable(text).replace(/[\n\t]/g, escapeOf)
}

/** The same as `printable`, with the escaped parts apart. */
export function textParts(text: string): readonly TextPart[] {
  const parts: TextPart[] = []
  let end = 0
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > end) parts.push({ text: text.slice(end, match.index), isEscaped: false })
    parts.push({ text: escapeOf(match[0]), isEscaped: true })
    end = match.index + match[0].length
  }
  if (end < text.length) parts.push({ text: text.slice(end), isEscaped: false })
  return parts
}
