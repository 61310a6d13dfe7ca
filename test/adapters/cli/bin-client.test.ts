/** The client of `hookswitch/client` against the running program. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createClient } from '../../../adapters/client/index.js'
import { privatePostgres } from '../storage/pg-cluster.js'
import { hookswitch, ready } from './program.js'

const ACCOUNT = { id: 'acme', name: 'Acme', realm: 'acme.example', apiKey: 'k'.repeat(40) }

let folder: string
let accounts: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'client-'))
  accounts = join(folder, 'accounts.json')
  await writeFile(accounts, JSON.stringify([ACCOUNT]))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const serve = (flags: readonly string[]) =>
  hookswitch(['serve', '--accounts', accounts, '--allow-local', ...flags], { cwd: folder })

/** Sends requests with `fetch` and notes their answers and the last token. */
function watchedFetch() {
  const answers: string[] = []
  let token = ''
  const watched: typeof fetch = async (input, init) => {
    token = new Headers(init?.headers).get('x-auth-token') ?? token
    const path = new URL(String(input)).pathname.replace('/v1', '')
    const response = await fetch(input, init).catch((thrown: unknown) => {
      answers.push(`${init?.method} ${path} failed`)
      throw thrown
    })
    const wait = response.headers.get('retry-after')
    answers.push(`${init?.method} ${path} ${response.status}${wait === null ? '' : ` retry-after ${wait}`}`)
    return response
  }
  return { answers, watched, lastToken: () => token }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe('the client of a running program', () => {
  it('signs in again when its token was revoked, once for calls at the same time', async () => {
    const { url } = await ready(serve(['--memory', '--port', '0']))
    const { answers, watched, lastToken } = watchedFetch()
    const client = createClient({ url, apiKey: ACCOUNT.apiKey, fetch: watched })
    await client.readAccount()
    await fetch(`${url}/v1/token_auth`, { method: 'DELETE', headers: { 'x-auth-token': lastToken() } })
    answers.length = 0
    const both = await Promise.all([client.readAccount(), client.readAccount()])
    expect(both.map(({ data }) => data.id)).toEqual(['acme', 'acme'])
    expect(answers.filter((answer) => answer === 'PUT /api_auth 201')).toHaveLength(1)
    expect(answers.filter((answer) => answer === 'GET /accounts/acme 401').length).toBeGreaterThan(0)
    await client.close()
    expect(answers.at(-1)).toBe('DELETE /token_auth 200')
  })

  it('renews its token, so that no call is refused for it', async () => {
    const { url } = await ready(serve(['--memory', '--port', '0', '--token-ttl-seconds', '1']))
    const { answers, watched } = watchedFetch()
    const client = createClient({ url, apiKey: ACCOUNT.apiKey, fetch: watched, tokenLifetimeMs: 1_000 })
    const logins = () => answers.filter((answer) => answer === 'PUT /api_auth 201').length
    await expect
      .poll(async () => {
        expect((await client.readAccount()).status).toBe(200)
        return logins()
      })
      .toBeGreaterThan(2)
    expect(answers.filter((answer) => answer.endsWith(' 401'))).toEqual([])
    await client.close()
  })

  it('reads a list page by page', async () => {
    const { url } = await ready(serve(['--memory', '--port', '0']))
    const { answers, watched } = watchedFetch()
    const client = createClient({ url, apiKey: ACCOUNT.apiKey, fetch: watched })
    const names = Array.from({ length: 25 }, (_, nth) => `hook ${String(nth).padStart(2, '0')}`)
    for (const name of names)
      await client.createWebhook({ data: { name, uri: 'http://127.0.0.1:9/', hook: 'all' } })
    answers.length = 0
    const read: string[] = []
    for await (const { name } of client.listWebhooks({ pageSize: 10 })) read.push(name)
    expect(read).toEqual(names)
    expect(answers).toEqual(Array(3).fill('GET /accounts/acme/webhooks 200'))
    const pages: number[] = []
    for await (const page of client.listWebhooks({ pageSize: 10 }).pages()) pages.push(page.items.length)
    expect(pages).toEqual([10, 10, 5])
    await client.close()
  })

  it('waits as long as Retry-After says where logins are too many', async () => {
    const flags = ['--login-burst', '1', '--login-refill-per-second', '1']
    const { url } = await ready(serve(['--memory', '--port', '0', ...flags]))
    const { answers, watched } = watchedFetch()
    const first = createClient({ url, apiKey: ACCOUNT.apiKey })
    await first.readAccount()
    const second = createClient({ url, apiKey: ACCOUNT.apiKey, fetch: watched })
    expect((await second.readAccount()).data.id).toBe('acme')
    expect(answers).toEqual([
      'PUT /api_auth 429 retry-after 1',
      'PUT /api_auth 201',
      'GET /accounts/acme 200',
    ])
    const impatient = createClient({ url, apiKey: ACCOUNT.apiKey, maxRetries: 0 })
    await expect(impatient.readAccount()).rejects.toMatchObject({
      code: 'too_many_requests',
      status: 429,
      retryAfterSeconds: 1,
    })
  })

  it('waits where the store is unavailable, and goes on when it is back', async ({ skip }) => {
    const server = await privatePostgres()
    if (!server) return skip()
    onTestFinished(() => server.end())
    const program = hookswitch(['serve', '--port', '0', '--accounts', accounts], {
      env: { HOOKSWITCH_POSTGRES: server.url, HOOKSWITCH_SECRET: 'a secret of nodes' },
    })
    const { url } = await ready(program)
    const { answers, watched } = watchedFetch()
    const client = createClient({ url, apiKey: ACCOUNT.apiKey, fetch: watched, maxRetries: 30 })
    await client.readAccount()
    await server.stop('immediate')
    answers.length = 0
    const reading = client.listWebhooks().page()
    await expect.poll(() => answers.at(-1)).toMatch(/^GET \/accounts\/acme\/webhooks 503 retry-after \d+$/)
    await server.start()
    expect((await reading).items).toEqual([])
    expect(answers.at(-1)).toBe('GET /accounts/acme/webhooks 200')
    await client.close()
  })

  it('repeats what may be repeated while the program restarts, and nothing else', async () => {
    const port = await freePort()
    const flags = ['--port', String(port), '--data', join(folder, 'restart.db')]
    const before = serve(flags)
    const { url } = await ready(before)
    const { answers, watched } = watchedFetch()
    const client = createClient({ url, apiKey: ACCOUNT.apiKey, fetch: watched, maxRetries: 20 })
    await client.readAccount()
    before.child.kill('SIGTERM')
    await before.ended
    answers.length = 0
    await expect(
      client.createWebhook({ data: { name: 'n', uri: 'http://127.0.0.1:9/', hook: 'all' } }),
    ).rejects.toMatchObject({ code: 'network' })
    expect(answers).toEqual(['PUT /accounts/acme/webhooks failed'])
    const reading = client.readAccount()
    await expect.poll(() => answers.filter((answer) => answer.startsWith('GET')).length).toBeGreaterThan(0)
    await ready(serve(flags))
    // The token is in the file.
    expect((await reading).data.id).toBe('acme')
    expect(answers.at(-1)).toBe('GET /accounts/acme 200')
    expect(answers).not.toContain('PUT /api_auth 201')
    await client.close()
  })
})
