import { errorCode } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { chooseStore, targetOf } from '../../../adapters/cli/store-options.js'
import { type GivenFlags, settingsOf } from './settings-of.js'

type Environment = Readonly<Record<string, string>>

const choose = async (flags: GivenFlags, env: Environment = {}) => chooseStore(await settingsOf(flags, env))

const URL_OF = { A: 'postgres://user:hunter2@a.example/calls', B: 'postgresql://b.example:5433/calls' }
const IN_ENVIRONMENT = { HOOKSWITCH_POSTGRES: URL_OF.B }

describe('chooseStore', () => {
  it('chooses a file in the working directory by default', async () => {
    expect(await choose({})).toEqual({ store: 'sqlite', path: './hookswitch.db' })
  })

  it.each<[string, GivenFlags, Environment, object]>([
    ['--data', { data: 'calls.db' }, {}, { store: 'sqlite', path: 'calls.db' }],
    ['--memory', { memory: true }, {}, { store: 'memory' }],
    [
      '--postgres',
      { postgres: URL_OF.A },
      {},
      { store: 'postgres', flag: '--postgres', connectionString: URL_OF.A },
    ],
    [
      '--schema beside --postgres',
      { postgres: URL_OF.A, schema: 'calls' },
      {},
      { store: 'postgres', flag: '--postgres', connectionString: URL_OF.A, schema: 'calls' },
    ],
    [
      'HOOKSWITCH_POSTGRES',
      { schema: 'calls' },
      IN_ENVIRONMENT,
      { store: 'postgres', flag: 'HOOKSWITCH_POSTGRES', connectionString: URL_OF.B, schema: 'calls' },
    ],
    [
      '--postgres rather than the environment',
      { postgres: URL_OF.A },
      IN_ENVIRONMENT,
      { store: 'postgres', flag: '--postgres', connectionString: URL_OF.A },
    ],
    [
      '--data rather than the environment',
      { data: 'calls.db' },
      IN_ENVIRONMENT,
      { store: 'sqlite', path: 'calls.db' },
    ],
    ['--memory rather than the environment', { memory: true }, IN_ENVIRONMENT, { store: 'memory' }],
  ])('follows %s', async (_, flags, env, choice) => {
    expect(await choose(flags, env)).toEqual(choice)
  })

  it.each<[GivenFlags, Environment, string, RegExp]>([
    [{ data: 'x', memory: true }, {}, '--memory', /cannot be combined with --data/],
    [{ data: 'x', postgres: URL_OF.A }, {}, '--postgres', /cannot be combined with --data/],
    [{ postgres: URL_OF.A, memory: true }, {}, '--memory', /cannot be combined with --postgres/],
    [{ data: 'x', postgres: URL_OF.A, memory: true }, {}, '--postgres', /cannot be combined with --data/],
    [{ schema: 'calls' }, {}, '--schema', /is for PostgreSQL/],
    [{ schema: 'calls', memory: true }, IN_ENVIRONMENT, '--schema', /is for PostgreSQL/],
    [{ schema: 'calls', data: 'x' }, IN_ENVIRONMENT, '--schema', /is for PostgreSQL/],
    [{ data: '' }, {}, '--data', /must not be empty/],
    [{ data: ':memory:' }, {}, '--data', /use --memory/],
    [{ data: URL_OF.A }, {}, '--data', /a URL belongs to --postgres/],
    [{}, { HOOKSWITCH_POSTGRES: '' }, 'HOOKSWITCH_POSTGRES', /must not be empty/],
    [
      {},
      { ...IN_ENVIRONMENT, HOOKSWITCH_DATA: 'x' },
      'HOOKSWITCH_POSTGRES',
      /cannot be combined with HOOKSWITCH_DATA/,
    ],
  ])('rejects %o with %o in one sentence that begins with the flag', async (flags, env, name, problem) => {
    const error = await errorOf(flags, env)
    expect(error).toMatchObject({ code: 'InvalidOption', field: name })
    const { message } = error
    expect(message).toMatch(problem)
    expect(message.startsWith(`${name}: `)).toBe(true)
    expect(message).not.toMatch(/\n|hunter2/)
  })

  it.each([
    '',
    'calls',
    'localhost:5432/calls',
    'mysql://user:hunter2@db/calls',
    'host=db user=x password=hunter2',
    'postgres:',
    'postgres://user:hunter#2@db/calls',
    'postgres://user:12#hunter2@db/calls',
    'postgres://user:12/hunter2@db/calls',
    'postgres://user:12?hunter2@db/calls',
    'postgres://user:hunter2@db/%E0%A4%A',
    'postgres://a:1,b:2/calls',
    'postgres://user:hunter2@a,b/calls',
    'postgres:///calls?host=a,b&password=hunter2',
    'postgres://user:hunter@/2@db/calls',
    'socket:hunter2',
    'socket://user:hunter2@/run@db/folder?db=calls',
  ])("rejects '%s' as the URL of a database, without quoting it", async (postgres) => {
    const { message } = await errorOf({ postgres }, {})
    expect(message).toMatch(
      /^--postgres: must be a URL like postgres:\/\/user:password@host:5432\/database, /,
    )
    expect(message).not.toContain('hunter')
  })
})

