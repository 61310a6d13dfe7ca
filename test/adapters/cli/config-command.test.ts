import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { serve } from 'hookswitch/cli'
import { describe, expect, it, onTestFinished } from 'vitest'
import { config } from '../../../adapters/cli/config-command.js'
import { problemsOf } from '../../../adapters/cli/problems.js'
import { redactUrl } from '../../../adapters/cli/redact-url.js'
import { testFolder, testIo } from './files.js'

const folder = testFolder()

async function run(argv: readonly string[], env: Record<string, string> = {}): Promise<string> {
  let written = ''
  const stdout = {
    write(text: string) {
      written += text
    },
  }
  await config(argv, { stdout, stderr: stdout, env })
  return written
}

describe('config print', () => {
  it('shows each value with the file and line, variable, flag or default that gave it', async () => {
    const path = await folder.write('h.yaml', 'port: 1\nhost: 10.0.0.1\nretryPolicy:\n  kind: exponential\n')
    const env = { HOOKSWITCH_LOG_LEVEL: 'warn', HOOKSWITCH_CONFIG: path }
    const text = await run(['print', '--port', '9', '--no-ingest', '--token-ttl=60'], env)
    const rows = Object.fromEntries(
      text
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ +# /) as [string, string]),
    )
    expect(rows).toMatchObject({
      [`config = ${path}`]: 'HOOKSWITCH_CONFIG',
      'port = 9': '--port',
      'host = 10.0.0.1': `${path}:2`,
      'retryPolicy = {"kind":"exponential"}': `${path}:3`,
      'logLevel = warn': 'HOOKSWITCH_LOG_LEVEL',
      'tokenTtlSeconds = 60': '--token-ttl',
      'ingest = false': '--no-ingest',
      'inFlight = 500': 'default',
      pauses: 'default: true; false with --preset kazoo',
    })
    expect(text).not.toMatch(/^(data|postgres) /m)
  })

  it('shows the same as JSON', async () => {
    const path = await folder.write('h.json', '{\n  "cors": ["*"]\n}')
    expect(JSON.parse(await run(['print', '--json', '--config', path]))).toMatchObject({
      cors: { value: ['*'], origin: { source: 'file', file: path, line: 2, column: 3 } },
      port: { value: 8000, origin: { source: 'default' } },
    })
  })

  it.each([[[]], [['--json']]])('hides every secret, also inside URLs: %j', async (more) => {
    const document = {
      secret: ['hunter2 hunter2 1', 'hunter2 hunter2 2'],
      postgres: 'postgres://user:hunter2@db:5432/calls?sslpassword=hunter2',
      proxy: 'http://user:hunter2@proxy.example:3128',
      amiSecret: 'hunter2',
      ariPassword: 'hunter2',
      freeswitchPassword: 'hunter2',
      tls: { passphrase: 'hunter2' },
      freeswitch: [
        { address: '10.0.0.5', password: 'hunter2', accountFrom: 'realm' },
        'user:hunter2@10.0.0.6',
      ],
      asteriskAri: ['http://user:hunter2@10.0.0.7:8088/ari?password-env=PBX1&app=a'],
    }
    const text = await run([
      'print',
      ...more,
      '--config',
      await folder.write('h.json', JSON.stringify(document)),
    ])
    expect(text).not.toContain('hunter2')
    expect(text).toContain('postgres://user:[redacted]@db:5432/calls?sslpassword=[redacted]')
    expect(text).toContain('http://user:[redacted]@10.0.0.7:8088/ari?password-env=PBX1&app=a')
    expect(text.match(/\[redacted\]/g)).toHaveLength(11)
  })

  it('rejects a broken schema or sample of a kind of events, and names its place', async () => {
    const hook = 'hooks:\n  - id: door\n    name: Door\n'
    const schema = '    schema: { type: object, required: [open] }\n'
    const path = await folder.write('hooks.yaml', `${hook}${schema}    sample: { data: {} }\n`)
    await expect(run(['check', path])).rejects.toMatchObject({
      code: 'InvalidOption',
      message: expect.stringMatching(new RegExp(`^${path}:5:13: hooks\\[0\\]\\.sample: data`)),
    })
    const wrong = await folder.write(
      'pattern.yaml',
      `${hook}    schema: { $ref: "#/nowhere" }\n    sample: {}\n`,
    )
    await expect(run(['check', wrong])).rejects.toMatchObject({
      message: `${wrong}:4:21: hooks[0].schema.$ref: '#/nowhere': there is no such schema`,
    })
    const type = '    schema:\n      properties:\n        a.b: { type: objekt }\n'
    const dotted = await folder.write('dotted.yaml', `${hook}${type}    sample: {}\n`)
    await expect(run(['check', dotted])).rejects.toMatchObject({
      code: 'InvalidOption',
      message: expect.stringMatching(
        /^\S+dotted\.yaml:\d+:\d+: hooks\[0\]\.schema\.properties\.a\.b\.type: must be/,
      ),
    })
    expect(
      await run([
        'check',
        await folder.write('good.yaml', `${hook}${schema}    sample: { data: { open: true } }\n`),
      ]),
    ).toMatch(/valid$/m)
  })

  it('rejects what serve rejects', async () => {
    await expect(run(['print', '--prot', '1'])).rejects.toThrow("--prot: is unknown (did you mean '--port'?)")
    await expect(run(['print', '--json=x'])).rejects.toThrow('--json: is unknown')
    await expect(run([])).rejects.toThrow("config: needs print or check, see 'hookswitch config --help'")
    await expect(run(['show'])).rejects.toThrow('show: needs print or check')
  })
})

