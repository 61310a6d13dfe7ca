import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Returns the hand-written source files below these folders, relative to the root, sorted. */
export function sourceFiles(...folders: readonly string[]): readonly string[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(folder, name),
      ),
    )
    .filter((path) => /\.(tsx?|js)$/.test(path) && !/\.generated\.|\.d\.ts$/.test(path))
    .sort()
}

export function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** Returns the text without comments, but with strings. */
export function code(path: string): string {
  return read(path)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|[^:'"`])\/\/.*$/gm, '$1')
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(?:type\s+)?(?:[^'"`;]*?\sfrom\s+)?['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/g

/** The source that an import of a built file means. */
function sourceOf(path: string): string {
  const candidates = ['.ts', '.tsx'].map((extension) => path.replace(/\.js$/, extension))
  return candidates.find((source) => existsSync(join(ROOT, source))) ?? path
}

/** Returns the imports of a file, including types: own files as paths relative to the root, packages by name. */
export function importsOf(path: string): readonly string[] {
  const found = [...code(path).matchAll(IMPORT)].map((match) => (match[1] ?? match[2])!)
  return found.map((name) => (name.startsWith('.') ? sourceOf(normalize(join(dirname(path), name))) : name))
}
