import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { contentsOf, runScript, startScript, temporaryFolder } from './sqlite-harness.js'

const temporaryFile = () => join(temporaryFolder(), 'x.db')
const quoted = JSON.stringify
/** A script that opens a store and prints the error if that fails. */
const openOrPrintError = (path: string) => `
  await open({ path: ${quoted(path)} }).then(
    (store) => store.close(),
    (error) => print(error.code + ' ' + error.field + ': ' + error.message))
`

describe('a process', () => {
  it('excludes others while it runs, but not after it was killed', async () => {
    const path = temporaryFile()
    const first = startScript(`
      const store = await open({ path: ${quoted(path)} })
      await store.tokens.issue(token('written'))
      await print('open')
      setInterval(() => {}, 1000)
    `)
    expect(await first.nextLine()).toBe('open')
    const other = `
      await open({ path: ${quoted(path)} }).then(
        async (store) => print(JSON.stringify(await store.tokens.read('written'))).then(() => store.close()),
        (error) => print(error.code + ': ' + error.message))
    `
    const refused = await runScript(other)
    expect(refused.stdout).toBe(
      `StoreUnavailable: ${path} is in use by another process, or by another store in this process: only one store can use a file at a time\n`,
    )
    const ended = new Promise((resolve) => first.child.once('exit', resolve))
    first.child.kill('SIGKILL')
    await ended
    expect(JSON.parse((await runScript(other)).stdout)).toMatchObject({ hash: 'written' })
  })

  it('gets the file if it is one of three that start at once', async () => {
    const path = temporaryFile()
    const code = `
      await open({ path: ${quoted(path)} }).then(
        async (store) => { await print('in'); await new Promise((r) => process.stdin.once('data', r)); await store.close(); process.exit() },
        (error) => print(error.code))
    `
    const children = [startScript(code), startScript(code), startScript(code)]
    const lines = await Promise.all(children.map((child) => child.nextLine()))
    expect(lines.toSorted()).toEqual(['StoreUnavailable', 'StoreUnavailable', 'in'])
    // The refused ones have ended.
    for (const { child } of children) child.stdin?.on('error', () => {}).end('end\n')
  })

  it.each<[string, string]>([
    ['closed its store', 'await store.close()'],
    ['no longer uses its store', ''],
    ['was refused', 'await open({ path: "/no/such/folder/x" }).catch(() => {}); await store.close()'],
  ])('that %s ends by itself without further output', async (_, end) => {
    const path = temporaryFile()
    const { code, stdout, stderr } = await runScript(`
      const store = await open({ path: ${quoted(path)} })
      await store.tokens.issue(token('a'))
      await print((await store.tokens.read('a')).hash)
      ${end}
    `)
    expect([code, stdout, stderr]).toEqual([0, 'a\n', ''])
  })

  it('does not end before its requests are answered', async () => {
    const path = temporaryFile()
    const { code, stdout } = await runScript(`
      const store = await open({ path: ${quoted(path)} })
      void Promise.all([store.tokens.issue(token('a')), store.secret()]).then(() => print('written'))
    `)
    expect([code, stdout]).toEqual([0, 'written\n'])
  })

  it('does not end before its store is closed, also if requests are answered while it closes', async () => {
    const path = temporaryFile()
    const { code, stdout } = await runScript(`
      const store = await open({ path: ${quoted(path)} })
      for (let index = 0; index < 500; index += 1) void store.tokens.issue(token('t' + index))
      void store.close().then(() => print('closed'))
    `)
    expect([code, stdout]).toEqual([0, 'closed\n'])
  })

  const root = process.getuid?.() === 0

  it.skipIf(process.platform === 'win32')(
    'gets an error when it may not write to the folder or the file',
    async ({ skip }) => {
      const folder = temporaryFolder()
      const readOnlyFolder = join(folder, 'shut')
      mkdirSync(readOnlyFolder)
      const path = join(readOnlyFolder, 'x.db')
      const made = await runScript(`await (await open({ path: ${quoted(path)} })).close()`)
      expect(made.stderr).toBe('')
      chmodSync(readOnlyFolder, 0o555)
      chmodSync(folder, 0o755)
      const before = contentsOf(readOnlyFolder)
      // Permissions do not apply to root, so root runs the script as another user.
      const asUser = root ? { uid: 65534, gid: 65534, cwd: '/' } : {}
      skip((await runScript('', [], asUser)).code !== 0, 'other users cannot run this Node here')
      for (const name of ['x.db', 'other.db']) {
        const { stdout } = await runScript(openOrPrintError(join(readOnlyFolder, name)), [], asUser)
        expect(stdout).toBe(
          `InvalidOption path: path is in a folder that cannot be written, and SQLite keeps files beside it: ${readOnlyFolder}\n`,
        )
      }
      expect(contentsOf(readOnlyFolder)).toEqual(before)
      chmodSync(readOnlyFolder, 0o755)
      chmodSync(path, 0o444)
      if (root) chmodSync(readOnlyFolder, 0o777)
      const { stdout } = await runScript(openOrPrintError(path), [], asUser)
      expect(stdout).toBe(`InvalidOption path: path names a file that cannot be written: ${path}\n`)
      expect(contentsOf(readOnlyFolder)).toEqual(before)
    },
  )
})

