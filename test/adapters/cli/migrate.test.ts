import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { errorCode, type HookswitchError } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import { sqliteStore } from 'hookswitch/sqlite'
import type { Store } from 'hookswitch/store'
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { main } from '../../../adapters/cli/main.js'
import { migrate } from '../../../adapters/cli/migrate.js'
import { systemClock } from '../../../src/runtime/clock.js'
import { createSmallFile, log, SMALL_COUNTS } from '../storage/migrate-harness.js'
import { postgresForTests } from '../storage/pg-cluster.js'
import { temporaryFolder } from '../storage/sqlite-harness.js'
import { testIo } from './files.js'

const server = await postgresForTests()
afterAll(() => server?.end())

let folder: string
let path: string
let schema: string
beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder, 'x.db')
  schema = server?.freshSchema() ?? 'nowhere'
})

/** Runs the command and returns its output or its error. */
async function runMigrate(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { io, written } = testIo(env)
  const error = await migrate(argv, io).then(
    () => undefined,
    (thrown: HookswitchError) => thrown,
  )
  return { ...written, error }
}
async function errorOf(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { error, stdout } = await runMigrate(argv, env)
  expect(errorCode(error)).toMatch(/^(InvalidOption|StoreUnavailable)$/)
  expect(stdout).toBe('')
  expect(error!.message).toMatch(/^[^\n]+$/)
  return error!.message
}
const migrateArgv = () => ['--from', path, '--to', server!.url, '--schema', schema]
async function opened(store: Store): Promise<Store> {
  await store.open({ clock: systemClock(), log })
  onTestFinished(() => store.close())
  return store
}

describe('hookswitch migrate', () => {
  const invalid: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /^--from: is required/],
    [['--from', ''], /^--from: must not be empty/],
    [['--from', 'x.db'], /^--to: is required \(or HOOKSWITCH_POSTGRES\)/],
    [['--from', 'x.db', '--to', 'mysql://db/calls'], /^--to: must be a URL like postgres:/],
    [['--from', 'x.db', '--undo', '--schema', 'a'], /^--undo: takes only --from$/],
    [['--from', 'x.db', '--data', 'y.db'], /^--data: is unknown, see 'hookswitch migrate --help'/],
  ]
  it.each(invalid)('rejects the arguments %j', async (argv, sentence) => {
    expect(await errorOf(argv)).toMatch(sentence)
  })

  it.each([
    ['nowhere.db', /^--from: names a file that does not exist/],
    ['.', /^--from: must name a file, this is a folder/],
    ['empty.db', /^--from: contains no hookswitch store/],
    ['text.db', /^--from: is not an SQLite database/],
  ])('rejects %s as a file and changes nothing', async (name, sentence) => {
    writeFileSync(join(folder, 'empty.db'), '')
    writeFileSync(join(folder, 'text.db'), 'This is not a database but a text of some length. '.repeat(20))
    const before = readdirSync(folder)
    for (const more of [['--undo'], ['--to', 'postgres://nobody/nothing']]) {
      expect(await errorOf(['--from', join(folder, name), ...more])).toMatch(sentence)
    }
    expect(readdirSync(folder)).toEqual(before)
  })

  it.each([
    [['--help'], 0, /^Usage: hookswitch migrate --from FILE --to URL/, /^$/],
    [
      ['--from', 'nowhere.db', '--undo'],
      2,
      /^$/,
      /^hookswitch: --from: names a file that does not exist: [^\n]+\n$/,
    ],
  ] as const)('is a command of the program: %j exits with %i', async (argv, code, stdout, stderr) => {
    const { io, written } = testIo()
    const program = {
      ...io,
      ...{ argv: ['node', 'hookswitch', 'migrate', ...argv], exitCode: 0 },
      on() {},
      exit: () => undefined as never,
    }
    await main(program)
    expect(written.stdout).toMatch(stdout)
    expect(written.stderr).toMatch(stderr)
    expect(program.exitCode).toBe(code)
  })

  it('rejects a file that a service uses', async () => {
    await createSmallFile(path)
    await opened(sqliteStore({ path, inThread: true }))
    expect(await errorOf(['--from', path, '--undo'])).toMatch(/^--from: .*is in use by another process/)
  })

  it('reports that there is nothing to undo for a file that was not migrated', async () => {
    await createSmallFile(path)
    const { stdout, stderr } = await runMigrate(['--from', path, '--undo'])
    expect(JSON.parse(stdout)).toEqual({ undone: false, from: path })
    expect(stderr).toMatch(/was not migrated: nothing changed/)
  })
})

