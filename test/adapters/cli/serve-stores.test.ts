import { fileURLToPath } from 'node:url'
import { errorCode, HookswitchError, memoryStore } from 'hookswitch'
import { serve } from 'hookswitch/cli'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { testIo } from './files.js'

/** The replaced store modules: which were loaded, the options of each store, and the function that creates it. */
const stores = vi.hoisted(() => ({
  loaded: [] as string[],
  options: [] as object[],
  create: undefined as undefined | (() => unknown),
}))
const fake = (name: string) => {
  stores.loaded.push(name)
  return (options: object) => {
    stores.options.push(options)
    return stores.create?.()
  }
}
vi.mock('hookswitch/sqlite', () => ({ sqliteStore: fake('sqlite') }))
vi.mock('hookswitch/postgres', () => ({ postgresStore: fake('postgres') }))

const SECRET = 'a secret of the environment'
const DATABASE = 'postgres://hookswitch:hunter2@db.example:5433/calls'
const ACCOUNTS = fileURLToPath(new URL('../../../examples/demo/accounts.json', import.meta.url))
const NOWHERE = '/nowhere/calls.db'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  stores.options = []
})

/** A memory store in place of a durable one. */
function durable(changes: object = {}) {
  return { ...memoryStore(), ...changes }
}

async function served(argv: readonly string[], env: Record<string, string>, create: () => unknown) {
  stores.create = create
  const { io, written } = testIo(env)
  const serving = await serve(['--port', '0', '--log', 'json', ...argv], io).then(
    (serving) => {
      cleanups.push(() => serving.close())
      return serving
    },
    (thrown: HookswitchError) => thrown,
  )
  const lines = written.stderr.split('\n').filter((line) => line !== '')
  return { serving, written, log: lines.map((line): Record<string, unknown> => JSON.parse(line)) }
}

describe('serve stores data', () => {
  it('in memory, with a warning, without loading another store', async () => {
    const { log } = await served(['--memory'], {}, durable)
    expect(stores.loaded).toEqual([])
    expect(log).toContainEqual(expect.objectContaining({ message: 'listening', store: 'memory' }))
    expect(log.filter(({ level }) => level === 'warn')).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/kept in memory/) }),
      expect.objectContaining({ message: expect.stringMatching(/there is no account/) }),
    ])
  })

  it('in a file, and logs its path', async () => {
    const { log, written } = await served(['--data', NOWHERE], {}, durable)
    expect(stores.options).toEqual([{ path: NOWHERE }])
    expect(log).toContainEqual(
      expect.objectContaining({ message: 'listening', store: 'sqlite', path: NOWHERE }),
    )
    expect(written.stderr).not.toMatch(/in memory/)
    expect(stores.loaded).toEqual(['sqlite'])
  })

  it.each<[string, readonly string[], Record<string, string>]>([
    ['of the flag', ['--postgres', DATABASE], {}],
    ['of the environment', [], { HOOKSWITCH_POSTGRES: DATABASE }],
  ])('in the database %s, and logs host and database without user and password', async (_, argv, env) => {
    const { log, written } = await served(argv, { ...env, HOOKSWITCH_SECRET: SECRET }, durable)
    expect(stores.options).toEqual([{ connectionString: DATABASE }])
    const target = { store: 'postgres', host: 'db.example:5433', database: 'calls' }
    expect(log).toContainEqual(expect.objectContaining({ message: 'listening', ...target }))
    expect(written.stderr).not.toMatch(/in memory|hunter2|hookswitch:/)
  })

  it('in a schema of the database', async () => {
    const { log } = await served(
      ['--postgres', DATABASE, '--schema', 'eu'],
      { HOOKSWITCH_SECRET: SECRET },
      durable,
    )
    expect(stores.options).toEqual([{ connectionString: DATABASE, schema: 'eu' }])
    expect(log).toContainEqual(expect.objectContaining({ message: 'listening', schema: 'eu' }))
  })
})

