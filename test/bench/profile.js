/** Prints CPU profiles (files and functions by self time) and the slowest statements of a database server. */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PROFILES } from './processes.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TOP_FILES = 25
const TOP_FUNCTIONS = 45

const texts = new Map()

/** The source file of a line of the built package: esbuild writes its path above each module. */
function sourceOf(url, line) {
  if (url === '') return '(native)'
  if (!url.startsWith('file:')) return url
  const path = fileURLToPath(url)
  const name = relative(ROOT, path)
  if (!name.startsWith('dist')) return name
  if (!texts.has(path)) texts.set(path, readFileSync(path, 'utf8').split('\n'))
  const lines = texts.get(path)
  for (let at = line; at >= 0; at -= 1) {
    const match = /^\/\/ ((?:src|adapters|node_modules)\/\S+)$/.exec(lines[at] ?? '')
    if (match) return match[1]
  }
  return name
}

function add(map, key, micros) {
  map.set(key, (map.get(key) ?? 0) + micros)
}

/** Microseconds of self time by file and by function, without idle time. */
function summarizeProfile({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node.callFrame]))
  const files = new Map()
  const functions = new Map()
  let total = 0
  for (const [index, id] of samples.entries()) {
    const { functionName, url, lineNumber } = byId.get(id)
    const micros = timeDeltas[index]
    if (functionName === '(idle)' || functionName === '(program)') continue
    const special = url === '' && functionName.startsWith('(') ? functionName : undefined
    const file = special ?? sourceOf(url, lineNumber)
    total += micros
    add(files, file, micros)
    add(functions, `${functionName || '(anonymous)'}  ${file}:${lineNumber + 1}`, micros)
  }
  return { total, files, functions }
}

function print(title, map, total, count) {
  console.log(`\n${title}`)
  const top = [...map].sort((a, b) => b[1] - a[1]).slice(0, count)
  for (const [name, micros] of top)
    console.log(`${((micros * 100) / total).toFixed(1).padStart(6)} %  ${name}`)
}

/** Deletes the profiles of earlier runs. */
export function clearProfiles() {
  rmSync(PROFILES, { recursive: true, force: true })
}

/** Prints every profile of this run. */
export function printProfiles() {
  for (const file of readdirSync(PROFILES).filter((name) => name.endsWith('.cpuprofile'))) {
    const { total, files, functions } = summarizeProfile(
      JSON.parse(readFileSync(join(PROFILES, file), 'utf8')),
    )
    print(`${file}: self time by file`, files, total, TOP_FILES)
    print(`${file}: self time by function`, functions, total, TOP_FUNCTIONS)
  }
  console.log(`\nProfiles: ${relative(process.cwd(), PROFILES)}`)
}

/** Prints the statements that took the database server longest. */
export function printStatements(name, statements) {
  console.log(`\n${name}: time in statements of the server`)
  for (const { text, calls, ms, rows, walBytes } of statements) {
    const perCall = `${((ms * 1000) / calls).toFixed(0)} µs`
    const numbers = [
      `${ms.toFixed(0)} ms`,
      `${calls} ×`,
      perCall,
      `${rows} rows`,
      `${(walBytes / 1e6).toFixed(1)} MB`,
    ]
    console.log(
      `${numbers.map((text) => text.padStart(12)).join('')}  ${text.replaceAll(/\s+/g, ' ').slice(0, 100)}`,
    )
  }
}
