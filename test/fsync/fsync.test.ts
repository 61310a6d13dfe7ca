import { execFile, execFileSync } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { judge } from './trace.js'

const ALONE = 20
const ALL = 70

/** Whether processes can be traced here; where not it is said. `REQUIRE_STRACE=1` fails instead. */
function canTrace(): boolean {
  try {
    execFileSync('strace', ['-f', '--seccomp-bpf', '-e', 'trace=fsync', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    const sentence = 'strace is not installed, or may not trace here: whether flushes come first was SKIPPED'
    if (process.env.REQUIRE_STRACE === '1') throw new Error(sentence)
    process.stderr.write(`\n*** ${sentence} ***\n`)
    return false
  }
}

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** The package as built, with another PRAGMA in it, where its dependencies are found. */
async function doctored(mode: string): Promise<string> {
  const folder = await mkdtemp(path('../../node_modules/.fsync-'))
  await cp(path('../../dist'), join(folder, 'dist'), { recursive: true })
  await cp(path('../../package.json'), join(folder, 'package.json'))
  await cp(path('writer.js'), join(folder, 'writer.js'))
  let replaced = 0
  for (const name of await readdir(join(folder, 'dist'))) {
    const text = await readFile(join(folder, 'dist', name), 'utf8')
    if (!text.includes('PRAGMA synchronous = FULL')) continue
    replaced += 1
    await writeFile(
      join(folder, 'dist', name),
      text.replaceAll('synchronous = FULL', `synchronous = ${mode}`),
    )
  }
  expect(replaced).toBeGreaterThan(0)
  return folder
}

/** Runs the writer on a new file, traced. */
async function traced(from = path('.')) {
  const folder = await mkdtemp(join(tmpdir(), 'hookswitch-fsync-'))
  const trace = join(folder, 'trace.txt')
  const calls = 'trace=fsync,fdatasync,write,pwrite64'
  const writer = [process.execPath, join(from, 'writer.js'), join(folder, 'x.db')]
  try {
    const strace = ['-f', '--seccomp-bpf', '-y', '-s', '70000', '-e', calls, '-o', trace, ...writer]
    await promisify(execFile)('strace', strace)
    return judge(await readFile(trace, 'latin1'))
  } finally {
    await rm(folder, { recursive: true })
  }
}

describe.skipIf(!canTrace())('what is acknowledged on an SQLite file', { timeout: 60_000 }, () => {
  it('was flushed to the disk before, each group by a flush of its own', async () => {
    const { acknowledged, flushes, uncovered } = await traced()
    expect(acknowledged).toBe(ALL)
    expect(uncovered).toEqual([])
    expect(flushes).toBeGreaterThanOrEqual(ALONE)
  })

  it.each(['OFF', 'NORMAL'] as const)(
    'is found to be on no disk with PRAGMA synchronous = %s',
    async (mode) => {
      const folder = await doctored(mode)
      onTestFinished(() => rm(folder, { recursive: true }))
      const { acknowledged, flushes, uncovered } = await traced(folder)
      expect(acknowledged).toBe(ALL)
      expect(uncovered.length).toBeGreaterThan(ALL / 2)
      expect(flushes).toBeLessThan(ALONE)
    },
  )
})

describe('a trace', () => {
  const write = '7 pwrite64(20</data/x.db-wal>, "..marked-1-..", 4096, 32) = 4096'
  const flush = '7 fdatasync(20</data/x.db-wal>) = 0'
  const acknowledgement = '6 write(1<pipe:[1]>, "acknowledged marked-1-\\n", 23) = 23'

  it.each([
    ['write, flush, word', [write, flush, acknowledgement], []],
    [
      'a flush that another thread interrupts',
      [
        write,
        '7 fdatasync(20</data/x.db-wal> <unfinished ...>',
        '6 write(1<pipe:[1]>, "something", 9) = 9',
        '7 <... fdatasync resumed>)          = 0',
        acknowledgement,
      ],
      [],
    ],
    ['no flush', [write, acknowledgement], ['marked-1-']],
    ['a flush before', [flush, write, acknowledgement], ['marked-1-']],
    ['a flush afterwards', [write, acknowledgement, flush], ['marked-1-']],
    ['a flush of another file', [write, flush.replace('-wal', ''), acknowledgement], ['marked-1-']],
    ['a flush that failed', [write, flush.replace('= 0', '= -1 EIO'), acknowledgement], ['marked-1-']],
    ['nothing written', [flush, acknowledgement], ['marked-1-']],
    [
      'a flush that has not ended',
      [
        write,
        '7 fdatasync(20</data/x.db-wal> <unfinished ...>',
        acknowledgement,
        '7 <... fdatasync resumed>)          = 0',
      ],
      ['marked-1-'],
    ],
    [
      'a flush that had begun before',
      [
        '8 fdatasync(20</data/x.db-wal> <unfinished ...>',
        write,
        '8 <... fdatasync resumed>)          = 0',
        acknowledgement,
      ],
      ['marked-1-'],
    ],
  ])('with %s', (_name, lines, uncovered) => {
    expect(judge(lines.join('\n'))).toMatchObject({ acknowledged: 1, uncovered })
  })
})
