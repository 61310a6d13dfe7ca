import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { hookswitch, ready } from './program.js'

const root = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const SERVE = ['serve', '--memory', '--port', '0']
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function jsonFile(content: unknown): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bin-'))
  cleanups.push(() => rm(folder, { recursive: true }))
  const path = join(folder, 'accounts.json')
  await writeFile(path, JSON.stringify(content))
  return path
}

describe('the program', () => {
  it.each([['--help'], ['-h'], ['serve', '--help'], ['serve', '--port', '1', '-h']])(
    'prints its help: %s %s',
    async (...argv) => {
      const { code, stdout, stderr } = await hookswitch(argv).ended
      expect(stdout).toMatch(argv[0] === 'serve' ? /^Usage: hookswitch serve/ : /^hookswitch: .*Usage:/s)
      expect([code, stderr]).toEqual([0, ''])
    },
  )

  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync(root('package.json'), 'utf8'))
    expect(await hookswitch(['--version']).ended).toMatchObject({
      code: 0,
      stdout: `${version}\n`,
      stderr: '',
    })
  })

  it.each([
    [[], 2, /^hookswitch: .*\n\nUsage:/],
    [
      ['server'],
      2,
      /^hookswitch: unknown command 'server' \(did you mean 'serve'\?\), see 'hookswitch --help'\n$/,
    ],
    [['serve', '--prot'], 2, /^hookswitch: --prot: is unknown \(did you mean '--port'\?\), .*\n$/],
    [['serve', '--postgres', 'postgres://db/calls'], 2, /^hookswitch: HOOKSWITCH_SECRET: is required .*\n$/],
    [['serve', '--port', '0', '--accounts', '/nowhere/a.json'], 2, /^hookswitch: --accounts: .*\n$/],
  ])('called with [%s] exits with %i and one sentence', async (argv, code, sentence) => {
    const ended = await hookswitch(argv).ended
    expect(ended).toMatchObject({ code, stdout: '' })
    expect(ended.stderr).toMatch(sentence)
  })

  it('says once that the secret is too short', async () => {
    const ended = await hookswitch(['serve', '--memory'], { env: { HOOKSWITCH_SECRET: 'short' } }).ended
    expect(ended).toMatchObject({
      code: 2,
      stderr: 'hookswitch: HOOKSWITCH_SECRET: must be a key of at least 16 characters, or a list of keys\n',
    })
  })

  it('gives the page the name and the colour of its host', async () => {
    const program = hookswitch([...SERVE, '--portal-title', 'Acme Cloud', '--portal-accent', '#0a7d55'])
    const { url } = await ready(program)
    const read = async (path: string) => (await fetch(`${url}/portal/${path}`)).text()
    const html = await read('')
    expect(html).toContain('<title>Acme Cloud</title>')
    expect(html).toContain('<meta name="hookswitch-title" content="Acme Cloud">')
    const [, href = ''] = /<link rel="stylesheet" href="(brand[^"]*)">/.exec(html) ?? []
    expect(await read(href)).toContain('--accent: light-dark(#006c48, #68c79b);')
  })

  it('exits with 1 and one sentence when the port is in use', async () => {
    const first = hookswitch(SERVE)
    const { port } = new URL((await ready(first)).url)
    const second = await hookswitch(['serve', '--memory', '--port', port]).ended
    expect(second).toMatchObject({ code: 1, stdout: '' })
    expect(second.stderr).toBe(`hookswitch: --port: port ${port} of 127.0.0.1 is in use, choose another\n`)
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('exits with 0 on %s', async (signal) => {
    const program = hookswitch([...SERVE, '--admin-port', '0'])
    const { url } = await ready(program)
    await (await fetch(`${url}/v1/webhooks`)).arrayBuffer()
    program.child.kill(signal)
    expect(await program.ended).toMatchObject({
      code: 0,
      signal: null,
      stdout: expect.stringMatching(/^\{.*\}\n$/),
    })
  })

  /** Starts the program with one delivery in flight: its receiver has the request and does not respond yet. */
  async function withDeliveryInFlight() {
    const receiver = createServer().listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    cleanups.push(() => receiver.close().closeAllConnections())
    const { port } = receiver.address() as { port: number }
    const apiKey = 'k'.repeat(40)
    const accounts = await jsonFile([{ id: 'a', name: 'A', realm: 'a', apiKey }])
    const program = hookswitch([...SERVE, '--allow-local', '--ingest', '--accounts', accounts])
    const { url } = await ready(program)
    const put = async (path: string, data: object, token = '') => {
      const headers = { 'content-type': 'application/json', 'x-auth-token': token }
      const response = await fetch(`${url}/v1${path}`, {
        method: 'PUT',
        headers,
        body: JSON.stringify({ data }),
      })
      return (await response.json()) as { auth_token: string }
    }
    const { auth_token: token } = await put('/api_auth', { api_key: apiKey })
    await put('/accounts/a/webhooks', { name: 'x', uri: `http://127.0.0.1:${port}/`, hook: 'all' }, token)
    const arrived = once(receiver, 'request') as Promise<[unknown, ServerResponse]>
    await put('/accounts/a/events', { hook: 'channel_create', call_id: 'c' }, token)
    const [, response] = await arrived
    return { program, url, response }
  }

  it('drains on the first signal: deliveries in flight may end, new requests are refused', async () => {
    const { program, url, response } = await withDeliveryInFlight()
    program.child.kill('SIGTERM')
    await expect
      .poll(() =>
        fetch(`${url}/v1/webhooks`).then(
          () => 'open',
          () => 'closed',
        ),
      )
      .toBe('closed')
    expect(program.child.exitCode).toBe(null)
    response.end()
    expect(await program.ended).toMatchObject({ code: 0, signal: null })
  })

  it('exits at once on the second signal', async () => {
    const { program, url } = await withDeliveryInFlight()
    program.child.kill('SIGTERM')
    await expect
      .poll(() =>
        fetch(`${url}/v1/webhooks`).then(
          () => 'open',
          () => 'closed',
        ),
      )
      .toBe('closed')
    program.child.kill('SIGTERM')
    expect(await program.ended).toMatchObject({ code: 143, signal: null })
  })
})
