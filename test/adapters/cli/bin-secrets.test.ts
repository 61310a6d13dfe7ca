/** What the running program shows, logs and stores of the credentials that it sends to receivers, and what it refuses to look at. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type PgServer, postgresForTests } from '../storage/pg-cluster.js'
import { hookswitch, type RunningProgram, ready } from './program.js'
import { call } from './service-client.js'

const ACCOUNT = { id: 'acme', name: 'Acme', realm: 'acme.example', apiKey: 'k'.repeat(40) }
const WEBHOOKS = '/accounts/acme/webhooks'
/** Names that the attempts of version 0.1 showed with their values. */
const CREDENTIALS = [
  ...['X-Jwt', 'X-Credential', 'X-Passwd', 'X-Pwd', 'X-Passphrase', 'X-Bearer', 'X-Session-Id'],
  ...['X-Pin', 'X-Api-Pass'],
]
/** Its name says nothing about its value. */
const PLAIN = 'X-Tenant'
const sentValue = (name: string) => `sent-canary-${name.toLowerCase()}-4711`
const echoedValue = (name: string) => `echoed-canary-${name.toLowerCase()}-4711`

let folder: string
let accounts: string
let server: PgServer | undefined
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'secrets-')))
  accounts = join(folder, 'accounts.json')
  await writeFile(accounts, JSON.stringify([ACCOUNT]))
  server = await postgresForTests()
}, 60_000)
afterAll(async () => {
  await server?.end()
  await rm(folder, { recursive: true })
})

