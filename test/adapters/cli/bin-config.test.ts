import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseExposition } from '../observability/parse-exposition.js'
import { testFolder } from './files.js'
import { hookswitch, type RunningProgram, ready } from './program.js'

const ALPHA = { id: 'alpha', name: 'Alpha', realm: 'alpha.example', apiKey: 'a'.repeat(40) }
const BETA = { id: 'beta', name: 'Beta', realm: 'beta.example', apiKey: 'b'.repeat(40) }

const folder = testFolder()

type Line = Readonly<Record<string, unknown>>

const linesOf = ({ output }: RunningProgram): readonly Line[] =>
  output.stderr
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

/** Sends SIGHUP and resolves with the line that this reload logs. */
async function reload(program: RunningProgram): Promise<Line> {
  const isReload = ({ message }: Line) => /^configuration (not )?reloaded/.test(String(message))
  const before = linesOf(program).filter(isReload).length
  program.child.kill('SIGHUP')
  await expect.poll(() => linesOf(program).filter(isReload).length).toBe(before + 1)
  return linesOf(program).filter(isReload).at(-1)!
}

async function logIn(url: string, apiKey: string): Promise<number> {
  const response = await fetch(`${url}/v1/api_auth`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { api_key: apiKey } }),
  })
  await response.arrayBuffer()
  return response.status
}

describe('SIGHUP', () => {
  it('applies accounts, limits and the log level, and names what needs a restart', async () => {
    const accounts = await folder.write('accounts.json', [ALPHA])
    const config = (more: string) =>
      `memory: true\nport: 0\nadminPort: 0\nlog: json\naccounts: ${accounts}\n${more}`
    const path = await folder.write('h.yaml', config(''))
    const program = hookswitch(['serve', '--config', path])
    const { url, adminUrl = '' } = await ready(program)
    expect([await logIn(url, ALPHA.apiKey), await logIn(url, BETA.apiKey)]).toEqual([201, 401])

    expect(await reload(program)).toMatchObject({
      level: 'info',
      message: 'configuration reloaded: nothing has changed',
      changed: [],
      needsRestart: [],
    })

    await folder.write('accounts.json', [ALPHA, BETA])
    await folder.write(
      'h.yaml',
      config('logLevel: warn\nloginBurst: 1\nloginRefillPerSecond: 0.001\ninFlight: 7\n'),
    )
    expect(await reload(program)).toMatchObject({
      level: 'info',
      message:
        'configuration reloaded, changed: accounts, loginBurst, loginRefillPerSecond, logLevel; needs a restart: inFlight',
      changed: ['accounts', 'loginBurst', 'loginRefillPerSecond', 'logLevel'],
      needsRestart: ['inFlight'],
    })
    // The bucket of this address was filled for the earlier limit: one more login at most.
    expect([await logIn(url, BETA.apiKey), await logIn(url, BETA.apiKey)]).toEqual([201, 429])

    await folder.write('h.yaml', config('logLevel: debug\nloginBurst: unlimited\n'))
    expect(await reload(program)).toMatchObject({
      changed: ['loginBurst', 'loginRefillPerSecond', 'logLevel'],
      needsRestart: [],
    })
    expect(await logIn(url, BETA.apiKey)).toBe(201)
    const metrics = parseExposition(await (await fetch(`${adminUrl}/metrics`)).text())
    expect(metrics.value('hookswitch_logins_total', { result: 'succeeded' })).toBe(3)

    program.child.kill('SIGTERM')
    expect(await program.ended).toMatchObject({ code: 0, signal: null })
  })

  it('with a broken configuration or accounts file changes nothing and logs one error', async () => {
    const accounts = await folder.write('accounts.json', [ALPHA])
    const path = await folder.write('h.json', {
      memory: true,
      port: 0,
      log: 'json',
      accounts,
      tokenTtlSeconds: 60,
    })
    const program = hookswitch(['serve', '--config', path])
    const { url } = await ready(program)

    await folder.write('h.json', '{"tokenTtlSeconds": "hunter2"}')
    expect(await reload(program)).toMatchObject({
      level: 'error',
      message: 'configuration not reloaded',
      reason: `${path}:1:21: tokenTtlSeconds: must be an integer from 1 to 315360000`,
    })
    await folder.write('h.json', { memory: true, port: 0, log: 'json', accounts, logLevel: 'error' })
    await folder.write('accounts.json', [BETA, { ...ALPHA, name: 7 }])
    expect(await reload(program)).toMatchObject({
      level: 'error',
      reason: expect.stringMatching(/: line 1, column \d+: account 'alpha' \(realm alpha\.example\): name: /),
    })
    expect(await logIn(url, BETA.apiKey)).toBe(401)
    // A realm that only the store knows to be taken: no account of the file is created.
    await folder.write('accounts.json', [BETA, { ...ALPHA, id: 'gamma', apiKey: undefined }])
    expect(await reload(program)).toMatchObject({
      level: 'error',
      reason: expect.stringMatching(/: account 'gamma' \(realm alpha\.example\): this realm is taken$/),
    })
    expect(await logIn(url, BETA.apiKey)).toBe(401)
    // The level was not applied either: lines of level info are still written.
    await folder.write('accounts.json', [BETA, ALPHA])
    await folder.write('h.json', { memory: true, port: 1, log: 'json', accounts })
    expect(await reload(program)).toMatchObject({
      level: 'info',
      changed: ['accounts', 'tokenTtlSeconds'],
      needsRestart: ['port'],
    })
    expect(await logIn(url, BETA.apiKey)).toBe(201)
    expect(linesOf(program).filter(({ level }) => level === 'error')).toHaveLength(3)
    expect(program.output.stderr).not.toContain('hunter2')
  })
})

