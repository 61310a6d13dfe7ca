/** What the program says about wrong configurations and command lines: one table, with each sentence in full. */
import { readdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { main } from '../../../adapters/cli/main.js'
import { testFolder, testIo } from './files.js'

interface Misuse {
  /** `FOLDER/` is the folder of the test. */
  readonly argv: string
  readonly env?: Readonly<Record<string, string>>
  /** By name. */
  readonly files?: Readonly<Record<string, string | object>>
  /** What stderr says, without `hookswitch: ` and the folder. */
  readonly says: readonly string[]
}

const folder = testFolder()

async function run({ argv, env = {}, files = {} }: Misuse) {
  for (const [name, content] of Object.entries(files)) await folder.write(name, content)
  const here = (text: string) => text.replaceAll('FOLDER', folder.path)
  const { io, written } = testIo(
    Object.fromEntries(Object.entries(env).map(([name, text]) => [name, here(text)])),
  )
  const words = argv === '' ? [] : argv.split(' ').map(here)
  const program = {
    ...io,
    ppid: process.ppid,
    pid: process.pid,
    argv: ['node', 'hookswitch', ...words],
    exitCode: 0 as number | string | null | undefined,
    on: () => {},
    exit: (): never => {
      throw new Error('the program must end by itself')
    },
  }
  const before = await readdir(folder.path)
  await main(program)
  const lines = written.stderr.replaceAll(`${folder.path}/`, '').trimEnd().split('\n')
  return {
    says: lines.map((line) => line.replace(/^hookswitch: /, '')),
    exitCode: program.exitCode,
    stdout: written.stdout,
    newFiles: (await readdir(folder.path)).filter((name) => !before.includes(name)),
  }
}

/** `serve` with a configuration file. */
const json = (document: string | object, ...says: readonly string[]): Misuse => ({
  argv: 'serve --port 0 --config FOLDER/c.json',
  files: { 'c.json': document },
  says,
})
const yaml = (text: string, ...says: readonly string[]): Misuse => ({
  argv: 'serve --port 0 --config FOLDER/c.yaml',
  files: { 'c.yaml': text },
  says,
})
const flags = (argv: string, ...says: readonly string[]): Misuse => ({ argv: `serve ${argv}`, says })
const command = (argv: string, ...says: readonly string[]): Misuse => ({ argv, says })
const variables = (env: Readonly<Record<string, string>>, ...says: readonly string[]): Misuse => ({
  argv: 'serve --port 0 --memory',
  env,
  says,
})
const accounts = (content: string | object, ...says: readonly string[]): Misuse => ({
  argv: 'serve --port 0 --memory --accounts FOLDER/a.json',
  files: { 'a.json': content },
  says,
})

const CONFIGURATIONS: readonly Misuse[] = [
  // A part of a name that a switch uses.
  {
    argv: 'serve --port 0 --memory --freeswitch pbx?password-env=HOOKSWITCH_PBX1&account-from=realm',
    env: { HOOKSWITCH_PBX1: 'ClueCon', HOOKSWITCH_PB: 'x' },
    says: ["HOOKSWITCH_PB: is not a variable of hookswitch: 'hookswitch serve --help' lists the settings"],
  },
  json('{"port": 70000}', 'c.json:1:10: port: must be an integer from 0 to 65535'),
  json('{\n  "prot": 1\n}', "c.json:2:3: prot: is unknown (did you mean 'port'?)"),
  json('{"tls": {"cafile": "x"}}', "c.json:1:10: tls.cafile: is unknown (did you mean 'caFile'?)"),
  json('{"tls": true}', 'c.json:1:9: tls: must be an object'),
  json('{"config": "b.json"}', 'c.json:1:2: config: is unknown'),
  json('[]', 'c.json:1:1: must be an object of settings'),
  json('', 'c.json:1:1: is not JSON: a value is expected'),
  json('{"port": 1,}', 'c.json:1:12: is not JSON: a name in double quotes is expected'),
  json('{"port": 1, "port": 2}', 'c.json:1:13: is not JSON: a key occurs twice'),
  json(
    '{"secret": "hunter2"}',
    'c.json:1:12: secret: must be a key of at least 16 characters, or a list of keys',
  ),
  json(
    '{"secret": hunter2}',
    'c.json:1:12: is not JSON: an unknown word or sign (names and strings need double quotes)',
  ),
  json(
    '{"secret": "sixteen characters\\n"}',
    'c.json:1:12: secret: ends in a line break, which would be part of the secret: remove it',
  ),
  json(
    '{"kamailio": [{"adress": "p"}]}',
    "c.json:1:16: kamailio[0].adress: is unknown (did you mean 'address'?)",
  ),
  json('{"kamailio": [{}]}', 'c.json:1:15: kamailio[0].address: is required'),
  json('{"kamailio": [7]}', 'c.json:1:15: kamailio[0]: must be an address, or an object with an address'),
  json({ memory: true, data: 'x' }, 'c.json:1:11: memory: cannot be combined with data'),
  json(
    { adminPort: 9000, blackhole: { port: 9000 } },
    'c.json:1:39: blackhole.port: must differ from adminPort',
  ),
  json(
    { kamailio: ['p?app=1'] },
    'c.json:1:14: kamailio[0]: has no parameter app: it has account-from, account-wait-ms, max-open-legs, connect-timeout-ms, max-call-ms',
  ),
  json(
    { kamailio: [{ address: 'p?max-call-ms=5' }] },
    'c.json:1:25: kamailio[0].address: must be an address alone: parameters are properties of the object',
  ),
  json(
    { freeswitch: [{ address: 'p', accountFrom: 'color' }] },
    'c.json:1:45: freeswitch[0].accountFrom: must be variable:NAME, sip-header:NAME, realm, context, endpoint or account-code',
  ),
  json(
    { freeswitch: [{ address: 'p', accountFrom: 'realm', password: 'hunter2', passwordEnv: 'B' }] },
    'c.json:1:88: freeswitch[0].passwordEnv: cannot be combined with password',
  ),
  json({ accountFrom: 'realm' }, 'c.json:1:16: accountFrom: needs a switch, and none is given'),
  json(
    { retryPolicy: { kind: 'exponential', baseMs: 9, capMs: 1 } },
    'c.json:1:16: retryPolicy: capMs must not be below baseMs',
  ),
  json(
    { allow: ['10.0.0.0/99'] },
    'c.json:1:10: allow: "10.0.0.0/99" is neither a host name, an IP address nor a CIDR block',
  ),
  json({ trustProxy: ['everyone'] }, "c.json:1:15: trustProxy: 'everyone' is neither an address nor a CIDR"),
  json(
    { proxy: 'ftp://proxy' },
    'c.json:1:10: proxy: must be a URL such as http://user:password@proxy.example:3128',
  ),
  json({ hooks: [{ id: 'all' }] }, "c.json:1:17: hooks[0].id: 'all' is reserved for every kind"),
  json(
    { tls: { caFile: '/nowhere/ca.pem' } },
    'c.json:1:18: tls.caFile: /nowhere/ca.pem cannot be read (there is no such file)',
  ),
  json(
    { tls: { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.2' } },
    'c.json:1:22: tls.minVersion: must not be above maxVersion',
  ),
  json(
    { portalLogo: '/nowhere/logo.svg' },
    'c.json:1:15: portalLogo: cannot be read (there is no such file)',
  ),
  json(
    { postgres: 'mysql://u:hunter2@db/calls' },
    'c.json:1:13: postgres: must be a URL like postgres://user:password@host:5432/database, with special characters of the password percent-encoded (%40) and one host',
  ),
  json(
    { schema: 'calls' },
    'c.json:1:11: schema: is for PostgreSQL, which --postgres or HOOKSWITCH_POSTGRES names',
  ),
  json(
    {
      prot: 1,
      loginBurst: 'many',
      tls: { caFile: '/nowhere/a.pem', keyFile: '/nowhere/b.pem' },
      allow: ['10.0.0.0/99'],
      proxy: 'ftp://proxy',
      freeswitch: ['p', ':'],
      memory: true,
      accounts: '/nowhere/a.json',
    },
    "c.json:1:2: prot: is unknown (did you mean 'port'?)",
    'c.json:1:24: loginBurst: must be a number of at least 1 or unlimited',
    '--account-from: is required: where to read the account of a call, such as variable:NAME (or --freeswitch ADDRESS?account-from=variable:NAME)',
    'c.json:1:156: freeswitch[1]: must be HOST or HOST:PORT',
    'c.json:1:186: accounts: /nowhere/a.json: cannot be read (there is no such file)',
    'c.json:1:47: tls.caFile: /nowhere/a.pem cannot be read (there is no such file)',
    'c.json:1:74: tls.keyFile: /nowhere/b.pem cannot be read (there is no such file)',
    'c.json:1:124: proxy: must be a URL such as http://user:password@proxy.example:3128',
    'c.json:1:100: allow: "10.0.0.0/99" is neither a host name, an IP address nor a CIDR block',
  ),
  yaml('port: 1\nport: 2\n', 'c.yaml:2:1: is not YAML: duplicate key'),
  yaml('port: [\n', 'c.yaml:2:1: is not YAML: bad indent'),
  yaml('port: *p\n', 'c.yaml:1:7: is not YAML: an alias names no anchor'),
  yaml('cors: &origins [*origins]\n', 'c.yaml:1:17: is not YAML: an alias stands inside its own anchor'),
  yaml(
    'tls: &tls\n  caFile: x\n  more: *tls\n',
    'c.yaml:3:9: is not YAML: an alias stands inside its own anchor',
  ),
  yaml('port: !!x 1\n', 'c.yaml:1:7: is not YAML: tag resolve failed'),
  yaml('log:\n  - json\n', 'c.yaml:2:3: log: must be json or pretty'),
  yaml('port:\n', 'c.yaml:1:6: port: must be an integer from 0 to 65535'),
  yaml(
    'a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c]\n',
    'c.yaml:1:1: is not YAML: its aliases repeat too much',
  ),
  yaml(
    'secret: |\n  a secret of more than 16 characters\n',
    'c.yaml:1:9: secret: ends in a line break, which would be part of the secret: remove it',
  ),
  yaml(
    'freeswitch:\n  - address: pbx\n    silenceMs: 5\n',
    'c.yaml:3:16: freeswitch[0].silenceMs: must be an integer from 100 to 3600000',
  ),
  variables(
    { HOOKSWITCH_POSTGRES_URL: 'postgres://u:hunter2@db/d', HOOKSWITCH_SECRET_FILE: '/nowhere/secret' },
    'HOOKSWITCH_SECRET_FILE: /nowhere/secret cannot be read (there is no such file)',
    'HOOKSWITCH_POSTGRES_URL: is not a variable of hookswitch (did you mean HOOKSWITCH_POSTGRES?)',
  ),
  variables(
    { HOOKSWITCH_PROT: '1' },
    'HOOKSWITCH_PROT: is not a variable of hookswitch (did you mean HOOKSWITCH_PORT?)',
  ),
  variables(
    { HOOKSWITCH_COLOR: 'blue' },
    "HOOKSWITCH_COLOR: is not a variable of hookswitch: 'hookswitch serve --help' lists the settings",
  ),
  variables(
    { HOOKSWITCH_PORT_FILE: '/run/port' },
    'HOOKSWITCH_PORT_FILE: is not a variable of hookswitch (did you mean HOOKSWITCH_PORT?)',
  ),
  variables(
    { HOOKSWITCH_PORT: '10.0.0.1:80' },
    "HOOKSWITCH_PORT: must be an integer from 0 to 65535, not '10.0.0.1:80'",
  ),
  variables({ HOOKSWITCH_INGEST: 'yes' }, "HOOKSWITCH_INGEST: must be true or false, not 'yes'"),
  variables({ HOOKSWITCH_CORS: '' }, 'HOOKSWITCH_CORS: must not be empty'),
  variables(
    { HOOKSWITCH_SECRET: 'hunter2' },
    'HOOKSWITCH_SECRET: must be a key of at least 16 characters, or a list of keys',
  ),
  variables(
    { HOOKSWITCH_SECRET: 'a secret of sixteen\n' },
    'HOOKSWITCH_SECRET: ends in a line break, which would be part of the secret: remove it',
  ),
  variables(
    { HOOKSWITCH_AMI_SECRET: 'hunter2\r\n' },
    'HOOKSWITCH_AMI_SECRET: ends in a line break, which would be part of the secret: remove it',
  ),
  {
    ...variables(
      { HOOKSWITCH_SECRET: 'a secret of sixteen', HOOKSWITCH_SECRET_FILE: 'FOLDER/s' },
      'HOOKSWITCH_SECRET_FILE: cannot be combined with HOOKSWITCH_SECRET',
    ),
    files: { s: 'x' },
  },
  {
    ...variables({ HOOKSWITCH_SECRET_FILE: 'FOLDER/s' }, 'HOOKSWITCH_SECRET_FILE: must not be empty'),
    files: { s: '\n' },
  },
  {
    ...variables(
      { HOOKSWITCH_SECRET_FILE: 'FOLDER/s' },
      'HOOKSWITCH_SECRET_FILE: ends in a line break, which would be part of the secret: remove it',
    ),
    files: { s: 'a secret of sixteen\n\n' },
  },
  {
    ...variables(
      { HOOKSWITCH_SECRET_FILE: 'FOLDER/s' },
      'HOOKSWITCH_SECRET_FILE: s is larger than 65536 bytes, which no secret is',
    ),
    files: { s: 'x'.repeat(70_000) },
  },
  {
    ...flags(
      '--port 0',
      'HOOKSWITCH_SECRET: is required with PostgreSQL, the same on every node; generate one with node -p "crypto.randomBytes(32).toString(\'hex\')"',
    ),
    env: { HOOKSWITCH_POSTGRES: 'postgres://u:hunter2@127.0.0.1:1/d' },
  },
  {
    ...flags(
      '--port 0 --data FOLDER/calls.db',
      '--data: calls.db.key is not a key (64 hex digits): put the right one there, or remove the file',
    ),
    files: { 'calls.db.key': 'hunter2' },
  },
  accounts('[{"password":"hunter2"', '--accounts: a.json: is not JSON (line 1, column 23)'),
  accounts({}, '--accounts: a.json: must hold an array of accounts'),
  accounts(
    [
      { id: 'alpha', name: 7, realm: 'a.example' },
      { id: 'b', name: 'B', realm: 'b b' },
      { id: 'c', name: 'C', realm: 'c.example', pasword: 'hunter2' },
    ],
    "--accounts: a.json: line 1, column 23: account 'alpha' (realm a.example): name: Value did not match type(s): string",
    "--accounts: a.json: line 1, column 75: account 'b': realm: Realm must not have white space",
    "--accounts: a.json: line 1, column 133: account 'c' (realm c.example): pasword: Unknown field",
  ),
  yaml('b: &b {failures: 0}\n', 'c.yaml:1:1: b: is unknown'),
  variables(
    { HOOKSWITCH_ALLOW: '10.0.0.0/8,pbx' },
    "HOOKSWITCH_ALLOW: must be a host, an address or a network, not '10.0.0.0/8,pbx'",
  ),
  variables({ HOOKSWITCH_PAUSES: 'no' }, "HOOKSWITCH_PAUSES: must be true or false, not 'no'"),
  variables(
    { HOOKSWITCH_AUTO_DISABLE: 'true' },
    'HOOKSWITCH_AUTO_DISABLE: must be false or an object whose kind is silent or burst',
  ),
]

const COMMAND_LINES: readonly Misuse[] = [
  command('srve', "unknown command 'srve' (did you mean 'serve'?), see 'hookswitch --help'"),
  command('--port 1', "--port: flags follow the command, see 'hookswitch --help'"),
  flags('--prot 1', "--prot: is unknown (did you mean '--port'?), see 'hookswitch serve --help'"),
  flags('-p 1', "-p: is unknown, see 'hookswitch serve --help'"),
  flags('extra', "extra: is not a flag, see 'hookswitch serve --help'"),
  flags('--port', '--port: needs a value'),
  flags('--port --memory', '--port: needs a value'),
  flags('--port 0x10', "--port: must be an integer from 0 to 65535, not '0x10'"),
  flags('--port 1 --port 2', '--port: was given twice'),
  flags('--token-ttl 1 --token-ttl-seconds 2', '--token-ttl: was given twice, also as --token-ttl-seconds'),
  flags('--memory=yes', '--memory: takes no value'),
  flags('--no-memory', "--no-memory: is unknown, see 'hookswitch serve --help'"),
  flags('--ingest --no-ingest', '--no-ingest: cannot be combined with --ingest'),
  flags(
    '--secret hunter2',
    "--secret: is not accepted, because other users could see it in the list of processes: use HOOKSWITCH_SECRET, see 'hookswitch serve --help'",
  ),
  flags(
    'postgres://hookswitch:hunter2@db/calls',
    "postgres://\u2026: is not a flag, see 'hookswitch serve --help'",
  ),
  flags('--memory --data x.db', '--memory: cannot be combined with --data'),
  flags('--data :memory:', '--data: must name a file; for memory use --memory'),
  flags(
    '--login-burst many --port 70000 --cors ui.example.com --preset kazu',
    "--port: must be an integer from 0 to 65535, not '70000'",
    "--cors: must be an origin like https://ui.example.com or *, not 'ui.example.com'",
    "--login-burst: must be a number of at least 1 or unlimited, not 'many'",
    "--preset: must be kazoo, not 'kazu'",
  ),
  flags(
    '--memory --port 0 --admin-port 70000',
    "--admin-port: must be an integer from 0 to 65535, not '70000'",
  ),
  flags(
    '--memory --port 0 --freeswitch pbx',
    '--account-from: is required: where to read the account of a call, such as variable:NAME (or --freeswitch ADDRESS?account-from=variable:NAME)',
  ),
  flags(
    '--memory --port 0 --asterisk-ami user@pbx --account-from context',
    'HOOKSWITCH_AMI_SECRET: is required by --asterisk-ami',
  ),
  flags(
    '--auto-disable {"kind":"silent","aftrMs":5}',
    "--auto-disable: aftrMs: is unknown (did you mean 'afterMs'?)",
    '--auto-disable: exhausted: is required',
  ),
  flags('--retry-policy {"kind":"constant"}', '--retry-policy: delayMs: is required'),
  flags('--config /nowhere/h.yaml', '--config: /nowhere/h.yaml: cannot be read (there is no such file)'),
  flags('--operator a/b --memory', "--operator: must be the id of an account, not 'a/b'"),
  flags(
    '--accounts-prune-limit=-1 --memory',
    "--accounts-prune-limit: must be an integer from 0 to 100000000, not '-1'",
  ),
  flags('--port -1', "--port: must be an integer from 0 to 65535, not '-1'"),
  flags('--port 1.5', "--port: must be an integer from 0 to 65535, not '1.5'"),
  flags('--port=', '--port: must be an integer from 0 to 65535'),
  flags('--host=', '--host: must not be empty'),
  flags(
    '--accounts-file a.json',
    "--accounts-file: is unknown (did you mean '--accounts'?), see 'hookswitch serve --help'",
  ),
  flags('--token-ttl 0', "--token-ttl: must be an integer from 1 to 315360000, not '0'"),
  flags('--token-ttl 1d', "--token-ttl: must be an integer from 1 to 315360000, not '1d'"),
  flags(
    '--cors * --cors https://ui.example.com/',
    "--cors: must be an origin like https://ui.example.com or *, not 'https://ui.example.com/'",
  ),
  flags('--log xml', "--log: must be json or pretty, not 'xml'"),
  flags('--data', '--data: needs a value'),
  flags('--data a.db --data b.db', '--data: was given twice'),
  flags('--schema --memory', '--schema: needs a value'),
  flags(
    '--auto-disable {"kind":"burst","failures":0,"withinMs":1}',
    "--auto-disable: failures: must be an integer from 1 to 1000000, not '0'",
  ),
  flags(
    '--auto-disable {"kind',
    "--auto-disable: must be false or an object whose kind is silent or burst, not '{\"kind'",
  ),
  flags('--pauses=5', '--pauses: takes no value'),
  flags('--default-retries 31', "--default-retries: must be an integer from 0 to 30, not '31'"),
  flags('--default-rate-limit 0', "--default-rate-limit: must be a number from 0.001 to 10000, not '0'"),
  flags(
    '--default-rate-limit 10001',
    "--default-rate-limit: must be a number from 0.001 to 10000, not '10001'",
  ),
  flags(
    '--ordering-patience-seconds -1',
    "--ordering-patience-seconds: must be an integer from 0 to 2147483647, not '-1'",
  ),
  flags('--probe-sockets 0', "--probe-sockets: must be an integer from 1 to 100000, not '0'"),
  flags(
    '--retry-policy {"kind":"custom"}',
    '--retry-policy: kind: must be exponential, constant or schedule',
  ),
  flags('--hooks [{"name":"x"}]', '--hooks: [0].id: is required'),
  flags(
    '--freeswitch= --account-from realm',
    '--freeswitch: must be an address, or an object with an address',
  ),
  command('config', "config: needs print or check, see 'hookswitch config --help'"),
  command('config show', "show: needs print or check, see 'hookswitch config --help'"),
  command('config check', 'config check: needs the name of one file'),
  command('config check --jsno a.yaml', "--jsno: is unknown, see 'hookswitch config --help'"),
  command(
    'config print --prot 1',
    "--prot: is unknown (did you mean '--port'?), see 'hookswitch config --help'",
  ),
  command('migrate --to postgres://db/calls', '--from: is required: the file to migrate'),
  command('migrate --from a.db', '--to: is required (or HOOKSWITCH_POSTGRES): the URL of the database'),
  command(
    'rotate-secret --data FOLDER/none.db --to-file s',
    '--data: names a file that does not exist: none.db',
  ),
  command('vacuum --data FOLDER/none.db', '--data: names a file that does not exist: none.db'),
  command(
    'vacuum --data postgres://u:hunter2@db/calls',
    '--data: must name a file; a URL belongs to --postgres',
  ),
  command(
    'vacuum --postgres postgres://u:hunter2@db/calls',
    "--postgres: is a database of PostgreSQL, whose autovacuum reuses the space of removed rows: this command is for SQLite files, see 'hookswitch vacuum --help'",
  ),
  command('vacuum calls.db', "calls.db: is not a flag, see 'hookswitch vacuum --help'"),
  {
    ...command(
      'vacuum',
      'HOOKSWITCH_POSTGRES: is a database of PostgreSQL, whose autovacuum reuses the space of removed rows: this command is for SQLite files',
    ),
    env: { HOOKSWITCH_POSTGRES: 'postgres://u:hunter2@db/calls' },
  },
  {
    ...command(
      'vacuum --data FOLDER/text.db',
      '--data: is not an SQLite database, but a file of another program, or its beginning is damaged: text.db',
    ),
    files: { 'text.db': 'x'.repeat(5_000) },
  },
  command(
    'webhooks lst',
    "unknown command 'webhooks lst' (did you mean 'webhooks list'?), see 'hookswitch webhooks --help'",
  ),
  command('webhooks list --limit none', "--limit: must be an integer of at least 1, not 'none'"),
  command(
    'webhooks list --api-key hunter2',
    "--api-key: is not accepted, because other users could see it in the list of processes: use HOOKSWITCH_API_KEY or --api-key-file, see 'hookswitch webhooks list --help'",
  ),
  command('webhooks list --url ftp://service', '--url: must begin with http or https'),
  command('webhooks hold', '--all: or --account is required, and not both'),
  command('webhooks release --all --account a', '--all: or --account is required, and not both'),
  command('webhooks show', "unknown command 'webhooks show', see 'hookswitch webhooks --help'"),
  command('verify --tolerance', '--tolerance: needs a value'),
]

describe.each([
  ['configuration', CONFIGURATIONS],
  ['command line', COMMAND_LINES],
] as const)('a wrong %s', (_, misuses) => {
  it.each(misuses)('$argv $env $files: $says', async (misuse) => {
    const { says } = misuse
    const result = await run(misuse)
    expect(result).toEqual({ says, exitCode: 2, stdout: '', newFiles: [] })
  })
})
