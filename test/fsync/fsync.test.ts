import { execFile, execFileSync } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { analyzeTrace } from './trace.js'

const SINGLE = 20
const TOTAL = 70

/** Whether processes can be traced here. If not, prints a notice; with `REQUIRE_STRACE=1` throws. */
function canTrace(): boolean {
  try {
    execFileSync('strace', ['-f', '--seccomp-bpf', '-e', 'trace=fsync', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    const sentence = 'strace is not installed or may not trace here: the check of disk flushes was SKIPPED'
    if (process.env.REQUIRE_STRACE === '1') throw new Error(sentence)
    process.stderr.write(`\n*** ${sentence} ***\n`)
    return false
  }
}

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Copies the built package with another `PRAGMA synchronous`, to a folder where its dependencies are found. */
async function copyWithSynchronous(mode: string): Promise<string> {
  const folder = await mkdtemp(path('../../node_modules/.fsync-'))
  await cp(path('../../dist'), join(folder, 'dist'), { recursive: true })
  await cp(path('../../package.json'), join(folder, 'package.json'))
  await cp(path('writer.js'), join(folder, 'writer.js'))
  let replaced = 0
  for (const name of (await readdir(join(folder, 'dist'))).filter((file) => /\.c?js$/.test(file))) {
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

/** Runs the writer on a new file and analyzes its trace. */
async function traceWriter(from = path('.')) {
  const folder = await mkdtemp(join(tmpdir(), 'hookswitch-fsync-'))
  const trace = join(folder, 'trace.txt')
  const calls = 'trace=fsync,fdatasync,write,pwrite64'
  const writer = [process.execPath, join(from, 'writer.js'), join(folder, 'x.db')]
  try {
    const strace = ['-f', '--seccomp-bpf', '-y', '-s', '70000', '-e', calls, '-o', trace, ...writer]
    await promisify(execFile)('strace', strace)
    return analyzeTrace(await readFile(trace, 'latin1'))
  } finally {
    await rm(folder, { recursive: true })
  }
}

describe.skipIf(!canTrace())('an acknowledged event in an SQLite file', { timeout: 60_000 }, () => {
  it('was flushed to the disk before its acknowledgement, with one flush per group', async () => {
    const { acknowledged, flushes, uncovered } = await traceWriter()
    expect(acknowledged).toBe(TOTAL)
    expect(uncovered).toEqual([])
    expect(flushes).toBeGreaterThanOrEqual(SINGLE)
  })

  it.each(['OFF', 'NORMAL'] as const)(
    'is detected as not flushed with PRAGMA synchronous = %s',
    async (mode) => {
      const folder = await copyWithSynchronous(mode)
      onTestFinished(() => rm(folder, { recursive: true }))
      const { acknowledged, flushes, uncovered } = await traceWriter(folder)
      expect(acknowledged).toBe(TOTAL)
      expect(uncovered.length).toBeGreaterThan(TOTAL / 2)
      expect(flushes).toBeLessThan(SINGLE)
    },
  )
})

describe('analyzeTrace', () => {
  const write = '7 pwrite64(20</data/x.db-wal>, "..marked-1-..", 4096, 32) = 4096'
  const flush = '7 fdatasync(20</data/x.db-wal>) = 0'
  const acknowledgement = '6 write(1<pipe:[1]>, "acknowledged marked-1-\\n", 23) = 23'

  it.each([
    ['a write, a flush and an acknowledgement', [write, flush, acknowledgement], []],
    [
      'a flush interrupted by another thread',
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
    ['a flush before the write', [flush, write, acknowledgement], ['marked-1-']],
    ['a flush after the acknowledgement', [write, acknowledgement, flush], ['marked-1-']],
    ['a flush of another file', [write, flush.replace('-wal', ''), acknowledgement], ['marked-1-']],
    ['a flush that failed', [write, flush.replace('= 0', '= -1 EIO'), acknowledgement], ['marked-1-']],
    ['no write', [flush, acknowledgement], ['marked-1-']],
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
      'a flush that had begun before the write',
      [
        '8 fdatasync(20</data/x.db-wal> <unfinished ...>',
        write,
        '8 <... fdatasync resumed>)          = 0',
        acknowledgement,
      ],
      ['marked-1-'],
    ],
  ])('finds the uncovered marks of a trace with %s', (_name, lines, uncovered) => {
    expect(analyzeTrace(lines.join('\n'))).toMatchObject({ acknowledged: 1, uncovered })
  })
})
