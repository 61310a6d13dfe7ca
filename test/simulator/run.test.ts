import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { formatReplayCommand, simulate } from '../../src/simulator/index.js'

const SCRIPT = fileURLToPath(new URL('run.js', import.meta.url))

/** Runs the command line in a separate process with another time zone and locale. */
const run = (...flags: readonly string[]) =>
  promisify(execFile)(process.execPath, [SCRIPT, ...flags], {
    env: { ...process.env, TZ: 'Pacific/Apia', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' },
  })

describe('npm run sim', { timeout: 60_000 }, () => {
  it('gives the same run in another process, time zone and locale', async () => {
    const { stdout } = await run('--seed', '7', '--minutes', '5', '--nodes', '3', '--faults', 'all')
    const { hash } = await simulate(7, { minutes: 5, nodes: 3, faults: 'all' })
    expect(stdout).toContain(`trace ${hash}`)
    expect(stdout).toContain('Every invariant held.')
  })

  it('gives the same results in several processes as in one', async () => {
    const results = await Promise.all(
      ['1', '2'].map(async (jobs) => {
        const { stdout } = await run('--seed', '3', '--runs', '4', '--minutes', '2', '--jobs', jobs)
        return stdout.replace(/ in [\d.]+ s \([\d.]+ a minute\)/, '')
      }),
    )
    expect(results[0]).toMatch(/^4 runs from seed 3, 0\.\d+ node-years, trace \w+ of seed 6$/m)
    expect(results[1]).toBe(results[0])
  })

  it('crashes a node at the operation given by --crash-at', async () => {
    const crashes = new Map([[40, 'after' as const]])
    const { hash } = await simulate(7, { minutes: 2, nodes: 1, faults: 'none', crashes })
    const line = formatReplayCommand('7', { minutes: 2, nodes: 1, faults: 'none', leaseSeconds: 30, crashes })
    expect(line).toBe(
      'npm run sim -- --seed 7 --minutes 2 --nodes 1 --faults none --lease-seconds 30 --crash-at 40-after',
    )
    const { stdout } = await run(...line.split(' ').slice(4))
    expect(stdout).toContain(`trace ${hash}`)
    expect(hash).not.toBe((await simulate(7, { minutes: 2, nodes: 1, faults: 'none' })).hash)
  })

  it('rejects unknown and invalid flags', async () => {
    const rejected = (...flags: readonly string[]) => run(...flags).catch(({ stderr }) => stderr)
    expect(await rejected('--faults', 'crash,flood')).toMatch(
      /^--faults takes all, none, drawn, or some of: crash, /,
    )
    expect(await rejected('--jobs', '1.5')).toBe('--jobs takes a whole number, at least 1\n')
    expect(await rejected('--crash-at', '12')).toBe(
      '--crash-at takes store operations by number, such as 12-before,40-after\n',
    )
    expect(await rejected('--minutes', 'x')).toBe('--minutes takes a number above 0\n')
  })
})
