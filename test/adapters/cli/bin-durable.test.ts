import { spawnSync } from 'node:child_process'
import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hookswitch, type ProgramOptions, type RunningProgram, ready } from './program.js'
import { call, receiver } from './service-client.js'

const ACCOUNT = { id: 'acme', name: 'Acme', realm: 'acme.example', apiKey: 'k'.repeat(40) }
const WEBHOOKS = '/accounts/acme/webhooks'

let folder: string
let accounts: string
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'durable-')))
  accounts = join(folder, 'accounts.json')
  await writeFile(accounts, JSON.stringify([ACCOUNT]))
})
afterEach(() => rm(folder, { recursive: true }))

const serve = (argv: readonly string[] = [], options: ProgramOptions = {}) =>
  hookswitch(['serve', '--port', '0', '--accounts', accounts, ...argv], { cwd: folder, ...options })

const logOf = ({ output }: RunningProgram) =>
  output.stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Record<string, unknown> => JSON.parse(line))

describe('the program with a SQLite file', () => {
  it('refuses a file that another process has open under another name', async () => {
    const first = serve(['--data', 'a.db'])
    await ready(first)
    await link(join(folder, 'a.db'), join(folder, 'b.db'))
    const second = await serve(['--data', 'b.db']).ended
    expect(second).toMatchObject({ code: 1, stdout: '' })
    expect(second.stderr).toContain(`--data: ${join(folder, 'a.db')} is in use by another process`)
    first.child.kill('SIGTERM')
    expect(await first.ended).toMatchObject({ code: 0 })
    const again = serve(['--data', 'a.db'])
    await ready(again)
    expect(logOf(again)).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        message: expect.stringContaining('has 2 names (hard links)'),
      }),
    )
    again.child.kill('SIGTERM')
    expect(await again.ended).toMatchObject({ code: 0 })
  })

  it.each(['SIGTERM', 'SIGKILL'] as const)('continues from the file after %s', async (signal) => {
    const { url: receiverUrl, received, state } = await receiver()
    state.status = 500
    const first = serve(['--allow-local', '--ingest'])
    const { url } = await ready(first)
    const { token } = await call(url, 'PUT', '/api_auth', { data: { api_key: ACCOUNT.apiKey } })
    const rotated = await call(url, 'PUT', '/accounts/acme/api_key', { token })
    const apiKey = rotated.data.api_key
    const login = await call(url, 'PUT', '/api_auth', { data: { api_key: apiKey } })
    const webhook = { name: 'Calls', uri: `${receiverUrl}/calls`, hook: 'all', retries: 5 }
    const created = await call(url, 'PUT', WEBHOOKS, { data: webhook, token: login.token })
    const event = { hook: 'channel_create', call_id: 'leg-1' }
    await call(url, 'PUT', '/accounts/acme/events', { data: event, token: login.token })
    const attempts = `${WEBHOOKS}/${created.data.id}/attempts`
    const attemptsOf = async (url: string) =>
      (await call(url, 'GET', attempts, { token: login.token })).data as unknown as Record<string, unknown>[]
    await expect.poll(async () => (await attemptsOf(url)).length).toBeGreaterThan(0)
    first.child.kill(signal)
    expect(await first.ended).toMatchObject(signal === 'SIGTERM' ? { code: 0 } : { signal })
    const before = received.length
    const failed = received[0]!

    state.status = 200
    const second = serve(['--allow-local', '--ingest'])
    const { url: again } = await ready(second)
    // The pending delivery arrives: same id, same bytes, next attempt.
    await expect.poll(() => received.length).toBeGreaterThan(before)
    const delivered = received.at(-1)!
    expect(delivered).toMatchObject({ id: failed.id, body: failed.body })
    expect(delivered.attempt).toBeGreaterThan(1)
    // The token, the webhook and the attempts of the first run remain; the accounts file does not replace the new API key.
    await expect.poll(async () => (await attemptsOf(again))[0]?.result).toBe('success')
    expect((await attemptsOf(again)).at(-1)).toMatchObject({ attempt: 1, result: 'failure' })
    const listed = await call(again, 'GET', WEBHOOKS, { token: login.token })
    expect(listed.data).toMatchObject([{ id: created.data.id, name: 'Calls' }])
    const logins = [apiKey, ACCOUNT.apiKey].map((key) =>
      call(again, 'PUT', '/api_auth', { data: { api_key: key } }),
    )
    expect((await Promise.all(logins)).map(({ status }) => status)).toEqual([201, 401])
    second.child.kill('SIGTERM')
    expect(await second.ended).toMatchObject({ code: 0, signal: null })
  })

  it('uses hookswitch.db in the working directory by default, and logs its path', async () => {
    const running = serve()
    await ready(running)
    const path = join(folder, 'hookswitch.db')
    expect(logOf(running)).toContainEqual(
      expect.objectContaining({ message: 'listening', store: 'sqlite', path }),
    )
    expect(running.output.stderr).not.toMatch(/in memory/)
    running.child.kill('SIGTERM')
    await running.ended
    expect((await readdir(folder)).sort()).toEqual(
      expect.arrayContaining(['hookswitch.db', 'hookswitch.db.key']),
    )
    expect((await stat(`${path}.key`)).mode & 0o777).toBe(0o600)
  })

  it('refuses a file that another process uses', async () => {
    const first = serve(['--data', 'calls.db'])
    await ready(first)
    const { code, stdout, stderr } = await serve(['--data', 'calls.db']).ended
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^hookswitch: --data: .*calls\.db is in use by another process[^\n]*\n$/)
    first.child.kill('SIGKILL')
    await first.ended
    const third = serve(['--data', 'calls.db'])
    await ready(third)
  })
})

