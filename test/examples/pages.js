// @ts-check
/** Reads the pages of the documentation: blocks of code, tables, headings and links. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Every page that the package ships, relative to the root. @type {readonly string[]} */
export const PAGES = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('.'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
    .sort(),
]

/** @type {Map<string, string>} */
const texts = new Map()

/** The text of a page or any other file, relative to the root. @param {string} path */
export function read(path) {
  const text = texts.get(path) ?? readFileSync(join(ROOT, path), 'utf8')
  texts.set(path, text)
  return text
}

const FENCE = /^```(\w+)\n([\s\S]*?)^```$/gm

/**
 * The fenced blocks of one language.
 *
 * @param {string} page
 * @param {string} language
 * @returns {readonly string[]}
 */
export function blocks(page, language) {
  return [...read(page).matchAll(FENCE)].flatMap(([, tag, text = '']) => (tag === language ? [text] : []))
}

/**
 * The rows of the first table after this text, as cells without the head.
 *
 * @param {string} page
 * @param {string} after
 * @returns {readonly (readonly string[])[]}
 */
export function table(page, after) {
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
export const codes = (cell = '') => [...cell.matchAll(/`([^`]*)`/g)].map(([, text = '']) => text)
/** @param {Iterable<string>} names */
export const sorted = (names) => [...names].sort()

/** The page without its blocks of code. @param {string} page */
export const prose = (page) => read(page).replace(FENCE, '')

/**
 * The anchors of the headings, as GitHub makes them.
 *
 * @param {string} page
 * @returns {ReadonlySet<string>}
 */
export function anchors(page) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  const found = [...prose(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const slug = heading
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

/**
 * The targets of all links.
 *
 * @param {string} page
 * @returns {readonly string[]}
 */
export function links(page) {
  return [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
}

/** Files from which pages quote, by language: the recipes of tests, and the projects. They are compiled whole. */
const QUOTED_FROM = { js: join(ROOT, 'examples/testing'), ts: join(ROOT, 'examples/projects') }
const quotable = Object.fromEntries(
  Object.entries(QUOTED_FROM).map(([language, folder]) => [language, linesOfFiles(folder, `.${language}`)]),
)

/**
 * @param {string} folder
 * @param {string} extension
 */
function linesOfFiles(folder, extension) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(extension) && !/(^|[\\/])(node_modules|dist|\.next)[\\/]/.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
}

/**
 * Whether a block is quoted from a file of `examples`, at any indentation.
 *
 * @param {string} text
 * @param {'js' | 'ts'} language
 */
export function isQuoted(text, language = 'js') {
  return (quotable[language] ?? []).some((lines) => containsLines(lines, text.trimEnd().split('\n')))
}

/**
 * @param {readonly string[]} lines
 * @param {readonly string[]} wanted
 */
function containsLines(lines, wanted) {
  return lines.some((_, start) => {
    const part = lines.slice(start, start + wanted.length)
    const indents = part.filter((line) => line !== '').map((line) => line.length - line.trimStart().length)
    const depth = Math.min(...indents)
    return part.length === wanted.length && part.every((line, index) => line.slice(depth) === wanted[index])
  })
}
