import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { createHookswitch, errorCode, type HookswitchError } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import { sqliteStore } from 'hookswitch/sqlite'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { main } from '../../../adapters/cli/main.js'
import { rotateSecret } from '../../../adapters/cli/rotate-secret.js'
import { postgresForTests } from '../storage/pg-cluster.js'
import { temporaryFolder } from '../storage/sqlite-harness.js'
import { testIo } from './files.js'

// The worker is a built file.
vi.mock('hookswitch/sqlite', async (original) => {
  const { sqliteStore: create } = await original<typeof import('hookswitch/sqlite')>()
  return { sqliteStore: ({ path }: { readonly path: string }) => create({ path, inThread: true }) }
})

const NEW = '2'.repeat(64)
const OLD = 'the secret of the first start'

const server = await postgresForTests()
afterAll(() => server?.end())

let folder: string
let path: string
beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder, 'x.db')
})

/** Runs the command and returns its output or its error. */
async function run(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { io, written } = testIo(env)
  const error = await rotateSecret(argv, io).then(
    () => undefined,
    (thrown: HookswitchError) => thrown,
  )
  for (const text of [written.stdout, written.stderr, error?.message ?? '']) {
    expect(text).not.toContain(NEW)
    expect(text).not.toContain(OLD)
  }
  return { ...written, error }
}

async function errorOf(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { error, stdout } = await run(argv, env)
  expect(errorCode(error)).toMatch(/^(InvalidOption|StoreUnavailable)$/)
  expect(stdout).toBe('')
  return error!.message
}

/** Starts an instance, runs `use` and closes it. */
async function withInstance<Result>(
  options: Parameters<typeof createHookswitch>[0],
  use: (hs: ReturnType<typeof createHookswitch>) => Promise<Result>,
): Promise<Result> {
  const hs = createHookswitch(options)
  try {
    await hs.start()
    return await use(hs)
  } finally {
    await hs.close({ drainMs: 0 })
  }
}
const create = (options: Parameters<typeof createHookswitch>[0]) =>
  withInstance(options, async (hs) => {
    const { apiKey } = await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
    await hs.webhooks.create('acme', {
      name: 'w',
      uri: 'https://93.184.215.14/',
      hook: 'all',
      customRequestHeaders: { 'X-Api-Key': 'key of the receiver' },
    })
    return apiKey
  })
const read = (options: Parameters<typeof createHookswitch>[0]) =>
  withInstance(options, async (hs) => {
    const [webhook] = await hs.webhooks.list('acme')
    expect(webhook?.customRequestHeaders).toEqual({ 'X-Api-Key': 'key of the receiver' })
    expect(await hs.webhooks.secret('acme', webhook!.id)).toMatch(/^whsec_/)
    return hs.accounts.readApiKey('acme')
  })

