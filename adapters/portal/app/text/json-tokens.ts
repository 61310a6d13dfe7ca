/**
 * Indents JSON for reading. The tokens are the source's own text: numbers keep all of their digits and strings their
 * escapes, which `JSON.parse` and `JSON.stringify` would change. Pure.
 */

export type TokenKind = 'key' | 'string' | 'number' | 'literal' | 'punctuation' | 'space'

interface JsonToken {
  readonly kind: TokenKind
  readonly text: string
}

/** In JSON each string ends: the optional quotation mark says that none is read twice. */
const TOKEN = /"(?:[^"\\]|\\.)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[[\]{},:]/g

/** @returns the tokens of the indented text; `undefined` if the text is not JSON */
export function indentJson(source: string): readonly JsonToken[] | undefined {
  try {
    JSON.parse(source)
  } catch {
    return undefined
  }
  const found = source.match(TOKEN) ?? []
  const tokens: JsonToken[] = []
  const newLine = (depth: number) => tokens.push({ kind: 'space', text: `\n${'  '.repeat(depth)}` })
  let depth = 0
  found.forEach((text, index) => {
    const next = found[index + 1]
    if (text === '}' || text === ']') {
      depth -= 1
      if (found[index - 1] !== '{' && found[index - 1] !== '[') newLine(depth)
    }
    tokens.push({ kind: kindOf(text, next), text })
    if (text === '{' || text === '[') {
      depth += 1
      if (next !== '}' && next !== ']') newLine(depth)
    } else if (text === ',') newLine(depth)
    else if (text === ':') tokens.push({ kind: 'space', text: ' ' })
  })
  return tokens
}

function kindOf(text: string, next: string | undefined): TokenKind {
  if (text.startsWith('"')) return next === ':' ? 'key' : 'string'
  if (/^[-\d]/.test(text)) return 'number'
  return /^[a-z]/.test(text) ? 'literal' : 'punctuation'
}