describe.skipIf(!server)('hookswitch migrate, with a server', () => {
  it('reports its progress, the location of the secret and the numbers of rows', async () => {
    await createSmallFile(path)
    const { stdout, stderr } = await runMigrate(migrateArgv())
    const { host } = new URL(server!.url)
    const to = { host, database: expect.any(String), schema }
    expect(JSON.parse(stdout)).toEqual({
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      audit: true,
      action: 'migrate',
      by: userInfo().username,
      moved: true,
      from: path,
      to,
      rows: SMALL_COUNTS,
    })
    expect(stderr).toMatch(/^hookswitch: writing accounts\nhookswitch: writing api keys\n/)
    expect(stderr).toContain(
      `hookswitch: set HOOKSWITCH_SECRET of every node to the contents of ${path}.key: `,
    )
  })

  it('refers to the secret of the service when the file has no key file', async () => {
    await createSmallFile(path)
    rmSync(`${path}.key`)
    const { stderr } = await runMigrate(migrateArgv())
    expect(stderr).toContain(`set HOOKSWITCH_SECRET of every node to the secret of ${path}: `)
  })

  it('reads the URL from the environment, and names the variable in errors', async () => {
    await createSmallFile(path)
    const nowhere = server!.urlOf({ database: 'nowhere' })
    const sentence = await errorOf(['--from', path], { HOOKSWITCH_POSTGRES: nowhere })
    expect(sentence).toMatch(/^HOOKSWITCH_POSTGRES: .*does not exist/)
    expect(sentence).not.toContain('://')
    expect(await errorOf(['--from', path, '--to', nowhere])).toMatch(/^--to: .*does not exist/)
    expect(await errorOf([...migrateArgv().slice(0, 4), '--schema', 'No'])).toMatch(/^--schema: must be/)
    // The file is unchanged.
    await opened(sqliteStore({ path, inThread: true }))
  })

  it('makes the file usable again with --undo', async () => {
    await createSmallFile(path)
    await runMigrate(migrateArgv())
    const again = sqliteStore({ path, inThread: true })
    const moved = /was moved to the PostgreSQL database \w+ on \S+ \(schema \w+\): .*--undo/
    await expect(again.open({ clock: systemClock(), log })).rejects.toThrow(moved)
    expect(await errorOf(migrateArgv())).toMatch(/^--from: was moved to /)
    const { stdout, stderr } = await runMigrate(['--from', path, '--undo'])
    expect(JSON.parse(stdout)).toMatchObject({ action: 'undoMigration', undone: true, from: path })
    expect(stderr).toMatch(/is in use again: never start a node on the PostgreSQL database/)
    await opened(again)
    const lease = await again.deliveries.own('node', 30_000)
    const loaded = await again.deliveries.load(lease, lease.shards)
    expect(loaded?.waiting.count).toBe(SMALL_COUNTS.deliveries)
    await again.close()
    expect(await errorOf(migrateArgv())).toMatch(
      /^--schema: the schema \w+ is not empty \(account, api_key, webhook/,
    )
  })

  it('rejects a schema that a node uses', async () => {
    await createSmallFile(path)
    const store = await opened(postgresStore({ connectionString: server!.url, schema }))
    await store.deliveries.own('node', 30_000)
    expect(await errorOf(migrateArgv())).toMatch(/^--schema: the schema \w+ is in use: stop every node/)
    await store.deliveries.release('node')
    expect((await runMigrate(migrateArgv())).error).toBeUndefined()
  })
})