describe('hookswitch rotate-secret', () => {
  it.each<readonly [readonly string[], RegExp]>([
    [['--to-variable', 'NEXT'], /^--data: names a file that does not exist: /],
    [['--memory'], /^--memory: is unknown, see 'hookswitch rotate-secret --help'/],
    [['--to', 'x'], /^--to: is unknown/],
    [['--postgres', 'postgres://db/x'], /^--to-file: or --to-variable is required/],
    [
      ['--postgres', 'postgres://db/x', '--to-variable', 'NEXT'],
      /^--from-file: or --from-variable is required/,
    ],
    [
      ['--postgres', 'postgres://db/x', '--to-variable', 'NOTHING'],
      /^--to-variable: names an environment variable/,
    ],
    [
      ['--postgres', 'postgres://db/x', '--to-variable', 'NEXT', '--to-file', 'x'],
      /^--to-variable: cannot be combined with --to-file$/,
    ],
    [
      ['--postgres', 'postgres://db/x', '--to-file', '/nowhere/x'],
      /^--to-file: cannot be read \(ENOENT\): \/nowhere\/x$/,
    ],
  ])('%j is refused', async (argv, sentence) => {
    expect(await errorOf(argv, { NEXT: NEW })).toMatch(sentence)
  })

  it('replaces the key beside a SQLite file', async () => {
    const apiKey = await create({ store: sqliteStore({ path }) })
    const file = join(folder, 'new.key')
    writeFileSync(file, `${NEW}\n`)
    const { stdout, error } = await run(['--data', path, '--to-file', file])
    expect(error).toBeUndefined()
    expect(JSON.parse(stdout)).toEqual({
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      audit: true,
      action: 'rotateServiceSecret',
      by: userInfo().username,
      rotated: true,
      path,
      rows: 2,
      unreadable: 0,
    })
    expect(readFileSync(`${path}.key`, 'utf8')).toBe(`${NEW}\n`)
    expect(statSync(`${path}.key`).mode & 0o777).toBe(0o600)
    expect(await read({ store: sqliteStore({ path }) })).toBe(apiKey)
    expect(JSON.parse((await run(['--data', path, '--to-file', file])).stdout).rows).toBe(0)
  })

  it('finishes when the process died before the key file was replaced', async () => {
    const apiKey = await create({ store: sqliteStore({ path }) })
    const before = readFileSync(`${path}.key`, 'utf8')
    await run(['--data', path, '--to-variable', 'NEXT'], { NEXT: NEW })
    writeFileSync(`${path}.key`, before)
    await expect(read({ store: sqliteStore({ path }) })).rejects.toMatchObject({ field: 'secret' })
    expect((await run(['--data', path, '--to-variable', 'NEXT'], { NEXT: NEW })).error).toBeUndefined()
    expect(await read({ store: sqliteStore({ path }) })).toBe(apiKey)
  })

  it('leaves a SQLite file whose secret is in the environment without a key file', async () => {
    const apiKey = await create({ store: sqliteStore({ path }), secret: OLD })
    const env = { NEXT: NEW, NOW: OLD }
    const argv = ['--data', path, '--from-variable', 'NOW', '--to-variable', 'NEXT']
    expect(await errorOf(argv, { ...env, NEXT: 'not sixty-four hex digits' })).toMatch(
      /^--to-variable: must be 64 hex/,
    )
    expect(await errorOf(argv, { ...env, NOW: 'some other secret' })).toMatch(
      /^--from-variable: is not the secret/,
    )
    expect((await run(argv, env)).error).toBeUndefined()
    expect(() => statSync(`${path}.key`)).toThrow('ENOENT')
    expect(await read({ store: sqliteStore({ path }), secret: NEW })).toBe(apiKey)
  })

  it('is refused while the service uses the file', async () => {
    await create({ store: sqliteStore({ path }) })
    await withInstance({ store: sqliteStore({ path }) }, async () => {
      expect(await errorOf(['--data', path, '--to-variable', 'NEXT'], { NEXT: NEW })).toMatch(
        /^--data: .* is in use by another process/,
      )
    })
  })

  it('rotates the secret of nodes that run on PostgreSQL', async ({ skip }) => {
    if (!server) return skip()
    const schema = server.freshSchema()
    const store = () => postgresStore({ connectionString: server.url, schema })
    const apiKey = await create({ store: store(), secret: OLD })
    const argv = ['--schema', schema, '--from-variable', 'NOW', '--to-variable', 'NEXT']
    const env = { NEXT: NEW, NOW: OLD, HOOKSWITCH_POSTGRES: server.url }
    await withInstance({ store: store(), secret: [NEW, OLD] }, async (running) => {
      await expect(read({ store: store(), secret: OLD })).rejects.toMatchObject({ field: 'secret' })
      const meanwhile = Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          running.accounts.create({ id: `new-${index}`, name: 'New', realm: `new-${index}.example` }),
        ),
      )
      const { error, stdout } = await run(argv, env)
      expect(error).toBeUndefined()
      expect(JSON.parse(stdout)).toMatchObject({ rotated: true, rows: 2, unreadable: 0 })
      expect(await running.accounts.readApiKey('acme')).toBe(apiKey)
      await meanwhile
    })
    expect(await read({ store: store(), secret: NEW })).toBe(apiKey)
    await expect(read({ store: store(), secret: [OLD, NEW] })).rejects.toThrow('was rotated out')
  })

  it('is a command of the program', async () => {
    const written = { stdout: '', stderr: '' }
    const append = (name: keyof typeof written, text: string) => {
      written[name] += text
    }
    const program = {
      argv: ['node', 'hookswitch', 'rotate-secret'],
      env: {},
      stdout: { write: (text: string) => append('stdout', text) },
      stderr: { write: (text: string) => append('stderr', text) },
      exitCode: 0,
      on() {},
      exit: (() => {}) as never,
    }
    await main(program)
    expect(program.exitCode).toBe(2)
    expect(written.stderr).toMatch(/^hookswitch: --data: names a file that does not exist/)
    await main({ ...program, argv: [...program.argv, '--help'] })
    expect(written.stdout).toMatch(/^Usage: hookswitch rotate-secret /)
  })
})