describe('serve creates the accounts of its file', () => {
  it('even while another node that starts at the same time creates the same ones', async () => {
    const store = durable()
    const createdElsewhere = new Set<string>()
    const insert: typeof store.accounts.insert = async (account, apiKey, users) => {
      await store.accounts.insert(account, apiKey, users)
      if (createdElsewhere.has(account.id)) return
      createdElsewhere.add(account.id)
      throw new HookswitchError('Conflict', 'id: this id is taken', { field: 'id' })
    }
    const create = () => ({ ...store, accounts: { ...store.accounts, insert } })
    const { log } = await served(['--data', NOWHERE, '--accounts', ACCOUNTS], {}, create)
    expect(log).toContainEqual(expect.objectContaining({ message: 'listening', accounts: 3 }))
    expect([...createdElsewhere]).toHaveLength(3)
  })
})

const storeError = (
  code: 'InvalidOption' | 'StoreUnavailable' | 'StoreCorrupt',
  text: string,
  field?: string,
) => {
  return new HookswitchError(code, text, field === undefined ? {} : { field })
}
const openFailsWith = (thrown: Error) => () => durable({ open: () => Promise.reject(thrown) })
const createFailsWith = (thrown: Error) => () => {
  throw thrown
}

describe('serve names the flag of the store in the errors', () => {
  it.each<[string, readonly string[], () => unknown, RegExp]>([
    [
      'of its creation',
      ['--data', NOWHERE],
      createFailsWith(storeError('InvalidOption', 'path: must be a file', 'path')),
      /^--data: must be a file$/,
    ],
    [
      'of its opening',
      ['--data', NOWHERE],
      openFailsWith(storeError('StoreUnavailable', 'the folder of /nowhere/calls.db does not exist')),
      /^--data: the folder of \/nowhere\/calls\.db does not exist$/,
    ],
    [
      'of a damaged file',
      ['--data', NOWHERE],
      openFailsWith(storeError('StoreCorrupt', '/nowhere/calls.db is not a SQLite file')),
      /^--data: \/nowhere\/calls\.db is not a SQLite file$/,
    ],
    [
      'of a database',
      ['--postgres', DATABASE],
      openFailsWith(storeError('StoreUnavailable', 'the password is wrong')),
      /^--postgres: the password is wrong$/,
    ],
    [
      'of a schema',
      ['--postgres', DATABASE, '--schema', 'A-B'],
      createFailsWith(storeError('InvalidOption', 'schema must be a name', 'schema')),
      /^--schema: must be a name$/,
    ],
    [
      'of the accounts created at start',
      ['--data', NOWHERE, '--accounts', ACCOUNTS],
      () => {
        const store = durable()
        const insert = () => Promise.reject(storeError('StoreUnavailable', 'the disk is full'))
        return { ...store, accounts: { ...store.accounts, insert } }
      },
      /^--data: the disk is full$/,
    ],
  ])('%s', async (_, argv, create, sentence) => {
    const { serving, written } = await served(argv, { HOOKSWITCH_SECRET: SECRET }, create)
    expect(written.stdout).toBe('')
    expect((serving as Error).message).toMatch(sentence)
    expect(errorCode(serving)).toMatch(/^(InvalidOption|Store)/)
  })

  it('and the variable where the URL came from the environment', async () => {
    const env = { HOOKSWITCH_POSTGRES: DATABASE, HOOKSWITCH_SECRET: SECRET }
    const { serving } = await served([], env, openFailsWith(storeError('StoreUnavailable', 'it is too old')))
    expect(serving).toMatchObject({ message: 'HOOKSWITCH_POSTGRES: it is too old', code: 'StoreUnavailable' })
  })

  it('but leaves internal errors unchanged', async () => {
    const { serving } = await served(['--data', NOWHERE], {}, openFailsWith(new TypeError('a fault')))
    expect(serving).toMatchObject({ name: 'TypeError', message: 'a fault' })
  })

  it('and creates no PostgreSQL store without a secret', async () => {
    const { serving } = await served(['--postgres', DATABASE], {}, durable)
    expect((serving as Error).message).toMatch(/^HOOKSWITCH_SECRET: is required with PostgreSQL/)
    expect(stores.options).toEqual([])
  })
})
