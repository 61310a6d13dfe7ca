import { spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Circumstances, hookswitch, type Running, ready } from './program.js'
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

const serve = (argv: readonly string[] = [], how: Circumstances = {}) =>
  hookswitch(['serve', '--port', '0', '--accounts', accounts, ...argv], { cwd: folder, ...how })

const logOf = ({ output }: Running) =>
  output.stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Record<string, unknown> => JSON.parse(line))

describe('the program keeps everything in a file', () => {
  it.each(['SIGTERM', 'SIGKILL'] as const)('and goes on with it after %s', async (signal) => {
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
    const refused = received[0]!

    state.status = 200
    const second = serve(['--allow-local', '--ingest'])
    const { url: again } = await ready(second)
    // The delivery that was pending: the same id, the same bytes, the next attempt.
    await expect.poll(() => received.length).toBeGreaterThan(before)
    const delivered = received.at(-1)!
    expect(delivered).toMatchObject({ id: refused.id, body: refused.body })
    expect(delivered.attempt).toBeGreaterThan(1)
    // The token of the first run, the webhook, the attempts; and the account as it was, not as its file has it.
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

  it('which is hookswitch.db in the working directory, as the log says, and nowhere in memory', async () => {
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

  it('that belongs to one process at a time', async () => {
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

  it('and takes no other secret for it than the one that it was begun with', async () => {
    const first = serve()
    await ready(first)
    first.child.kill('SIGTERM')
    await first.ended
    const { code, stderr } = await serve([], { env: { HOOKSWITCH_SECRET: 'another secret altogether' } })
      .ended
    expect(code).toBe(2)
    expect(stderr).toMatch(/^hookswitch: HOOKSWITCH_SECRET: is not the key of [^\n]*\n$/)
    const key = (await readFile(join(folder, 'hookswitch.db.key'), 'utf8')).trim()
    await ready(serve([], { env: { HOOKSWITCH_SECRET: key } }))
  })
})

/** Every file below a folder with its content. */
async function contentsOf(root: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name)).sort()
  const read = async (path: string) =>
    (await stat(path)).isDirectory() ? 'a folder' : (await readFile(path)).toString('base64')
  return new Map(await Promise.all(paths.map(async (path) => [path, await read(path)] as const)))
}

/** Nobody may write everywhere: as root the program is started as somebody else. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

describe('the program refuses a file, in one sentence and leaving everything as it was:', () => {
  const wrong: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
    'a folder': (path) => mkdir(path),
    'a folder that is not there': (path) => Promise.resolve(path),
    'a file of another program': (path) => writeFile(path, `${'some notes of mine\n'.repeat(100)}`),
    'a database of another program': async (path) => {
      const database = new DatabaseSync(path)
      database.exec('CREATE TABLE notes (text TEXT)')
      database.close()
    },
    'a database that is cut short': (path) =>
      writeFile(path, Buffer.from(`SQLite format 3\0${'\0'.repeat(40)}`)),
    'a database without its log': (path) => writeFile(`${path}-wal`, 'what was written last'),
  }

  it.each(Object.entries(wrong))('%s', async (name, make) => {
    const path = name.endsWith('not there') ? join(folder, 'none', 'calls.db') : join(folder, 'calls.db')
    await make(path)
    const before = await contentsOf(folder)
    const { code, stdout, stderr } = await serve(['--data', path]).ended
    expect(code).toBeGreaterThan(0)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^hookswitch: --data: [^\n]+\n$/)
    expect(await contentsOf(folder)).toEqual(before)
  })

  it('a folder that cannot be written', async ({ skip }) => {
    const { error } = spawnSync(process.execPath, ['--version'], NOBODY)
    skip(error !== undefined, 'nobody else may run this Node here')
    await chmod(folder, 0o555)
    try {
      const { code, stdout, stderr } = await serve([], NOBODY).ended
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(/^hookswitch: --data: [^\n]*cannot be written[^\n]*\n$/)
      expect([...(await contentsOf(folder)).keys()]).toEqual([accounts])
    } finally {
      await chmod(folder, 0o755)
    }
  })
})
