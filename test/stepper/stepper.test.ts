import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { lockedCrosswise } from './fault-injectors.js'
import type { FaultInjector } from './gates.js'
import { hasCycle } from './quiescence.js'
import { findSeed, runSeed, type Stepped } from './seeds.js'

const server = await postgresForTests()
afterAll(() => server?.end())

/** Fixed in CI, as for all generated tests. */
const FIRST = process.env.CI ? 1 : Date.now() % 1_000_000

describe.skipIf(!server)('the PostgreSQL store, statement by statement', { timeout: 120_000 }, () => {
  const schema = server?.freshSchema() ?? ''
  const run = (seed: number, faultInjector?: FaultInjector) =>
    runSeed({ server, schema, seed, faultInjector })

  it.each([0, 1, 2])(
    'keeps every invariant in any order of statements (seed %i from the first)',
    async (index) => {
      const { violations, counts, trace } = await run(FIRST + index)
      expect(
        violations,
        `npm run stepper -- --seed ${FIRST + index}\n${trace.slice(-20).join('\n')}`,
      ).toEqual([])
      expect(counts.get('statements')).toBeGreaterThan(50)
    },
  )

  it('reaches states in which one actor blocks another', async () => {
    // In some orders no two actors want the same row at the same time.
    const isOver = ({ violations, counts }: Stepped) =>
      violations.length > 0 || counts.has('steps with a blocked actor')
    const { violations } = await findSeed(FIRST, isOver, run)
    expect(violations).toEqual([])
  })

  it('runs in the same order with the same seed, as far as the server has no choice', async () => {
    const [first, second] = [await run(5), await run(5)]
    // Where two statements wait for one lock, either may be next.
    const choice = first.trace.findIndex((line, index) => isWait(line) && isWait(first.trace[index + 1]))
    const comparable = choice === -1 ? first.trace.length : choice
    expect(comparable).toBeGreaterThan(10)
    expect(second.trace.slice(0, comparable)).toEqual(first.trace.slice(0, comparable))
  })

  it('retries after a deadlock', async () => {
    const isOver = ({ violations, counts }: Stepped) => violations.length > 0 || counts.has('40P01')
    const { violations } = await findSeed(1, isOver, (seed) => run(seed, lockedCrosswise))
    expect(violations).toEqual([])
  })
})

const isWait = (line: string | undefined) => line?.includes(' waits for ') ?? false

describe('hasCycle', () => {
  it.each([
    [{ a: ['b'] }, false],
    [{ a: ['b', 'c'], b: ['c'] }, false],
    [{ a: ['b'], b: ['a'] }, true],
    [{ a: ['b'], b: ['c', 'd'], c: ['b'] }, true],
  ])('%j: %s', (waits, expected) => {
    expect(hasCycle(new Map(Object.entries(waits) as [string, string[]][]))).toBe(expected)
  })
})

it('npm run stepper rejects an unknown fault', async () => {
  const script = fileURLToPath(new URL('./run.js', import.meta.url))
  const text = await new Promise<string>((resolve) => {
    execFile(process.execPath, [script, '--fault', 'unknown'], (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    )
  })
  expect(text).toContain('--fault takes one of: an edit that raises no')
})
