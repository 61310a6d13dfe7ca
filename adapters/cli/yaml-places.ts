/** Parses YAML 1.2 and finds where each key and value begins. The only file that loads the YAML parser. */
import { isAlias, isMap, isSeq, LineCounter, type Node, type Pair, parseDocument, visit } from 'yaml'
import { FormatError, type ParsedText, type Place } from './json-places.js'

/** @throws FormatError with the place of the problem; its text quotes nothing of the document */
export function parseYaml(text: string): ParsedText {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true })
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) {
    throw new FormatError(problem.code.toLowerCase().replaceAll('_', ' '), placeAt(problem.pos[0]))
  }
  visit(document, {
    Alias(_, alias, ancestors) {
      const place = placeAt(alias.range?.[0] ?? 0)
      const target = alias.resolve(document)
      if (!target) throw new FormatError('an alias names no anchor', place)
      if (ancestors.includes(target)) throw new FormatError('an alias stands inside its own anchor', place)
    },
  })
  let value: unknown
  try {
    // A file of comments only has no settings.
    value = document.toJS() ?? {}
  } catch {
    // The parser limits how often aliases may repeat values.
    throw new FormatError('its aliases repeat too much', { line: 1, column: 1 })
  }
  return {
    value,
    placeOf(path, isKey = false) {
      let node = document.contents as Node | null
      let offset = node?.range?.[0] ?? 0
      for (const [depth, name] of path.entries()) {
        const inside = isAlias(node) ? node.resolve(document) : node
        let next: Node | null | undefined
        if (isMap(inside)) {
          const pair = inside.items.find(({ key }) => String(key) === String(name)) as
            | Pair<Node, Node | null>
            | undefined
          if (!pair) break
          next = pair.value
          // An empty value has no position; the position of its key is used instead.
          const at = isKey && depth === path.length - 1 ? pair.key : (pair.value ?? pair.key)
          offset = at.range?.[0] ?? offset
        } else if (isSeq(inside)) {
          next = inside.items[Number(name)] as Node | undefined
          offset = next?.range?.[0] ?? offset
        } else break
        node = next ?? null
      }
      return placeAt(offset)
    },
  }
}
