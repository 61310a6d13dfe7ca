import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { findPrograms } from './replication.js'

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))

/** Runs a command line and returns its exit code and output. */
function execute(file: string, flags: readonly string[]): Promise<{ code: number; text: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [file, ...flags], { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, text: stdout + stderr })
    })
  })
}

const crash = (...flags: string[]) => execute(pathOf('./run.js'), flags)

const postgres = await postgresForTests()
afterAll(() => postgres?.end())

describe('a crash run', { timeout: 120_000 }, () => {
  it('loses nothing that SQLite acknowledged', async () => {
    const { code, text } = await crash('--store', 'sqlite', '--cycles', '4')
    expect(text).toContain('Nothing was lost')
    expect(code).toBe(0)
  })

  it.skipIf(!postgres)('loses nothing that PostgreSQL acknowledged', async () => {
    const server = ['--store', 'postgres', '--postgres', String(postgres?.url)]
    const { code, text } = await crash(...server, '--cycles', '3', '--only', 'cycles')
    expect(text).toContain('Nothing was lost')
    expect(code).toBe(0)
  })

  it.skipIf(!postgres)(
    'loses nothing while nodes are paused, and repeats only what starts name',
    async () => {
      const server = ['--store', 'postgres', '--postgres', String(postgres?.url)]
      const { code, text } = await crash(...server, '--only', 'pauses', '--pauses', '2', '--nodes', '2')
      expect(text).toContain('Nothing was lost')
      expect(code).toBe(0)
    },
  )

  it.skipIf(!findPrograms())(
    'loses in a failover only what the standby never got, and counts it',
    async () => {
      const { code, text } = await crash(
        '--store',
        'postgres',
        '--only',
        'failover',
        '--failovers',
        '1',
        '--nodes',
        '2',
      )
      expect(text).toContain('Nothing was lost')
      expect(code).toBe(0)
    },
  )

  it('reports the loss of a store that is not durable', async () => {
    const { code, text } = await crash('--store', 'memory', '--cycles', '2', '--seed', '1')
    expect(text).toMatch(/was acknowledged, should have reached account-\d\/., and never did/)
    expect(text).toContain('A promise was broken')
    expect(code).toBe(1)
  })
})

describe('a replay whose node is killed', { timeout: 120_000 }, () => {
  const drill = (...flags: string[]) => execute(pathOf('./replay-drill.js'), ['--events', '1500', ...flags])

  it('repeats each event once on SQLite, but for what was in flight', async () => {
    const { code, text } = await drill()
    expect(text).toContain('Each event came once')
    expect(code).toBe(0)
  })

  it.skipIf(!postgres)('does the same on PostgreSQL', async () => {
    const { code, text } = await drill('--store', 'postgres', '--postgres', String(postgres?.url))
    expect(text).toContain('Each event came once')
    expect(code).toBe(0)
  })
})
