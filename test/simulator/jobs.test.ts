import { describe, expect, it } from 'vitest'
import { inJobs } from './jobs.js'

const seedOf = (index: number) => String(index + 1)

describe('parallel jobs of the simulator', { timeout: 60_000 }, () => {
  it('end when no more seeds are needed', async () => {
    const seeds: string[] = []
    const took = ({ seed }: { seed: string }) => seeds.push(seed) < 3
    await inJobs({ flags: ['--minutes', '1'], jobs: 2, runs: 1000, seedOf, took })
    expect(seeds).toHaveLength(3)
    expect(new Set(seeds).size).toBe(3)
  })

  it('reject when a job ends by itself', async () => {
    const took = () => true
    await expect(inJobs({ flags: ['--minutes', 'x'], jobs: 1, runs: 2, seedOf, took })).rejects.toThrow(
      'a job of the simulator ended with 1',
    )
  })
})
