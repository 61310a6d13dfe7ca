import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { applyMutant, type Mutant } from './mutant.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const lists = await Promise.all(
  readdirSync(join(root, 'test/mutants/list')).map(
    async (file) => (await import(`./list/${file}`)).mutants as Mutant[],
  ),
)
const mutants = lists.flat()

describe('the seeded faults', () => {
  it('are more than 160 distinct faults', () => {
    expect(mutants.length).toBeGreaterThan(160)
    expect(new Set(mutants.map(({ file, find, replace }) => `${file} ${find} ${replace}`)).size).toBe(
      mutants.length,
    )
  })

  it('match the sources exactly once and name existing tests', () => {
    const wrong = mutants.flatMap(({ what, file, find, replace, tests }) => {
      const times = readFileSync(join(root, file), 'utf8').split(find).length - 1
      const missing = tests.filter((test) => !existsSync(join(root, test)))
      const isValid = times === 1 && find !== replace && missing.length === 0 && tests.length > 0
      return isValid ? [] : [{ what, file, times, missing }]
    })
    expect(wrong).toEqual([])
  })

  it('are applied and reverted, and refused where the text occurs twice', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hookswitch-mutant-'))
    try {
      const mutant = { what: '', file: 'src/a.ts', find: 'one', replace: 'two', tests: [] }
      const path = join(folder, mutant.file)
      await mkdir(dirname(path))
      await writeFile(path, 'let a = one')
      const revert = applyMutant(folder, mutant)
      expect(readFileSync(path, 'utf8')).toBe('let a = two')
      revert()
      expect(readFileSync(path, 'utf8')).toBe('let a = one')
      await writeFile(path, 'one one')
      expect(() => applyMutant(folder, mutant)).toThrow('src/a.ts contains 2 times')
      expect(readFileSync(path, 'utf8')).toBe('one one')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