describe('a broken file at the start', () => {
  it('a missing key file of a database with secrets: exit code 2, and no new key', async () => {
    const accounts = await folder.write('accounts.json', [ALPHA])
    const argv = ['serve', '--port', '0', '--data', join(folder.path, 'calls.db'), '--accounts', accounts]
    const program = hookswitch(argv)
    await ready(program)
    program.child.kill('SIGTERM')
    expect(await program.ended).toMatchObject({ code: 0 })
    await rm(join(folder.path, 'calls.db.key'))
    const ended = await hookswitch(argv).ended
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toMatch(/hookswitch: --data: [^\n]*calls\.db\.key is missing, but [^\n]+\n$/)
    expect(await readdir(folder.path)).not.toContain('calls.db.key')
  })

  it('the key file of another database: exit code 2, and its name', async () => {
    const accounts = await folder.write('accounts.json', [ALPHA])
    const argv = ['serve', '--port', '0', '--data', join(folder.path, 'calls.db'), '--accounts', accounts]
    const program = hookswitch(argv)
    await ready(program)
    program.child.kill('SIGTERM')
    expect(await program.ended).toMatchObject({ code: 0 })
    const other = 'ab'.repeat(32)
    await writeFile(join(folder.path, 'calls.db.key'), other)
    const ended = await hookswitch(argv).ended
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toMatch(/hookswitch: [^\n]*calls\.db\.key: is not the one that this store [^\n]+\n$/)
    expect(ended.stderr).not.toContain(other)
  })

  it('is not hidden by a good variable, and names the variable of a bad one', async () => {
    const env = {
      HOOKSWITCH_PORT: '10.0.0.1:80',
      HOOKSWITCH_CONFIG: await folder.write('h.json', '{}'),
    }
    expect(await hookswitch(['serve', '--memory'], { env }).ended).toMatchObject({
      code: 2,
      stderr: "hookswitch: HOOKSWITCH_PORT: must be an integer from 0 to 65535, not '10.0.0.1:80'\n",
    })
  })
})

describe('hookswitch config', () => {
  it('prints and checks', async () => {
    const path = await folder.write('h.yaml', 'port: 8080\n')
    const printed = await hookswitch(['config', 'print', '--json', '--config', path]).ended
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(printed.stdout).port).toEqual({
      value: 8080,
      origin: { source: 'file', file: path, line: 1, column: 1 },
    })
    expect(await hookswitch(['config', 'check', path]).ended).toEqual({
      code: 0,
      signal: null,
      stdout: `${path}: valid\n`,
      stderr: '',
    })
    await folder.write('h.yaml', 'port: 808000\n')
    expect(await hookswitch(['config', 'check', path]).ended).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `hookswitch: ${path}:1:7: port: must be an integer from 0 to 65535\n`,
    })
  })

  it('the package exports the schema', async () => {
    const schema = JSON.parse(
      await readFile(new URL('../../../dist/config.schema.json', import.meta.url), 'utf8'),
    )
    expect(schema).toMatchObject({ type: 'object', properties: { port: { default: 8000 } } })
  })
})
