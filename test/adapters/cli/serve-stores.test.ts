import { fileURLToPath } from 'node:url'
import { errorCode, HookswitchError, memoryStore } from 'hookswitch'
import { serve } from 'hookswitch/cli'
import { afterEach, describe, expect, it, vi } from 'vitest'

/** What the stores of this test are made of, and what they were asked for. */
const stores = vi.hoisted(() => ({
  loaded: [] as string[],
  asked: [] as object[],
  make: undefined as undefined | (() => unknown),
}))
const fake = (name: string) => {
  stores.loaded.push(name)
  return (options: object) => {
    stores.asked.push(options)
    return stores.make?.()
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
  stores.asked = []
})

/** A store that lives in memory and calls itself something else. */
function lasting(changes: object = {}) {
  return { ...memoryStore(), ...changes }
}

async function served(argv: readonly string[], env: Record<string, string>, make: () => unknown) {
  stores.make = make
  const written = { stdout: '', stderr: '' }
  const sink = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => {
      written[name] += text
    },
  })
  const io = { stdout: sink('stdout'), stderr: sink('stderr'), env }
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

describe('serve keeps everything', () => {
  it('in memory, with a warning, and loads no other store for it', async () => {
    const { log } = await served(['--memory'], {}, lasting)
    expect(stores.loaded).toEqual([])
    expect(log).toContainEqual(expect.objectContaining({ message: 'listening', store: 'memory' }))
    expect(log.filter(({ level }) => level === 'warn')).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/kept in memory/) }),
    ])
  })

  it('in a file, and says which', async () => {
    const { log, written } = await served(['--data', NOWHERE], {}, lasting)
    expect(stores.asked).toEqual([{ path: NOWHERE }])
    expect(log).toContainEqual(
      expect.objectContaining({ message: 'listening', store: 'sqlite', path: NOWHERE }),
    )
    expect(written.stderr).not.toMatch(/in memory/)
    expect(stores.loaded).toEqual(['sqlite'])
  })

  it.each<[string, readonly string[], Record<string, string>]>([
    ['of the flag', ['--postgres', DATABASE], {}],
    ['of the environment', [], { HOOKSWITCH_POSTGRES: DATABASE }],
  ])('in the database %s, and says which without user and password', async (_, argv, env) => {
    const { log, written } = await served(argv, { ...env, HOOKSWITCH_SECRET: SECRET }, lasting)
    expect(stores.asked).toEqual([{ connectionString: DATABASE }])
    const place = { store: 'postgres', host: 'db.example:5433', database: 'calls' }
    expect(log).toContainEqual(expect.objectContaining({ message: 'listening', ...place }))
    expect(written.stderr).not.toMatch(/in memory|hunter2|hookswitch:/)
  })

  it('in a schema of the database', async () => {
    const { log } = await served(
      ['--postgres', DATABASE, '--schema', 'eu'],
      { HOOKSWITCH_SECRET: SECRET },
      lasting,
    )
    expect(stores.asked).toEqual([{ connectionString: DATABASE, schema: 'eu' }])
    expect(log).toContainEqual(expect.objectContaining({ message: 'listening', schema: 'eu' }))
  })
})

describe('serve brings the accounts of its file in', () => {
  it('also while another node, which started at the same moment, creates the same ones', async () => {
    const store = lasting()
    const quicker = new Set<string>()
    const insert: typeof store.accounts.insert = async (account, apiKey, users) => {
      await store.accounts.insert(account, apiKey, users)
      if (quicker.has(account.id)) return
      quicker.add(account.id)
      throw new HookswitchError('Conflict', 'id: this id is taken', { field: 'id' })
    }
    const make = () => ({ ...store, accounts: { ...store.accounts, insert } })
    const { log } = await served(['--data', NOWHERE, '--accounts', ACCOUNTS], {}, make)
    expect(log).toContainEqual(expect.objectContaining({ message: 'listening', accounts: 3 }))
    expect([...quicker]).toHaveLength(3)
  })
})

const refuse = (
  code: 'InvalidOption' | 'StoreUnavailable' | 'StoreCorrupt',
  text: string,
  field?: string,
) => {
  return new HookswitchError(code, text, field === undefined ? {} : { field })
}
const opensWith = (thrown: Error) => () => lasting({ open: () => Promise.reject(thrown) })
const madeWith = (thrown: Error) => () => {
  throw thrown
}

describe('serve puts what a store says under the flag that named it', () => {
  it.each<[string, readonly string[], () => unknown, RegExp]>([
    [
      'when it is made',
      ['--data', NOWHERE],
      madeWith(refuse('InvalidOption', 'path: must be a file', 'path')),
      /^--data: must be a file$/,
    ],
    [
      'when it is opened',
      ['--data', NOWHERE],
      opensWith(refuse('StoreUnavailable', 'the folder of /nowhere/calls.db is not there')),
      /^--data: the folder of \/nowhere\/calls\.db is not there$/,
    ],
    [
      'of a file that is damaged',
      ['--data', NOWHERE],
      opensWith(refuse('StoreCorrupt', '/nowhere/calls.db is no SQLite file')),
      /^--data: \/nowhere\/calls\.db is no SQLite file$/,
    ],
    [
      'of a database',
      ['--postgres', DATABASE],
      opensWith(refuse('StoreUnavailable', 'the password is wrong')),
      /^--postgres: the password is wrong$/,
    ],
    [
      'of a schema',
      ['--postgres', DATABASE, '--schema', 'A-B'],
      madeWith(refuse('InvalidOption', 'schema must be a name', 'schema')),
      /^--schema: must be a name$/,
    ],
    [
      'of the accounts, which are brought in at the start',
      ['--data', NOWHERE, '--accounts', ACCOUNTS],
      () => {
        const store = lasting()
        const insert = () => Promise.reject(refuse('StoreUnavailable', 'the disk is full'))
        return { ...store, accounts: { ...store.accounts, insert } }
      },
      /^--data: the disk is full$/,
    ],
  ])('%s', async (_, argv, make, sentence) => {
    const { serving, written } = await served(argv, { HOOKSWITCH_SECRET: SECRET }, make)
    expect(written.stdout).toBe('')
    expect((serving as Error).message).toMatch(sentence)
    expect(errorCode(serving)).toMatch(/^(InvalidOption|Store)/)
  })

  it('under the variable, where the database came from the environment', async () => {
    const env = { HOOKSWITCH_POSTGRES: DATABASE, HOOKSWITCH_SECRET: SECRET }
    const { serving } = await served([], env, opensWith(refuse('StoreUnavailable', 'it is too old')))
    expect(serving).toMatchObject({ message: 'HOOKSWITCH_POSTGRES: it is too old', code: 'StoreUnavailable' })
  })

  it('and no error of its own', async () => {
    const { serving } = await served(['--data', NOWHERE], {}, opensWith(new TypeError('a fault')))
    expect(serving).toMatchObject({ name: 'TypeError', message: 'a fault' })
  })

  it('asks no database without a secret for it', async () => {
    const { serving } = await served(['--postgres', DATABASE], {}, lasting)
    expect((serving as Error).message).toMatch(/^HOOKSWITCH_SECRET: is needed with PostgreSQL/)
    expect(stores.asked).toEqual([])
  })
})