async function errorOf(flags: GivenFlags, env: Environment): Promise<Error> {
  try {
    await choose(flags, env)
  } catch (thrown) {
    expect(errorCode(thrown)).toBe('InvalidOption')
    return thrown as Error
  }
  throw new Error('accepted')
}

describe('targetOf', () => {
  it.each([
    ['postgres://hookswitch:hunter2@db.example/calls', { host: 'db.example', database: 'calls' }],
    [
      'postgres://hookswitch:h%40%23@db.example:5433/calls?sslmode=require',
      { host: 'db.example:5433', database: 'calls' },
    ],
    ['postgres://hookswitch:hunter2@[::1]:5433', { host: '[::1]:5433' }],
    [
      'postgres:///calls?host=/var/run/postgresql&password=hunter2&user=hookswitch',
      {
        host: '/var/run/postgresql',
        database: 'calls',
      },
    ],
    [
      'postgres://hookswitch:hunter2@%2Fvar%2Frun%2Fpostgresql/calls',
      {
        host: '/var/run/postgresql',
        database: 'calls',
      },
    ],
    ['postgresql:///', {}],
    [
      'postgresql://user:hunter2@/calls?host=/cloudsql/project:region:instance',
      { host: '/cloudsql/project:region:instance', database: 'calls' },
    ],
    ['postgres://user:hunter2@/calls', { database: 'calls' }],
    [
      'postgres://user:hunter2@/calls?host=db.example&port=5433',
      { host: 'db.example:5433', database: 'calls' },
    ],
    ['postgres://user:hunter2@db.example/calls?port=5433', { host: 'db.example:5433', database: 'calls' }],
    ['postgres:/calls', { database: 'calls' }],
    ['POSTGRESQL://db.example/calls', { host: 'db.example', database: 'calls' }],
    ['postgres://user:hunter2@db.example/my%20calls', { host: 'db.example', database: 'my calls' }],
    ['postgres://user:hunter%2F2@db.example/calls', { host: 'db.example', database: 'calls' }],
    ['socket:/var/run/postgresql?db=calls', { host: '/var/run/postgresql', database: 'calls' }],
    [
      'socket://user:hunter2@/var/run/postgresql?db=calls',
      { host: '/var/run/postgresql', database: 'calls' },
    ],
    ['/var/run/postgresql calls', { host: '/var/run/postgresql', database: 'calls' }],
  ])('%s', async (postgres, target) => {
    const choice = await choose({ postgres })
    expect(choice.store === 'postgres' && targetOf(choice)).toEqual(target)
  })
})