/** Runs its arguments with a file system of this many KiB mounted at `folder`. */
const onSmallDisk = (folder: string, kib: number) => [
  'unshare',
  '-rm',
  'sh',
  '-c',
  `mount -t tmpfs -o size=${kib}k none ${quoted(folder)} && exec "$@"`,
  'sh',
]

function canMount(): boolean {
  try {
    execFileSync('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs none /mnt'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Holds a new store file with its write-ahead log, and little more. */
const SMALL_DISK_KIB = 440

describe.skipIf(!canMount())('a full disk', () => {
  it('makes opening fail with one sentence and without leftovers, until there is space', async () => {
    const folder = temporaryFolder()
    const { stdout, stderr } = await runScript(
      `
      import { readdirSync, rmSync, writeFileSync } from 'node:fs'
      const path = ${quoted(join(folder, 'x.db'))}
      for (let left = 3; ; left += 4) {
        writeFileSync(${quoted(join(folder, 'ballast'))}, Buffer.alloc((${SMALL_DISK_KIB - 12} - 4 * left) * 1024))
        const opened = await open({ path }).catch((error) => error)
        if (!(opened instanceof Error)) { await print('open'); await opened.close(); break }
        await print([opened.code, opened.message, ...readdirSync(${quoted(folder)})].join(', '))
      }
      `,
      onSmallDisk(folder, SMALL_DISK_KIB),
    )
    const lines = stdout.trimEnd().split('\n')
    expect(lines.length, stderr).toBeGreaterThan(3)
    expect(lines.pop()).toBe('open')
    for (const line of lines) {
      expect(line).toMatch(
        /^StoreUnavailable, \S+\/x\.db(-owner)? (cannot grow: its disk is full|could not be read or written: the disk reports an error, or is full), ballast$/,
      )
    }
  })

  it('makes writes fail, keeps what was accepted, and accepts writes again when there is space', async () => {
    const folder = temporaryFolder()
    const { stdout, stderr } = await runScript(
      `
      import { rmSync, writeFileSync } from 'node:fs'
      const ballast = ${quoted(join(folder, 'ballast'))}
      writeFileSync(ballast, Buffer.alloc(1024 * 1024))
      const store = await open({ path: ${quoted(join(folder, 'x.db'))} })
      let last = 0
      let error
      while (!error) {
        const names = [0, 1, 2].map((one) => 'a'.repeat(9000) + (last + one))
        const all = await Promise.allSettled(names.map((name) => store.tokens.issue(token(name))))
        const written = all.filter((one) => one.status === 'fulfilled').length
        error = all.find((one) => one.status === 'rejected')?.reason
        if (!error) last += written
      }
      await print(error.code + ': ' + error.message)
      await print(String((await store.tokens.read('a'.repeat(9000) + (last - 1))).hash.length > 9000))
      rmSync(ballast)
      await store.tokens.issue(token('more'))
      await store.close()
      const again = await open({ path: ${quoted(join(folder, 'x.db'))} })
      await print((await again.tokens.read('more')).hash)
      await print(String((await again.tokens.read('a'.repeat(9000) + (last - 1))).hash.length > 9000))
      await again.close()
      `,
      onSmallDisk(folder, 4096),
    )
    const [error, ...rest] = stdout.trimEnd().split('\n')
    expect(error, stderr).toMatch(
      /^StoreUnavailable: \S+\/x\.db (cannot grow: its disk is full|could not be read or written: the disk reports an error, or is full)$/,
    )
    expect(rest).toEqual(['true', 'more', 'true'])
  })

  it('is not reported for a read-only disk', async () => {
    const folder = temporaryFolder()
    const { stdout } = await runScript(openOrPrintError(join(folder, 'x.db')), [
      'unshare',
      '-rm',
      'sh',
      '-c',
      `mount -t tmpfs -o ro none ${quoted(folder)} && exec "$@"`,
      'sh',
    ])
    expect(stdout).toContain('InvalidOption path: path is in a folder that cannot be written')
    expect(readdirSync(folder)).toEqual([])
  })
})
