import { errorCode, type HookswitchError } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { SERVE_HELP } from '../../../adapters/cli/help.js'
import { readSettings } from '../../../adapters/cli/read-settings.js'
import { flagOf, variableOf } from '../../../adapters/cli/setting-names.js'
import { SETTING_NAMES, settingOf } from '../../../adapters/cli/settings.js'
import { testFolder } from './files.js'

const folder = testFolder()

async function errorOf(argv: readonly string[], env: Record<string, string> = {}): Promise<HookswitchError> {
  const thrown = await readSettings(argv, env).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (errorCode(thrown) !== 'InvalidOption') throw new Error(`${argv.join(' ')} was accepted`)
  expect((thrown as Error).message).not.toMatch(/\n|\. \S/)
  return thrown as HookswitchError
}

describe('flags', () => {
  it('default to loopback addresses and port 8000', async () => {
    const { values, originOf } = await readSettings([], {})
    expect(values).toMatchObject({ port: 8000, host: '127.0.0.1', adminHost: '127.0.0.1', logLevel: 'info' })
    expect([values.adminPort, values.data, values.memory]).toEqual([undefined, undefined, undefined])
    expect([originOf('port'), originOf('adminPort')]).toEqual([{ source: 'default' }, undefined])
  })

  it('are read in both notations', async () => {
    const argv =
      '--port=0 --host ::1 --memory --accounts a.json --token-ttl 60 --preset kazoo --ingest --allow-local'
    const more =
      '--log json --cors https://ui.example.com --allow 10.0.0.0/8 --allow=pbx --trust-proxy 192.0.2.0/24'
    const switches =
      '--freeswitch pbx --freeswitch-outbound 0.0.0.0 --asterisk-ami u@a --asterisk-ami=u@b --kamailio k:1 --account-from realm'
    const rules = '--retry-policy patient --auto-disable false --login-burst unlimited --no-record-successes'
    const { values } = await readSettings(
      [
        ...`${argv} ${more} ${switches} ${rules} --admin-port 9000`.split(' '),
        '--no-pauses',
        '--no-restrict-users',
        '--ordering-patience-seconds=0',
        '--probe-sockets=7',
        '--default-rate-limit=0.5',
        '--retention-days=0.5',
      ],
      {},
    )
    expect(values).toMatchObject({
      port: 0,
      host: '::1',
      memory: true,
      accounts: 'a.json',
      tokenTtlSeconds: 60,
      preset: 'kazoo',
      ingest: true,
      allowLocal: true,
      log: 'json',
      cors: ['https://ui.example.com'],
      allow: ['10.0.0.0/8', 'pbx'],
      trustProxy: ['192.0.2.0/24'],
      freeswitch: ['pbx'],
      freeswitchOutbound: ['0.0.0.0'],
      asteriskAmi: ['u@a', 'u@b'],
      kamailio: ['k:1'],
      accountFrom: 'realm',
      loginBurst: 'unlimited',
      retryPolicy: 'patient',
      autoDisable: false,
      pauses: false,
      restrictUsers: false,
      orderingPatienceSeconds: 0,
      probeSockets: 7,
      defaultRateLimit: 0.5,
      recordSuccesses: false,
      retentionDays: 0.5,
      adminPort: 9000,
    })
  })

  it('do not quote a URL that was given without its flag, nor a secret', async () => {
    const { message } = await errorOf(['postgres://hookswitch:hunter2@db/calls'])
    expect(message).toBe("postgres://…: is not a flag, see 'hookswitch serve --help'")
    expect((await errorOf([], { HOOKSWITCH_SECRET: 'hunter2' })).message).not.toContain('hunter2')
    expect((await errorOf(['--freeswitch', ''])).message).toMatch(/^--freeswitch: must be an address/)
  })

  it('are all in the help, and so are the variables of the others', () => {
    for (const name of SETTING_NAMES) {
      const text = settingOf(name).hasFlag === false ? variableOf(name) : flagOf(name)
      expect(SERVE_HELP).toMatch(new RegExp(`^  ${text}\\b`, 'm'))
    }
    expect(SERVE_HELP.split('\n').filter((line) => line.length > 120)).toEqual([])
  })
})

describe('the names of a setting', () => {
  it('follow one rule', () => {
    expect([flagOf('tls.caFile'), variableOf('tls.caFile')]).toEqual([
      '--tls-ca-file',
      'HOOKSWITCH_TLS_CA_FILE',
    ])
    expect([flagOf('amiSecret'), variableOf('amiSecret')]).toEqual(['--ami-secret', 'HOOKSWITCH_AMI_SECRET'])
  })

  it('are unique', () => {
    expect(new Set(SETTING_NAMES.map(flagOf)).size).toBe(SETTING_NAMES.length)
    expect(new Set(SETTING_NAMES.map(variableOf)).size).toBe(SETTING_NAMES.length)
  })
})

