import { afterAll, describe, expect, it } from 'vitest'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { DOCTORS } from './doctors.js'
import type { Doctor } from './gates.js'
import { type Stepped, shown, steppedThrough } from './seeds.js'

const server = await postgresForTests()
afterAll(() => server?.end())

describe.skipIf(!server)('the stepper', { timeout: 120_000 }, () => {
  const schema = server?.freshSchema() ?? ''
  const through = (seed: number, doctor?: Doctor, isSmall = false) =>
    steppedThrough({ server, schema, seed, doctor, isSmall })

  // Two statements they must be: one that waits for a lane's lock does not see what the acceptance that held it has
  // written.
  it('finds the lane that stands still for ever where one statement locks it and promotes its next', async () => {
    const isLost = ({ findings }: Stepped) =>
      findings.some((finding) => finding.includes('a lane with work and no head'))
    const merged = DOCTORS['lock and promotion in one']!
    const { story } = await shown(1, isLost, (seed) => through(seed, merged, true))
    expect(story.some((line) => /settle waits for n\d accept/.test(line))).toBe(true)
    const { findings } = await through(1, undefined, true)
    expect(findings).toEqual([])
  })

  it.each([
    ['a lane that is not locked', 2],
    ['an epoch that nobody holds while something is accepted', 25],
    ['what waits for an ended epoch unmarked before it is held', 20],
  ])('finds %s', async (name, known) => {
    const isFound = ({ findings }: Stepped) => findings.length > 0
    await shown(known, isFound, (seed) => through(seed, DOCTORS[name]))
  })
})
