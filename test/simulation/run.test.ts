import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { simulate } from '../../src/testkit/world/index.js'

const SCRIPT = fileURLToPath(new URL('run.js', import.meta.url))

/** Runs the command line in a process of its own, under another time zone and locale. */
const run = (...flags: readonly string[]) =>
  promisify(execFile)(process.execPath, [SCRIPT, ...flags], {
    env: { ...process.env, TZ: 'Pacific/Apia', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' },
  })

describe('the command line', { timeout: 60_000 }, () => {
  it('gives the same run as here, in another process, time zone and locale', async () => {
    const { stdout } = await run('--seed', '7', '--minutes', '5', '--nodes', '3', '--faults', 'all')
    const { hash } = await simulate(7, { minutes: 5, nodes: 3, faults: 'all' })
    expect(stdout).toContain(`trace ${hash}`)
    expect(stdout).toContain('Every invariant held.')
  })

  it('refuses what it does not know', async () => {
    const refused = (...flags: readonly string[]) => run(...flags).catch(({ stderr }) => stderr)
    expect(await refused('--faults', 'crash,flood')).toMatch(
      /^--faults takes all, none, drawn, or some of: crash, /,
    )
    expect(await refused('--minutes', 'x')).toBe('--minutes takes a number above 0\n')
  })
})
