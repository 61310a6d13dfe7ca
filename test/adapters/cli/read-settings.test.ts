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

  it.each([
    [['--prot', '1'], '--prot', /unknown \(did you mean '--port'\?\), see/],
    [['-p', '1'], '-p', /unknown, see/],
    [['extra'], 'extra', /is not a flag/],
    [['--port'], '--port', /needs a value/],
    [['--port', '--memory'], '--port', /needs a value/],
    [['--port', '70000'], '--port', /from 0 to 65535, not '70000'/],
    [['--port', '0x10'], '--port', /integer/],
    [['--port', '-1'], '--port', /integer/],
    [['--port', '1.5'], '--port', /integer/],
    [['--port='], '--port', /integer/],
    [['--port', '1', '--port', '2'], '--port', /twice/],
    [['--token-ttl', '1', '--token-ttl-seconds', '2'], '--token-ttl', /twice, also as --token-ttl-seconds/],
    [['--host='], '--host', /empty/],
    [['--memory=yes'], '--memory', /takes no value/],
    [['--no-memory'], '--no-memory', /unknown, see/],
    [['--ingest', '--no-ingest'], '--no-ingest', /cannot be combined with --ingest/],
    [['--secret', 'x'], '--secret', /unknown/],
    [['--accounts-file', 'a.json'], '--accounts-file', /did you mean '--accounts'\?/],
    [['--token-ttl', '0'], '--token-ttl', /from 1 to 315360000, not '0'/],
    [['--token-ttl', '1d'], '--token-ttl', /integer/],
    [['--login-burst', 'many'], '--login-burst', /a number of at least 1 or unlimited, not 'many'/],
    [['--cors', 'ui.example.com'], '--cors', /must be an origin .*, not 'ui.example.com'/],
    [['--cors', '*', '--cors', 'https://ui.example.com/'], '--cors', /must be an origin/],
    [['--preset', 'kazu'], '--preset', /must be kazoo, not 'kazu'/],
    [['--log', 'xml'], '--log', /json or pretty/],
    [['--data'], '--data', /needs a value/],
    [['--data', 'a.db', '--data', 'b.db'], '--data', /twice/],
    [['--schema', '--memory'], '--schema', /needs a value/],
    [
      ['--auto-disable', '{"kind":"burst","failures":0,"withinMs":1}'],
      '--auto-disable: failures',
      /an integer from 1 to 1000000, not '0'/,
    ],
    [
      ['--auto-disable', '{"kind":"silent","aftrMs":5}'],
      '--auto-disable: aftrMs',
      /is unknown \(did you mean 'afterMs'\?\)/,
    ],
    [['--auto-disable', '{"kind'], '--auto-disable', /must be false or an object/],
    [['--pauses=5'], '--pauses', /./],
    [['--default-retries', '31'], '--default-retries', /an integer from 0 to 30, not '31'/],
    [['--default-rate-limit', '0'], '--default-rate-limit', /from 0.001 to 10000, not '0'/],
    [['--default-rate-limit', '10001'], '--default-rate-limit', /from 0.001 to 10000, not '10001'/],
    [['--ordering-patience-seconds', '-1'], '--ordering-patience-seconds', /./],
    [['--probe-sockets', '0'], '--probe-sockets', /an integer from 1 to 100000, not '0'/],
    [['--retry-policy', '{"kind":"constant"}'], '--retry-policy: delayMs', /is required/],
    [['--retry-policy', '{"kind":"custom"}'], '--retry-policy: kind', /exponential, constant or schedule/],
    [['--hooks', '[{"name":"x"}]'], '--hooks: [0].id', /is required/],
    [
      ['--config', '/nowhere/h.yaml'],
      '--config',
      /nowhere\/h\.yaml: cannot be read \(there is no such file\)/,
    ],
  ])('reject %j in one sentence that begins with the flag', async (argv, flag, problem) => {
    const error = await errorOf(argv)
    expect(error.field).toBe(flag)
    expect(error.message).toMatch(problem)
    expect(error.message.startsWith(`${flag}: `)).toBe(true)
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

  it.each([
    [
      { HOOKSWITCH_PORT: 'tcp://10.0.0.1:80' },
      /^HOOKSWITCH_PORT: must be an integer from 0 to 65535, not 't/,
    ],
    [{ HOOKSWITCH_INGEST: 'yes' }, /^HOOKSWITCH_INGEST: must be true or false, not 'yes'$/],
    [{ HOOKSWITCH_ALLOW: '10.0.0.0/8,pbx' }, /^HOOKSWITCH_ALLOW: must be a host, .*, not '10/],
    [{ HOOKSWITCH_CORS: '' }, /^HOOKSWITCH_CORS: must not be empty$/],
    [{ HOOKSWITCH_PAUSES: 'no' }, /^HOOKSWITCH_PAUSES: must be true or false, not 'no'$/],
    [{ HOOKSWITCH_AUTO_DISABLE: 'true' }, /^HOOKSWITCH_AUTO_DISABLE: must be false or an object/],
  ])('%j is rejected in one sentence', async (env, sentence) => {
    expect((await errorOf([], env)).message).toMatch(sentence)
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

  it.each([
    ['a.json', '{"port": 70000}', ':1:10: port: must be an integer from 0 to 65535'],
    ['a.json', '{\n  "prot": 1\n}', ":2:3: prot: is unknown (did you mean 'port'?)"],
    ['a.json', '{"tls": {"cafile": "x"}}', ":1:10: tls.cafile: is unknown (did you mean 'caFile'?)"],
    ['a.json', '{"tls": true}', ':1:9: tls: must be an object'],
    ['a.json', '{"config": "b.json"}', ':1:2: config: is unknown'],
    ['a.json', '[]', ':1:1: must be an object of settings'],
    ['a.json', '', ':1:1: is not JSON: the text ends too early'],
    ['a.json', '{"port": 1,}', ':1:12: is not JSON: expected double-quoted property name'],
    ['a.json', '{"port": 1, "port": 2}', ':1:13: is not JSON: a key occurs twice'],
    ['a.json', '{"secret": "hunter2"}', ':1:12: secret: must be a key of at least 16 characters'],
    ['a.json', '{"secret": hunter2}', ':1:12: is not JSON: a value is expected'],
    [
      'a.json',
      '{"kamailio": [{"adress": "p"}]}',
      ":1:16: kamailio[0].adress: is unknown (did you mean 'address'?)",
    ],
    ['a.json', '{"kamailio": [{}]}', ':1:15: kamailio[0].address: is required'],
    ['a.json', '{"kamailio": [7]}', ':1:15: kamailio[0]: must be an address, or an object with an address'],
    ['a.yaml', 'port: 1\nport: 2\n', ':2:1: is not YAML: duplicate key'],
    ['a.yaml', 'port: *p\n', ':1:7: is not YAML: an alias names no anchor'],
    ['a.yaml', 'port: !!x 1\n', ':1:7: is not YAML: tag resolve failed'],
    ['a.yaml', 'log:\n  - json\n', ':2:3: log: must be json or pretty'],
    ['a.yaml', 'port:\n', ':1:6: port: must be an integer from 0 to 65535'],
    [
      'a.yaml',
      `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c]\n`,
      ':1:1: is not YAML: its aliases repeat too much',
    ],
    ['a.yaml', 'b: &b {failures: 0}\n', ':1:1: b: is unknown'],
    [
      'a.yaml',
      'freeswitch:\n  - address: pbx\n    silenceMs: 5\n',
      ':3:16: freeswitch[0].silenceMs: must be an',
    ],
  ])('%s with %j is rejected with its place', async (name, content, sentence) => {
    const path = await folder.write(name, content)
    const { message } = await errorOf(['--config', path])
    expect(message.startsWith(`${path}${sentence}`), message).toBe(true)
    expect(message).not.toContain('hunter2')
  })
})