/** Returns the contents of every file below a folder. */
async function contentsOf(root: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name)).sort()
  const read = async (path: string) =>
    (await stat(path)).isDirectory() ? 'a folder' : (await readFile(path)).toString('base64')
  return new Map(await Promise.all(paths.map(async (path) => [path, await read(path)] as const)))
}

/** Root can write everywhere, so as root the program runs as another user. */
const OTHER_USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

describe('the program rejects --data with one sentence and changes nothing, for', () => {
  const invalid: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
    'a folder': (path) => mkdir(path),
    'a file in a folder that does not exist': (path) => Promise.resolve(path),
    'a file of another program': (path) => writeFile(path, `${'some notes of mine\n'.repeat(100)}`),
    'a database of another program': async (path) => {
      const database = new DatabaseSync(path)
      database.exec('CREATE TABLE notes (text TEXT)')
      database.close()
    },
    'a truncated database': (path) => writeFile(path, Buffer.from(`SQLite format 3\0${'\0'.repeat(40)}`)),
    'a missing database beside its write-ahead log': (path) => writeFile(`${path}-wal`, 'last writes'),
  }

  it.each(Object.entries(invalid))('%s', async (name, make) => {
    const path = name.endsWith('does not exist') ? join(folder, 'none', 'calls.db') : join(folder, 'calls.db')
    await make(path)
    const before = await contentsOf(folder)
    const { code, stdout, stderr } = await serve(['--data', path]).ended
    expect(code).toBeGreaterThan(0)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^hookswitch: --data: [^\n]+\n$/)
    expect(await contentsOf(folder)).toEqual(before)
  })

  it('a folder that cannot be written', async ({ skip }) => {
    const { error } = spawnSync(process.execPath, ['--version'], OTHER_USER)
    skip(error !== undefined, 'no other user may run this Node')
    await chmod(folder, 0o555)
    try {
      const { code, stdout, stderr } = await serve([], OTHER_USER).ended
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(/^hookswitch: --data: [^\n]*cannot be written[^\n]*\n$/)
      expect([...(await contentsOf(folder)).keys()]).toEqual([accounts])
    } finally {
      await chmod(folder, 0o755)
    }
  })
})