/** A receiver that answers with its own credentials in its headers. */
async function credentialReceiver() {
  const received: IncomingHttpHeaders[] = []
  const http = createServer(async (incoming, response) => {
    await text(incoming)
    received.push(incoming.headers)
    for (const name of CREDENTIALS) response.setHeader(name, echoedValue(name))
    response.writeHead(200).end('thanks')
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(() => void http.close().closeAllConnections())
  return { received, url: `http://127.0.0.1:${(http.address() as { port: number }).port}` }
}

/** The values that the bytes contain, as they are or in an encoding that anybody can undo. */
function leaksIn(bytes: Buffer): readonly string[] {
  const values = [...CREDENTIALS, PLAIN].flatMap((name) => [sentValue(name), echoedValue(name)])
  const hasAny = (value: string) =>
    [
      value,
      Buffer.from(value).toString('hex'),
      // The middle, whose base64 does not depend on where the value begins.
      ...[0, 1, 2].map((skipped) =>
        Buffer.from(value.slice(skipped, skipped + 18))
          .toString('base64')
          .slice(0, 24),
      ),
    ].some((form) => bytes.includes(form))
  return values.filter(hasAny)
}

/** Delivers one event with the credentials; resolves when its attempt was read, and returns the attempts as text. */
async function deliver(program: RunningProgram): Promise<string> {
  const receiver = await credentialReceiver()
  const { url } = await ready(program)
  const { token } = await call(url, 'PUT', '/api_auth', { data: { api_key: ACCOUNT.apiKey } })
  const headers = Object.fromEntries([...CREDENTIALS, PLAIN].map((name) => [name, sentValue(name)]))
  const created = await call(url, 'PUT', WEBHOOKS, {
    data: {
      name: 'stored in clear',
      uri: `${receiver.url}/calls`,
      hook: 'all',
      custom_request_headers: headers,
    },
    token,
  })
  expect(created.status).toBe(201)
  await call(url, 'PUT', '/accounts/acme/events', {
    data: { hook: 'channel_create', call_id: 'leg-in-clear' },
    token,
  })
  const attempts = async () =>
    JSON.stringify((await call(url, 'GET', `${WEBHOOKS}/attempts`, { token })).data)
  await expect.poll(attempts).toContain('leg-in-clear')
  for (const name of [...CREDENTIALS, PLAIN])
    expect(receiver.received[0]![name.toLowerCase()]).toBe(sentValue(name))
  // Changed while it is stored: the old values must not stay behind in the log of the file.
  const id = created.data.id
  await call(url, 'PATCH', `${WEBHOOKS}/${id}`, {
    data: { custom_request_headers: { [PLAIN]: null } },
    token,
  })
  return attempts()
}

function expectHidden(attempts: string, program: RunningProgram): void {
  for (const name of CREDENTIALS) expect(attempts.toLowerCase(), name).toContain(`"${name.toLowerCase()}"`)
  expect(leaksIn(Buffer.from(attempts)), 'attempts').toEqual([])
  expect(program.output.stderr).toContain('/v1/accounts/acme/webhooks')
  expect(leaksIn(Buffer.from(program.output.stderr)), 'log').toEqual([])
}

const serve = (flags: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  hookswitch(
    [
      ...['serve', '--port', '0', '--accounts', accounts, '--allow-local', '--ingest'],
      ...['--log-level', 'debug', '--access-log', ...flags],
    ],
    { cwd: folder, env },
  )

describe('the values of custom headers, and of headers with credentials in answers', () => {
  it('are neither in the attempts, nor in the log, nor in any byte of a SQLite file', async () => {
    const data = await mkdtemp(join(folder, 'data-'))
    const program = serve(['--data', join(data, 'hookswitch.db')])
    const attempts = await deliver(program)
    // Killed: the write-ahead log is still there.
    program.child.kill('SIGKILL')
    await program.ended
    expectHidden(attempts, program)
    const files = await readdir(data)
    expect(files).toContain('hookswitch.db-wal')
    const bytes = Buffer.concat(await Promise.all(files.map((file) => readFile(join(data, file)))))
    for (const stored of ['stored in clear', 'leg-in-clear', PLAIN]) expect(bytes.includes(stored)).toBe(true)
    expect(leaksIn(bytes)).toEqual([])
  })

  it('are neither in the attempts, nor in the log, nor in a dump of PostgreSQL', async ({ skip }) => {
    if (!server) return skip()
    const dump = await pgDump()
    if (dump === undefined) return skip()
    const schema = server.freshSchema()
    const program = serve(['--postgres', server.url, '--schema', schema], {
      HOOKSWITCH_SECRET: 'a secret of nodes',
    })
    const attempts = await deliver(program)
    program.child.kill('SIGTERM')
    await program.ended
    expectHidden(attempts, program)
    const { stdout } = await promisify(execFile)(dump, ['--dbname', server.url, '--schema', schema], {
      encoding: 'buffer',
      maxBuffer: 64 * 1024 * 1024,
    })
    // Columns of bytes are in hex.
    const inHex = (stored: string) => stdout.includes(Buffer.from(stored).toString('hex'))
    for (const stored of ['stored in clear', 'leg-in-clear', PLAIN])
      expect(stdout.includes(stored) || inHex(stored), stored).toBe(true)
    expect(leaksIn(stdout)).toEqual([])
  })
})

describe('what the running program refuses before it looks at it', () => {
  it('is more than 16 KiB of headers, 60,000 custom headers and a large body without a token', async () => {
    const program = serve(['--memory'])
    const { url } = await ready(program)
    const statusWith = (bytes: number) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { 'x-filler': 'x'.repeat(bytes) }
        request(`${url}/v1/accounts/acme/webhooks`, { headers, agent: false })
          .on('response', (response) => resolve(response.resume().statusCode))
          .on('error', reject)
          .end()
      })
    expect([await statusWith(15 * 1024), await statusWith(16 * 1024)]).toEqual([401, 431])

    const { token } = await call(url, 'PUT', '/api_auth', { data: { api_key: ACCOUNT.apiKey } })
    const custom = Object.fromEntries(Array.from({ length: 60_000 }, (_, nth) => [`X ${nth}`, 'v']))
    const data = { name: 'n', uri: 'http://127.0.0.1:9/', hook: 'all', custom_request_headers: custom }
    const many = await call(url, 'PUT', WEBHOOKS, { data, token })
    expect(many.status).toBe(400)
    // One sentence, not one for each header.
    expect(JSON.stringify(many.data).length).toBeLessThan(500)
    expect((await call(url, 'PUT', WEBHOOKS, { data, token: 'x'.repeat(43) })).status).toBe(401)
    const deep = await fetch(`${url}/v1${WEBHOOKS}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: `{"data":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
    })
    expect(deep.status).toBe(401)
  })
})

/** The newest `pg_dump` of this machine; `undefined`: none, which is reported. */
async function pgDump(): Promise<string | undefined> {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? await readdir(root) : []
  const found = versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, 'bin', 'pg_dump'))
    .find((path) => existsSync(path))
  if (!found) process.stderr.write('no pg_dump in /usr/lib/postgresql: the test of a dump was SKIPPED\n')
  return found
}
