import { errorCode } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { parseServeFlags } from '../../../adapters/cli/flags.js'
import { SERVE_HELP } from '../../../adapters/cli/help.js'

function errorOf(argv: readonly string[]): Error & { field?: string } {
  try {
    parseServeFlags(argv)
  } catch (thrown) {
    expect(errorCode(thrown)).toBe('InvalidOption')
    return thrown as Error
  }
  throw new Error(`${argv.join(' ')} was accepted`)
}

describe('parseServeFlags', () => {
  it('defaults to a loopback address and port 8000', () => {
    expect(parseServeFlags([])).toEqual({
      port: 8000,
      host: '127.0.0.1',
      memory: false,
      ingest: false,
      allowLocal: false,
      cors: [],
      allow: [],
      trustProxy: [],
      operators: [],
      accountsPrune: false,
      freeswitch: [],
      freeswitchOutbound: [],
      asteriskAmi: [],
      asteriskAri: [],
      kamailio: [],
    })
  })

  it('reads every flag, in both notations', () => {
    const argv =
      '--port=0 --host ::1 --memory --accounts a.json --token-ttl 60 --preset kazoo --ingest --allow-local'
    const more =
      '--log json --cors https://ui.example.com --allow 10.0.0.0/8 --allow=pbx --trust-proxy 192.0.2.0/24 --operator ops --accounts-prune'
    const switches =
      '--freeswitch pbx --freeswitch-outbound 0.0.0.0 --asterisk-ami u@a --asterisk-ami=u@b --kamailio k:1 --account-from realm'
    expect(
      parseServeFlags(`${argv} ${more} ${switches} --login-burst 5 --admin-port 9000`.split(' ')),
    ).toEqual({
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
      operators: ['ops'],
      accountsPrune: true,
      freeswitch: ['pbx'],
      freeswitchOutbound: ['0.0.0.0'],
      asteriskAmi: ['u@a', 'u@b'],
      asteriskAri: [],
      kamailio: ['k:1'],
      accountFrom: 'realm',
      loginBurst: 5,
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
    [['--port='], '--port', /integer/],
    [['--port', '1', '--port', '2'], '--port', /twice/],
    [['--host='], '--host', /empty/],
    [['--memory=yes'], '--memory', /takes no value/],
    [['--no-memory'], '--no-memory', /unknown, see/],
    [['--accounts-file', 'a.json'], '--accounts-file', /did you mean '--accounts'\?/],
    [['--token-ttl', '0'], '--token-ttl', /from 1/],
    [['--token-ttl', '1d'], '--token-ttl', /integer/],
    [['--login-burst', 'many'], '--login-burst', /integer/],
    [['--cors', 'ui.example.com'], '--cors', /must be an origin/],
    [['--cors', '*', '--cors', 'https://ui.example.com/'], '--cors', /must be an origin/],
    [['--preset', 'kazu'], '--preset', /must be kazoo, not 'kazu'/],
    [['--log', 'xml'], '--log', /json or pretty/],
    [['--port', '9000', '--admin-port', '9000'], '--admin-port', /differ/],
    [['--data'], '--data', /needs a value/],
    [['--data', 'a.db', '--data', 'b.db'], '--data', /twice/],
    [['--schema', '--memory'], '--schema', /needs a value/],
  ])('rejects %s in one sentence that begins with the flag', (argv, flag, problem) => {
    const error = errorOf(argv)
    expect(error.field).toBe(flag)
    expect(error.message).toMatch(problem)
    expect(error.message.startsWith(`${flag}: `)).toBe(true)
    expect(error.message).not.toMatch(/\n|\. \S/)
  })

  it('does not check the values of --data, --postgres and --schema', () => {
    const { data, postgres, schema, memory } = parseServeFlags(
      '--data=x.db --postgres postgres://db/calls --schema s'.split(' '),
    )
    expect({ data, postgres, schema, memory }).toEqual({
      data: 'x.db',
      postgres: 'postgres://db/calls',
      schema: 's',
      memory: false,
    })
  })

  it('does not quote a URL that was given without its flag', () => {
    const { message } = errorOf(['postgres://hookswitch:hunter2@db/calls'])
    expect(message).toBe("postgres://…: is not a flag, see 'hookswitch serve --help'")
  })

  it('has every flag in the help', () => {
    const all = [
      'data',
      'postgres',
      'schema',
      'port',
      'host',
      'memory',
      'accounts',
      'token-ttl',
      'preset',
      'ingest',
      'allow-local',
      'log',
      'cors',
      'freeswitch',
      'asterisk-ami',
      'asterisk-ari',
      'kamailio',
      'account-from',
    ]
    for (const flag of [...all, 'allow', 'trust-proxy', 'login-burst', 'admin-port']) {
      expect(SERVE_HELP).toMatch(new RegExp(`^  --${flag}\\b`, 'm'))
    }
  })
})