describe('config check', () => {
  it('accepts a valid file, without the passwords of its switches, and changes nothing', async () => {
    const accounts = await folder.write('accounts.json', '[{"name": "A", "realm": "a.example"}]')
    const document = {
      data: join(folder.path, 'calls.db'),
      accounts,
      asteriskAmi: [{ address: 'hook@10.0.0.5', tls: true, accountFrom: 'context', passwordEnv: 'PBX1' }],
      asteriskAri: ['http://hook@10.0.0.6:8088/ari?account-from=context'],
      freeswitch: [
        {
          address: 'pbx',
          accountFrom: 'variable:A',
          password: 'p',
          optionalHooks: [],
          customVariables: ['a', 'b'],
        },
      ],
    }
    const path = await folder.write('h.json', JSON.stringify(document))
    expect(await run(['check', path])).toBe(`${path}: valid\n`)
    expect((await readdir(folder.path)).sort()).toEqual(['accounts.json', 'h.json'])
  })

  it('reports every problem, and needs no secret and no password', async () => {
    const path = await folder.write(
      'h.yaml',
      'prot: 1\npostgres: postgres://db/calls\nasteriskAmi: [user@pbx, "x"]\naccountFrom: context\ntrustProxy: [everyone]\n',
    )
    const thrown = (await run(['check', path]).catch((thrown: Error) => thrown)) as Error
    expect(problemsOf(thrown).map(({ message }) => message)).toEqual([
      `${path}:1:1: prot: is unknown (did you mean 'port'?)`,
      `${path}:3:25: asteriskAmi[1]: must be USER@HOST:PORT, without a password`,
      `${path}:5:13: trustProxy: 'everyone' is neither an address nor a CIDR`,
    ])
  })

  it('shows what a reload would do', async () => {
    const account = (id: string, more: object = {}) => ({ id, name: id, realm: `${id}.example`, ...more })
    const listed = ['a', 'b', 'c'].map((id) => account(id))
    const accounts = await folder.write('accounts.json', listed)
    const config = (more: string) =>
      folder.write('h.yaml', `memory: true\nport: 0\nadminPort: 0\naccounts: ${accounts}\n${more}`)
    const path = await config('accountsPrune: true\naccountsPruneLimit: 1\n')
    const { io } = testIo()
    const { adminUrl = '', hs, close } = await serve(['--config', path], io)
    onTestFinished(close)
    const check = () => run(['check', path, '--admin-url', adminUrl])
    expect(await check()).toBe(`${path}: valid\na reload changes nothing\n`)

    await folder.write('accounts.json', [
      account('b', { name: 'Changed' }),
      account('c', { users: [{ username: 'u', password: 'p' }] }),
      { name: 'd', realm: 'd.example' },
    ])
    await config('accountsPrune: true\naccountsPruneLimit: 1\nlogLevel: warn\ninFlight: 7\n')
    expect(await check()).toBe(
      `${path}: valid
a reload creates accounts: d.example
a reload changes accounts: b, c
a reload removes accounts: a
a reload changes settings: accounts, logLevel
a reload leaves settings that need a restart: inFlight
`,
    )
    expect((await hs.accounts.list()).map(({ name }) => name)).toEqual(['a', 'b', 'c'])

    await folder.write('accounts.json', [account('new', { realm: 'a.example' }), account('b'), account('c')])
    await expect(check()).rejects.toThrow(
      /^a reload is refused: .*accounts\.json: line 1, column \d+: account 'new' \(realm a\.example\): this realm is taken$/,
    )
    await folder.write('accounts.json', [account('b')])
    await expect(check()).rejects.toThrow(
      /^a reload is refused: .* 2 accounts are no longer listed, and --accounts-prune/,
    )
    await expect(run(['check', path, '--admin-url', 'http://127.0.0.1:1'])).rejects.toThrow(
      '--admin-url: no service answers there',
    )
    await expect(run(['check', path, '--admin-url', '127.0.0.1:1'])).rejects.toThrow(
      '--admin-url: must be the URL of the admin port',
    )
  })

  it('takes one file', async () => {
    for (const argv of [[], ['a', 'b']])
      await expect(run(['check', ...argv])).rejects.toThrow('config check: needs the name of one file')
  })
})

describe('redactUrl', () => {
  it.each([
    ['postgres://u:p@h/d', 'postgres://u:[redacted]@h/d'],
    ['postgres://u:p@a:/?#s@h/d', 'postgres://u:[redacted]@h/d'],
    ['postgres:///d?user=u&password=p', 'postgres:///d?user=u&password=[redacted]'],
    ['postgresql://u:p@/d?host=/folder', 'postgresql://u:[redacted]@/d?host=/folder'],
    ['socket://u:p@/folder?db=d', 'socket://u:[redacted]@/folder?db=d'],
    ['/folder d', '/folder d'],
    ['postgres:///d?a=1?password=p?q&user=u', 'postgres:///d?a=1?password=[redacted]&user=u'],
    ['h:8021?password-env=NAME&token=t', 'h:8021?password-env=NAME&token=[redacted]'],
    ['u@h:5038', 'u@h:5038'],
    ['[::1]:8021?account-from=realm', '[::1]:8021?account-from=realm'],
  ])('%s', (url, redacted) => {
    expect(redactUrl(url)).toBe(redacted)
  })
})
