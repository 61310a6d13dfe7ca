import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { crosswise } from './doctors.js'
import type { Doctor } from './gates.js'
import { isCircle } from './rest.js'
import { type Stepped, shown, steppedThrough } from './seeds.js'

const server = await postgresForTests()
afterAll(() => server?.end())

/** The same on each run where nobody watches, as all generated tests are. */
const FIRST = process.env.CI ? 1 : Date.now() % 1_000_000

describe.skipIf(!server)('statement by statement, whatever the order', { timeout: 120_000 }, () => {
  const schema = server?.freshSchema() ?? ''
  const through = (seed: number, doctor?: Doctor) => steppedThrough({ server, schema, seed, doctor })

  it.each([0, 1, 2])('keeps every promise (seed %i from the first)', async (index) => {
    const { findings, counts, story } = await through(FIRST + index)
    expect(findings, `npm run stepper -- --seed ${FIRST + index}\n${story.slice(-20).join('\n')}`).toEqual([])
    expect(counts.get('statements')).toBeGreaterThan(50)
    expect(counts.get('steps with somebody blocked')).toBeGreaterThan(0)
  })

  it('comes in the same order with the same seed, as far as the server has no choice', async () => {
    const [first, second] = [await through(5), await through(5)]
    // Of two that wait for one, either may be next.
    const crowd = first.story.findIndex((line, index) => isWait(line) && isWait(first.story[index + 1]))
    const sure = crowd === -1 ? first.story.length : crowd
    expect(sure).toBeGreaterThan(10)
    expect(second.story.slice(0, sure)).toEqual(first.story.slice(0, sure))
  })

  it('lets a deadlock be tried again: nobody is refused for it', async () => {
    const isOver = ({ findings, counts }: Stepped) => findings.length > 0 || counts.has('40P01')
    const { findings } = await shown(5, isOver, (seed) => through(seed, crosswise))
    expect(findings).toEqual([])
  })
})

const isWait = (line: string | undefined) => line?.includes(' waits for ') ?? false

describe('a circle of those who wait', () => {
  it.each([
    [{ a: ['b'] }, false],
    [{ a: ['b', 'c'], b: ['c'] }, false],
    [{ a: ['b'], b: ['a'] }, true],
    [{ a: ['b'], b: ['c', 'd'], c: ['b'] }, true],
  ])('%j: %s', (waits, expected) => {
    expect(isCircle(new Map(Object.entries(waits) as [string, string[]][]))).toBe(expected)
  })
})

it('the command line refuses what it does not know', async () => {
  const run = fileURLToPath(new URL('./run.js', import.meta.url))
  const text = await new Promise<string>((resolve) => {
    execFile(process.execPath, [run, '--doctor', 'nobody'], (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    )
  })
  expect(text).toContain('--doctor takes one of: lock and promotion in one')
})
