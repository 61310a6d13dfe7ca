import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode, type HookswitchError } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import { sqliteStore } from 'hookswitch/sqlite'
import type { Store } from 'hookswitch/store'
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { main } from '../../../adapters/cli/main.js'
import { migrate } from '../../../adapters/cli/migrate.js'
import { systemClock } from '../../../src/clock.js'
import { log, SMALL, smallFile } from '../storage/move-world.js'
import { postgresForTests } from '../storage/pg-cluster.js'
import { freshFolder } from '../storage/sqlite-bench.js'

const server = await postgresForTests()
afterAll(() => server?.end())

let folder: string
let path: string
let schema: string
beforeEach(() => {
  folder = freshFolder()
  path = join(folder, 'x.db')
  schema = server?.freshSchema() ?? 'nowhere'
})

/** Runs the command; what it wrote, or how it was refused. */
async function ran(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const written = { stdout: '', stderr: '' }
  const sink = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => {
      written[name] += text
    },
  })
  const refused = await migrate(argv, { stdout: sink('stdout'), stderr: sink('stderr'), env }).then(
    () => undefined,
    (thrown: HookswitchError) => thrown,
  )
  return { ...written, refused }
}
async function refusalOf(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { refused, stdout } = await ran(argv, env)
  expect(errorCode(refused)).toMatch(/^(InvalidOption|StoreUnavailable)$/)
  expect(stdout).toBe('')
  expect(refused!.message).toMatch(/^[^\n]+$/)
  return refused!.message
}
const move = () => ['--from', path, '--to', server!.url, '--schema', schema]
async function opened(store: Store): Promise<Store> {
  await store.open({ clock: systemClock(), log })
  onTestFinished(() => store.close())
  return store
}

describe('hookswitch migrate', () => {
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /^--from: is needed/],
    [['--from', ''], /^--from: must not be empty/],
    [['--from', 'x.db'], /^--to: is needed, or HOOKSWITCH_POSTGRES/],
    [['--from', 'x.db', '--to', 'mysql://db/calls'], /^--to: must be a URL like postgres:/],
    [['--from', 'x.db', '--undo', '--schema', 'a'], /^--undo: goes with --from alone/],
    [['--from', 'x.db', '--data', 'y.db'], /^--data: is unknown, see 'hookswitch migrate --help'/],
  ]
  it.each(wrong)('called as %j says what is wrong', async (argv, sentence) => {
    expect(await refusalOf(argv)).toMatch(sentence)
  })

  it.each([
    ['nowhere.db', /^--from: names a file that is not there/],
    ['.', /^--from: must name a file, this is a folder/],
    ['empty.db', /^--from: holds nothing of hookswitch/],
    ['text.db', /^--from: is no SQLite database/],
  ])('refuses %s as a file, and leaves everything as it was', async (name, sentence) => {
    writeFileSync(join(folder, 'empty.db'), '')
    writeFileSync(join(folder, 'text.db'), 'This is no database, but a text of some length. '.repeat(20))
    const before = readdirSync(folder)
    for (const more of [['--undo'], ['--to', 'postgres://nobody/nothing']]) {
      expect(await refusalOf(['--from', join(folder, name), ...more])).toMatch(sentence)
    }
    expect(readdirSync(folder)).toEqual(before)
  })

  it.each([
    [['--help'], 0, /^Usage: hookswitch migrate --from FILE --to URL/, /^$/],
    [
      ['--from', 'nowhere.db', '--undo'],
      2,
      /^$/,
      /^hookswitch: --from: names a file that is not there: [^\n]+\n$/,
    ],
  ] as const)('is a command of the program: %j ends with %i', async (argv, code, stdout, stderr) => {
    const written = { stdout: '', stderr: '' }
    const sink = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (written[name] += text) })
    const program = {
      ...{ argv: ['node', 'hookswitch', 'migrate', ...argv], env: {}, exitCode: 0 },
      ...{ stdout: sink('stdout'), stderr: sink('stderr'), on() {}, exit: () => undefined as never },
    }
    await main(program)
    expect(written.stdout).toMatch(stdout)
    expect(written.stderr).toMatch(stderr)
    expect(program.exitCode).toBe(code)
  })

  it('refuses a file that a service uses', async () => {
    await smallFile(path)
    await opened(sqliteStore({ path, inThread: true }))
    expect(await refusalOf(['--from', path, '--undo'])).toMatch(/^--from: .*is in use by another process/)
  })

  it('says that a file that was not moved needs no undoing', async () => {
    await smallFile(path)
    const { stdout, stderr } = await ran(['--from', path, '--undo'])
    expect(JSON.parse(stdout)).toEqual({ undone: false, from: path })
    expect(stderr).toMatch(/was not moved/)
  })
})

