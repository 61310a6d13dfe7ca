import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { rulesOf } from '../testkit/conformance-self-test-harness.js'
import { applyMutant, type Mutant } from './mutant.js'
import { SIMULATION_FAULTS } from './simulation.js'
import { STORE_FAULTS } from './stores/index.js'
import { RACING_MODEL, STORE_MODEL } from './stores/store-fault.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const lists = await Promise.all(
  readdirSync(join(root, 'test/mutants/list')).map(
    async (file) => (await import(/* @vite-ignore */ `./list/${file}`)).mutants as Mutant[],
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

  it('of stores and simulations name checks that exist, and every check has one', () => {
    const groups = [false, true].flatMap((isShared) => rulesOf(isShared).map(({ group }) => group))
    const sources = readdirSync(join(root, 'src/simulator')).filter((file) => file.endsWith('.ts'))
    const invariants = sources.flatMap(
      (file) => readFileSync(join(root, 'src/simulator', file), 'utf8').match(/(?<=')I\d+(?=')/g) ?? [],
    )
    const checks = new Set([...groups, STORE_MODEL, RACING_MODEL, ...invariants])
    const faults = [...STORE_FAULTS, ...SIMULATION_FAULTS]
    const named = faults.flatMap(({ what, caughtBy }) => caughtBy.map((check) => ({ what, check })))
    const wrong = named.filter(({ check }) => !check.split(' or ').every((part) => checks.has(part)))
    expect(wrong).toEqual([])
    expect(new Set(named.map(({ what, check }) => `${what} ${check}`)).size).toBe(named.length)
    const caught = new Set(named.flatMap(({ check }) => check.split(' or ')))
    expect([...checks].filter((check) => !caught.has(check))).toEqual([])
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
