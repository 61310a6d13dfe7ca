/**
 * Makes text from elsewhere visible: control characters, marks that turn the direction of writing and invisible
 * characters are shown as `\u{202E}`, so that no text looks like another. Pure.
 */

const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]|\p{Surrogate}/gu

/** One part of a text; an escaped one is shown in another style. */
export interface TextPart {
  readonly text: string
  readonly isEscaped: boolean
}

const escape = (character: string) => `\\u{${character.codePointAt(0)!.toString(16).toUpperCase()}}`

/** Escapes hidden characters but line feed and tab. */
export function printable(text: string): string {
  return text.replace(HIDDEN, escape)
}

/** Escapes hidden characters, line feed and tab too. */
export function printableLine(text: string): string {
  return printable(text).replace(/[\n\t]/g, escape)
}

/** The same as `printable`, with the escaped parts apart. */
export function textParts(text: string): readonly TextPart[] {
  const parts: TextPart[] = []
  let end = 0
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > end) parts.push({ text: text.slice(end, match.index), isEscaped: false })
    parts.push({ text: escape(match[0]), isEscaped: true })
    end = match.index + match[0].length
  }
  if (end < text.length) parts.push({ text: text.slice(end), isEscaped: false })
  return parts
}
