/** Reads the pages of the documentation: blocks of code, tables, headings and links. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Every page that the package ships, relative to the root. */
export const PAGES: readonly string[] = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('.'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
    .sort(),
]

const texts = new Map<string, string>()

/** The text of a page or any other file, relative to the root. */
export function read(path: string): string {
  const text = texts.get(path) ?? readFileSync(join(ROOT, path), 'utf8')
  texts.set(path, text)
  return text
}

const FENCE = /^```(\w+)\n([\s\S]*?)^```$/gm

/** The fenced blocks of one language. */
export function blocks(page: string, language: string): readonly string[] {
  return [...read(page).matchAll(FENCE)].flatMap(([, tag, text]) => (tag === language ? [text!] : []))
}

/** The rows of the first table after this text, as cells without the head. */
export function table(page: string, after: string): readonly (readonly string[])[] {
  const text = read(page)
  const start = text.indexOf(after)
  if (start < 0) throw new Error(`${page} has no '${after.trim()}'`)
  const lines = text.slice(start).split('\n')
  const first = lines.findIndex((line) => line.startsWith('|'))
  const rows = lines.slice(first + 2)
  const end = rows.findIndex((line) => !line.startsWith('|'))
  return rows.slice(0, end).map((line) =>
    line
      .slice(2, -2)
      .split(/(?<!\\) \| ?|(?<!\\)\| /)
      .map((cell) => cell.trim()),
  )
}

/** A cell that is code and nothing else. */
export const code = (cell = '') => /^`([^`]*)`$/.exec(cell)?.[1]
/** Everything in a cell that is marked as code. */
export const codes = (cell = '') => [...cell.matchAll(/`([^`]*)`/g)].map(([, text]) => text!)
export const sorted = (names: Iterable<string>) => [...names].sort()

/** The page without its blocks of code. */
export const prose = (page: string) => read(page).replace(FENCE, '')

/** The anchors of the headings, as GitHub makes them. */
export function anchors(page: string): ReadonlySet<string> {
  const counts = new Map<string, number>()
  const found = [...prose(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => {
    const slug = heading!
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  })
  return new Set(found)
}

/** The targets of all links. */
export function links(page: string): readonly string[] {
  return [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!)
}

const EXAMPLES = join(ROOT, 'examples/testing')
const examples = readdirSync(EXAMPLES)
  .filter((name) => name.endsWith('.js'))
  .map((name) => readFileSync(join(EXAMPLES, name), 'utf8').split('\n'))

/** Whether a block is quoted from a file of examples/testing, at any indentation. */
export function isQuoted(text: string): boolean {
  return examples.filter((lines) => containsLines(lines, text.trimEnd().split('\n'))).length === 1
}

function containsLines(lines: readonly string[], wanted: readonly string[]): boolean {
  return lines.some((_, start) => {
    const part = lines.slice(start, start + wanted.length)
    const indents = part.filter((line) => line !== '').map((line) => line.length - line.trimStart().length)
    const depth = Math.min(...indents)
    return part.length === wanted.length && part.every((line, index) => line.slice(depth) === wanted[index])
  })
}