describe('variables', () => {
  it('hold numbers, true and false, lists separated by spaces, and JSON', async () => {
    const { values } = await readSettings([], {
      HOOKSWITCH_PORT: '81',
      HOOKSWITCH_INGEST: 'true',
      HOOKSWITCH_RECORD_SUCCESSES: 'false',
      HOOKSWITCH_ALLOW: ' 10.0.0.0/8  pbx ',
      HOOKSWITCH_KAMAILIO: '["proxy"]',
      HOOKSWITCH_PAUSES: 'false',
      HOOKSWITCH_DEFAULT_RATE_LIMIT: '2.5',
      HOOKSWITCH_ORDERING_PATIENCE_SECONDS: '0',
      HOOKSWITCH_PROBE_SOCKETS: '7',
      HOOKSWITCH_SECRET: '["first key, 16 or more", "second key, 16 or more"]',
    })
    expect(values).toMatchObject({
      port: 81,
      ingest: true,
      recordSuccesses: false,
      allow: ['10.0.0.0/8', 'pbx'],
      kamailio: ['proxy'],
      pauses: false,
      defaultRateLimit: 2.5,
      orderingPatienceSeconds: 0,
      probeSockets: 7,
      secret: ['first key, 16 or more', 'second key, 16 or more'],
    })
  })
})

describe('variables with secrets', () => {
  it('may name a file with the secret; one line break at its end is not part of it', async () => {
    const { values, nameOf } = await readSettings([], {
      HOOKSWITCH_SECRET_FILE: await folder.write('secret', 'a secret of a file\n'),
      HOOKSWITCH_POSTGRES_FILE: await folder.write('url', 'postgres://u:p@db/calls\r\n'),
      HOOKSWITCH_AMI_SECRET_FILE: await folder.write('ami', ' with spaces '),
    })
    expect(values).toMatchObject({
      secret: 'a secret of a file',
      postgres: 'postgres://u:p@db/calls',
      amiSecret: ' with spaces ',
    })
    expect(nameOf('secret')).toBe('HOOKSWITCH_SECRET_FILE')
  })

  it('may hold those of a switch and of the commands under any name', async () => {
    const { values } = await readSettings(
      ['--freeswitch', 'pbx?password-env=HOOKSWITCH_PBX1&account-from=realm'],
      { HOOKSWITCH_PBX1: 'p', HOOKSWITCH_URL: 'http://x', HOOKSWITCH_API_KEY_FILE: '/run/key' },
    )
    expect(values.freeswitch).toHaveLength(1)
  })
})

describe('the configuration file', () => {
  it('is weaker than variables, which are weaker than flags', async () => {
    const path = await folder.write('c.yaml', 'port: 1\nhost: a\nlogLevel: warn\ncors: [https://a.example]\n')
    const env = { HOOKSWITCH_CONFIG: path, HOOKSWITCH_PORT: '2', HOOKSWITCH_HOST: 'b' }
    const { values, originOf, labelOf, nameOf } = await readSettings(['--port', '3'], env)
    expect(values).toMatchObject({ port: 3, host: 'b', logLevel: 'warn', cors: ['https://a.example'] })
    expect([originOf('port'), originOf('host'), originOf('logLevel')]).toEqual([
      { source: 'flag', name: '--port' },
      { source: 'variable', name: 'HOOKSWITCH_HOST' },
      { source: 'file', file: path, line: 3, column: 1 },
    ])
    expect([labelOf('port'), labelOf('host'), labelOf('logLevel'), labelOf('cors', [0])]).toEqual([
      '--port',
      'HOOKSWITCH_HOST',
      `${path}:3:11: logLevel`,
      `${path}:4:8: cors[0]`,
    ])
    expect([nameOf('port'), nameOf('host'), nameOf('logLevel')]).toEqual([
      '--port',
      'HOOKSWITCH_HOST',
      'logLevel',
    ])
  })

  it('of --config replaces that of HOOKSWITCH_CONFIG', async () => {
    const env = { HOOKSWITCH_CONFIG: await folder.write('a.json', '{"port": 1}') }
    const { values } = await readSettings(['--config', await folder.write('b.json', '{"host": "b"}')], env)
    expect([values.port, values.host]).toEqual([8000, 'b'])
  })

  it('may begin with a byte order mark, name its schema, or hold comments only', async () => {
    const json = await folder.write('a.json', '\uFEFF{"$schema": "hookswitch/config.schema.json", "port": 1}')
    expect((await readSettings(['--config', json], {})).values.port).toBe(1)
    const yaml = await folder.write('a.yml', '# port: 1\n')
    expect((await readSettings(['--config', yaml], {})).values.port).toBe(8000)
  })

  it('may name another store than a stronger source', async () => {
    const path = await folder.write('c.json', '{"postgres": "postgres://db/calls", "schema": "calls"}')
    const { values } = await readSettings(['--config', path, '--memory'], {})
    expect([values.memory, values.postgres, values.schema]).toEqual([true, undefined, undefined])
    const env = { HOOKSWITCH_POSTGRES: 'postgres://other/calls' }
    const other = await readSettings(['--config', path], env)
    expect([other.values.postgres, other.values.schema]).toEqual([env.HOOKSWITCH_POSTGRES, 'calls'])
  })
})
