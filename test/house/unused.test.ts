import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { code, ROOT, read, sourceFiles } from './sources.js'

/** Files that export for hosts and for programs, and what others keep a list of. */
const ENTRIES = new Set(
  [...readFileSync(join(ROOT, 'tsup.config.ts'), 'utf8').matchAll(/'((?:src|adapters)\/[^']+\.ts)'/g)].map(
    ([, path]) => path!,
  ),
)
/** Take the place of modules of the client in the build of the page (adapters/portal/app/vite.config.ts). */
const REPLACEMENTS = new Set([
  'adapters/portal/app/api/credentials.ts',
  'adapters/portal/app/api/operations.ts',
])

const DECLARED =
  /^((?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?)export (?:declare )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm
const NAMED = /(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'(\.[^']+)'/g
const WHOLE = /(?:\*(?: as \w+)?\s+from\s+|import\(\s*)'(\.[^']+)'/g

/** The names that a file takes from other files of the project, as `path#name`, or `path#*`. */
function takenBy(path: string): readonly string[] {
  const text = code(path)
  const source = (relative: string) => normalize(join(dirname(path), relative)).replace(/\.js$/, '')
  const named = [...text.matchAll(NAMED)].flatMap(([, names, from]) =>
    names!.split(',').map(
      (part) =>
        `${source(from!)}#${
          part
            .trim()
            .replace(/^type /, '')
            .split(' as ')[0]
        }`,
    ),
  )
  return [...named, ...[...text.matchAll(WHOLE)].map(([, from]) => `${source(from!)}#*`)]
}

describe('exported names', () => {
  it('are used by another file of the product, or marked as internal: tests alone use them', () => {
    const product = sourceFiles('src', 'adapters')
    const used = new Set([...product, 'tsup.config.ts'].flatMap(takenBy))
    const inTests = new Set(sourceFiles('test', 'examples').flatMap(takenBy))
    const wrong = product
      .filter((path) => !ENTRIES.has(path) && !REPLACEMENTS.has(path))
      .flatMap((path) => {
        const module = path.replace(/\.tsx?$/, '')
        const isUsed = (by: ReadonlySet<string>, name: string) =>
          by.has(`${module}#${name}`) || by.has(`${module}#*`)
        return [...read(path).matchAll(DECLARED)].flatMap(([, comment = '', name = '']) => {
          // Types of what a function returns, which declarations must be able to name.
          if (comment.includes('declarations name it')) return []
          const isInternal = comment.includes('@internal')
          if (isUsed(used, name))
            return isInternal ? [`${path}: ${name} is used, but marked as internal`] : []
          if (!isUsed(inTests, name)) return [`${path}: nobody uses ${name}`]
          return isInternal ? [] : [`${path}: only tests use ${name}, which is not marked as internal`]
        })
      })
    expect(wrong).toEqual([])
  })
})
