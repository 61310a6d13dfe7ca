import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readSettings } from '../../adapters/cli/read-settings.js'
import { hasProgram, ROOT, read, run } from './files.js'

const UNIT = 'systemd/hookswitch.service'
const hasAnalyze = hasProgram('systemd-analyze')

const settings = (name: string) =>
  [...read(UNIT).matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value!)

describe('the systemd unit', () => {
  it('starts the installed program with flags that exist', async () => {
    const [start] = settings('ExecStart')
    const [node, memoryFlag, bin, command, ...flags] = start!.split(' ')
    expect([node, memoryFlag, bin, command]).toEqual([
      '/usr/bin/node',
      '--optimize-for-size',
      '/opt/hookswitch/node_modules/hookswitch/dist/bin.js',
      'serve',
    ])
    expect(settings('WorkingDirectory')).toEqual([bin!.replace('/node_modules/hookswitch/dist/bin.js', '')])
    expect((await readSettings(flags, {})).values).toMatchObject({
      data: '/var/lib/hookswitch/hookswitch.db',
      adminPort: 9000,
    })
    expect(settings('StateDirectory')).toEqual(['hookswitch'])
  })

  it.skipIf(!hasAnalyze)('is a valid unit', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'unit-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const installed = read(UNIT)
      .replace('/usr/bin/node', process.execPath)
      .replace('/opt/hookswitch/node_modules/hookswitch', ROOT.replace(/\/$/, ''))
    expect(installed).not.toContain('/opt/hookswitch/node_modules')
    const path = join(folder, 'hookswitch.service')
    await writeFile(path, installed)
    expect(existsSync(process.execPath)).toBe(true)
    // Unknown settings, wrong values and missing programs are written to stderr, and some of them exit with 0.
    expect(
      run('sh', ['-c', `systemd-analyze verify --man=no "${path}" 2>&1 | grep hookswitch.service || true`]),
    ).toBe('')
  })

  it.skipIf(!hasAnalyze)('keeps the service from what it does not need', () => {
    // An exposure of 2.0 of 10: most units of a distribution are above 9.
    const report = run('systemd-analyze', ['security', '--offline=yes', '--threshold=20', UNIT])
    expect(report).toMatch(/Overall exposure level for hookswitch\.service: [01]\.\d/)
  })
})
