/**
 * Makes text from elsewhere visible, for every screen: the page, tables of the command line, logs. Hidden characters are
 * shown as `\u{202E}`, so that no text looks like another, moves the cursor or turns what stands beside it. Pure.
 *
 * Hidden are control characters (C0, C1, DEL), format characters (marks and overrides of direction, zero width, tags), line
 * and paragraph separators, lone surrogates, and what fonts draw as nothing. Text that people write stays as it is: letters of
 * every script turn their direction by themselves; an emoji keeps the joiners and selectors that it consists of; a word of
 * Arabic or Indic script keeps the joiners between its letters; the few format characters that are drawn stay too. Marks of
 * direction (U+200E, U+200F, U+061C) do not: they are invisible, and a text without them is still readable.
 */

/** Drawn although they are format characters: signs in front of Arabic numbers. */
const DRAWN = '\\u0600-\\u0605\\u06dd\\u070f\\u08e2'
const HIDDEN = `(?![\\n\\t${DRAWN}])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800]`
const PICTURE = '\\p{Extended_Pictographic}\\p{Emoji_Modifier}?[\\ufe0e\\ufe0f]?'
const EMOJI = `${PICTURE}(?:\\u200d${PICTURE})*|[0-9#*]\\ufe0f\\u20e3`
const SCRIPTS = [
  ...[
    'Arabic',
    'Bengali',
    'Devanagari',
    'Gujarati',
    'Gurmukhi',
    'Kannada',
    'Khmer',
    'Malayalam',
    'Mongolian',
  ],
  ...['Myanmar', 'Oriya', 'Sinhala', 'Syriac', 'Tamil', 'Telugu'],
]
const LETTER = `[${SCRIPTS.map((name) => `\\p{Script=${name}}`).join('')}]`
const JOINER = `(?<=${LETTER})[\\u200c\\u200d](?=${LETTER})`

/** What stays, or in the group what is hidden. */
const PARTS = new RegExp(`${EMOJI}|${JOINER}|(${HIDDEN})`, 'gu')
/** Most texts have nothing of it. */
const MAYBE_HIDDEN = new RegExp(HIDDEN, 'u')

/** One part of a text; an escaped one is shown in another style. */
export interface TextPart {
  /** The text as it is shown. */
  readonly text: string
  /** Whether it stands for a hidden character. */
  readonly isEscaped: boolean
}

const escapeOf = (character: string) => `\\u{${character.codePointAt(0)!.toString(16).toUpperCase()}}`

function replaceHidden(text: string, replace: (character: string) => string): string {
  if (!MAYBE_HIDDEN.test(text)) return text
  return text.replace(PARTS, (kept, hidden?: string) => (hidden === undefined ? kept : replace(hidden)))
}

/** Escapes hidden characters but line feed and tab. */
export function printable(text: string): string {
  return replaceHidden(text, escapeOf)
}

/** Escapes hidden characters, line feed and tab too. */
export function printableLine(text: string): string {
  return printable(text).replace(/[\n\t]/g, escapeOf)
}

/** The same as `printable`, with the escaped parts apart. */
export function textParts(text: string): readonly TextPart[] {
  const parts: TextPart[] = []
  let end = 0
  for (const { 0: whole, 1: hidden, index } of text.matchAll(PARTS)) {
    if (hidden === undefined) continue
    if (index > end) parts.push({ text: text.slice(end, index), isEscaped: false })
    parts.push({ text: escapeOf(hidden), isEscaped: true })
    end = index + whole.length
  }
  if (end < text.length) parts.push({ text: text.slice(end), isEscaped: false })
  return parts
}

/** A value as JSON on one line, with hidden characters escaped as JSON does: programs read the same value. */
export function printableJson(value: unknown): string {
  return replaceHidden(JSON.stringify(value) ?? 'null', (character) =>
    // Of a character beyond U+FFFF, both halves.
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