describe.skipIf(!server)('hookswitch migrate, with a server', () => {
  it('tells what it does, where the secret is, and the numbers of rows', async () => {
    await smallFile(path)
    const { stdout, stderr } = await ran(move())
    const { host } = new URL(server!.url)
    const to = { host, database: expect.any(String), schema }
    expect(JSON.parse(stdout)).toEqual({ moved: true, from: path, to, rows: SMALL })
    expect(stderr).toMatch(/^hookswitch: writing accounts\nhookswitch: writing api keys\n/)
    expect(stderr).toContain(`hookswitch: give every node what is in ${path}.key as HOOKSWITCH_SECRET`)
  })

  it('knows of no key where the service was given its secret', async () => {
    await smallFile(path)
    rmSync(`${path}.key`)
    const { stderr } = await ran(move())
    expect(stderr).toContain(`give every node the one that ${path} was used with as HOOKSWITCH_SECRET`)
  })

  it('takes the URL of the environment, and names that where it is wrong', async () => {
    await smallFile(path)
    const nowhere = server!.urlOf({ database: 'nowhere' })
    const sentence = await refusalOf(['--from', path], { HOOKSWITCH_POSTGRES: nowhere })
    expect(sentence).toMatch(/^HOOKSWITCH_POSTGRES: .*does not exist/)
    expect(sentence).not.toContain('://')
    expect(await refusalOf(['--from', path, '--to', nowhere])).toMatch(/^--to: .*does not exist/)
    expect(await refusalOf([...move().slice(0, 4), '--schema', 'No'])).toMatch(/^--schema: must be/)
    // The file is as it was.
    await opened(sqliteStore({ path, inThread: true }))
  })

  it('is undone by --undo, and the file opens again', async () => {
    await smallFile(path)
    await ran(move())
    const again = sqliteStore({ path, inThread: true })
    const where = /was moved to the PostgreSQL database \w+ on \S+ \(schema \w+\): .*--undo/
    await expect(again.open({ clock: systemClock(), log })).rejects.toThrow(where)
    expect(await refusalOf(move())).toMatch(/^--from: was moved to /)
    const { stdout, stderr } = await ran(['--from', path, '--undo'])
    expect(JSON.parse(stdout)).toEqual({ undone: true, from: path })
    expect(stderr).toMatch(/is in use again: start no node on the PostgreSQL database/)
    await opened(again)
    expect(await again.deliveries.pending()).toBe(SMALL.deliveries)
    await again.close()
    expect(await refusalOf(move())).toMatch(
      /^--schema: the schema \w+ is not empty \(account, api_key, webhook/,
    )
  })

  it('refuses a schema that nodes work on', async () => {
    await smallFile(path)
    const store = await opened(postgresStore({ connectionString: server!.url, schema }))
    await store.deliveries.own('node', 30_000)
    expect(await refusalOf(move())).toMatch(/^--schema: the schema \w+ is in use: stop every node/)
    await store.deliveries.release('node')
    expect((await ran(move())).refused).toBeUndefined()
  })
})
