import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { contentsOf, freshFolder, ran, started } from './sqlite-bench.js'

const file = () => join(freshFolder(), 'x.db')
const text = JSON.stringify
/** Opens a store and tells why it cannot. */
const says = (path: string) => `
  await open({ path: ${text(path)} }).then(
    (store) => store.close(),
    (error) => tell(error.code + ' ' + error.field + ': ' + error.message))
`

describe('a process', () => {
  it('keeps others out while it lives, and not when it was killed', async () => {
    const path = file()
    const first = started(`
      const store = await open({ path: ${text(path)} })
      await store.tokens.issue(token('written'))
      await tell('open')
      setInterval(() => {}, 1000)
    `)
    expect(await first.line()).toBe('open')
    const other = `
      await open({ path: ${text(path)} }).then(
        async (store) => tell(JSON.stringify(await store.tokens.read('written'))).then(() => store.close()),
        (error) => tell(error.code + ': ' + error.message))
    `
    const refused = await ran(other)
    expect(refused.stdout).toBe(
      `StoreUnavailable: ${path} is in use by another process, or by another store of this one: a file has one owner at a time\n`,
    )
    const ended = new Promise((resolve) => first.child.once('exit', resolve))
    first.child.kill('SIGKILL')
    await ended
    expect(JSON.parse((await ran(other)).stdout)).toMatchObject({ hash: 'written' })
  })

  it('of two that start at once, one gets it', async () => {
    const path = file()
    const code = `
      await open({ path: ${text(path)} }).then(
        async (store) => { await tell('in'); await new Promise((r) => process.stdin.once('data', r)); await store.close(); process.exit() },
        (error) => tell(error.code))
    `
    const children = [started(code), started(code), started(code)]
    const lines = await Promise.all(children.map((one) => one.line()))
    expect(lines.toSorted()).toEqual(['StoreUnavailable', 'StoreUnavailable', 'in'])
    // Those that were refused have ended.
    for (const { child } of children) child.stdin?.on('error', () => {}).end('end\n')
  })

  it.each<[string, string]>([
    ['closed its store', 'await store.close()'],
    ['asks nothing of its store any more', ''],
    ['was refused', 'await open({ path: "/no/such/folder/x" }).catch(() => {}); await store.close()'],
  ])('that %s ends by itself, and says nothing of its own', async (_, end) => {
    const path = file()
    const { code, stdout, stderr } = await ran(`
      const store = await open({ path: ${text(path)} })
      await store.tokens.issue(token('a'))
      await tell((await store.tokens.read('a')).hash)
      ${end}
    `)
    expect([code, stdout, stderr]).toEqual([0, 'a\n', ''])
  })

  it('does not end before what was asked is answered', async () => {
    const path = file()
    const { code, stdout } = await ran(`
      const store = await open({ path: ${text(path)} })
      void Promise.all([store.tokens.issue(token('a')), store.secret()]).then(() => tell('written'))
    `)
    expect([code, stdout]).toEqual([0, 'written\n'])
  })

  const root = process.getuid?.() === 0

  it.skipIf(process.platform === 'win32')('is told when it may not write there', async ({ skip }) => {
    const folder = freshFolder()
    const shut = join(folder, 'shut')
    mkdirSync(shut)
    const path = join(shut, 'x.db')
    const made = await ran(`await (await open({ path: ${text(path)} })).close()`)
    expect(made.stderr).toBe('')
    chmodSync(shut, 0o555)
    chmodSync(folder, 0o755)
    const before = contentsOf(shut)
    // Whoever runs the tests as root is told nothing by permissions.
    const as = root ? { uid: 65534, gid: 65534, cwd: '/' } : {}
    skip((await ran('', [], as)).code !== 0, 'nobody else may run this Node here')
    for (const name of ['x.db', 'other.db']) {
      const { stdout } = await ran(says(join(shut, name)), [], as)
      expect(stdout).toBe(
        `InvalidOption path: path is in a folder that cannot be written, and SQLite keeps files beside it: ${shut}\n`,
      )
    }
    expect(contentsOf(shut)).toEqual(before)
    chmodSync(shut, 0o755)
    chmodSync(path, 0o444)
    if (root) chmodSync(shut, 0o777)
    const { stdout } = await ran(says(path), [], as)
    expect(stdout).toBe(`InvalidOption path: path names a file that cannot be written: ${path}\n`)
    expect(contentsOf(shut)).toEqual(before)
  })
})

/** Runs its arguments with a disk of so many KiB at `folder`, which is gone afterwards. */
const onSmallDisk = (folder: string, kib: number) => [
  'unshare',
  '-rm',
  'sh',
  '-c',
  `mount -t tmpfs -o size=${kib}k none ${text(folder)} && exec "$@"`,
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

describe.skipIf(!canMount())('a disk that is full', () => {
  it('at the start: one sentence, nothing is left, and it goes on when there is room', async () => {
    const folder = freshFolder()
    const { stdout, stderr } = await ran(
      `
      import { readdirSync, rmSync, writeFileSync } from 'node:fs'
      const path = ${text(join(folder, 'x.db'))}
      for (let left = 3; ; left += 4) {
        writeFileSync(${text(join(folder, 'ballast'))}, Buffer.alloc((256 - 4 * left) * 1024))
        const opened = await open({ path }).catch((error) => error)
        if (!(opened instanceof Error)) { await tell('open'); await opened.close(); break }
        await tell([opened.code, opened.message, ...readdirSync(${text(folder)})].join(', '))
      }
      `,
      onSmallDisk(folder, 260),
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

  it('while it works: what does not fit is refused, what was accepted stays, and it goes on when there is room', async () => {
    const folder = freshFolder()
    const { stdout, stderr } = await ran(
      `
      import { rmSync, writeFileSync } from 'node:fs'
      const ballast = ${text(join(folder, 'ballast'))}
      writeFileSync(ballast, Buffer.alloc(1024 * 1024))
      const store = await open({ path: ${text(join(folder, 'x.db'))} })
      let last = 0
      let error
      while (!error) {
        const names = [0, 1, 2].map((one) => 'a'.repeat(9000) + (last + one))
        const all = await Promise.allSettled(names.map((name) => store.tokens.issue(token(name))))
        const written = all.filter((one) => one.status === 'fulfilled').length
        error = all.find((one) => one.status === 'rejected')?.reason
        if (!error) last += written
      }
      await tell(error.code + ': ' + error.message)
      await tell(String((await store.tokens.read('a'.repeat(9000) + (last - 1))).hash.length > 9000))
      rmSync(ballast)
      await store.tokens.issue(token('more'))
      await store.close()
      const again = await open({ path: ${text(join(folder, 'x.db'))} })
      await tell((await again.tokens.read('more')).hash)
      await tell(String((await again.tokens.read('a'.repeat(9000) + (last - 1))).hash.length > 9000))
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

  it('that is read-only is told from one that is full', async () => {
    const folder = freshFolder()
    const { stdout } = await ran(says(join(folder, 'x.db')), [
      'unshare',
      '-rm',
      'sh',
      '-c',
      `mount -t tmpfs -o ro none ${text(folder)} && exec "$@"`,
      'sh',
    ])
    expect(stdout).toContain('InvalidOption path: path is in a folder that cannot be written')
    expect(readdirSync(folder)).toEqual([])
  })
})
