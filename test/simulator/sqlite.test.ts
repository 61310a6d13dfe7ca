import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { sqliteStore } from '../../adapters/storage/sqlite/index.js'
import { type SimulationOptions, simulate } from '../../src/simulator/index.js'

/** In memory where possible: other tests cover the disk. */
const place = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const folder = mkdtempSync(join(place, 'hookswitch-simulation-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
const OPTIONS: SimulationOptions = {
  minutes: 2,
  callsPerDay: 8000,
  store: () => sqliteStore({ path: join(folder, String(++files)), inThread: true }),
}

describe('on SQLite in the same thread', () => {
  it('every invariant holds, and a seed gives the same run twice', async () => {
    const [first, second] = [await simulate(1, OPTIONS), await simulate(1, OPTIONS)]
    expect(first.violations).toEqual([])
    expect(second.hash).toBe(first.hash)
    expect(first.counts.deliveries).toBeGreaterThan(10)
    const troubled = await simulate(3, { ...OPTIONS, faults: 'all', nodes: 4 })
    expect(troubled.violations).toEqual([])
    // SQLite allows one process per file.
    expect(troubled.counts.nodes).toBe(1)
  })

  it('reports a delivery that is not written', async () => {
    const { violations } = await simulate(1, {
      ...OPTIONS,
      faultInjector: {
        store: (store) => ({
          ...store,
          deliveries: {
            ...store.deliveries,
            commit: (group) =>
              store.deliveries.commit({
                ...group,
                accepted: group.accepted.map((acceptance) => ({
                  ...acceptance,
                  deliveries: acceptance.deliveries.slice(1),
                })),
              }),
          },
        }),
      },
    })
    expect(violations.map(({ invariant }) => invariant)).toContain('I1')
  })
})
