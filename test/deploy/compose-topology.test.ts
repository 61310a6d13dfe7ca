/** The programs that compose.yaml would start in containers, started by hand: PostgreSQL, two nodes, nginx and a DNS server. */
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hookswitch, type RunningProgram, ready } from '../adapters/cli/program.js'
import { call, receiver } from '../adapters/cli/service-client.js'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { hasProgram, read, readYaml } from './files.js'

const hasNginx = hasProgram('nginx')
const ACCOUNT = { id: 'acme', name: 'Acme', realm: 'acme.example', apiKey: 'k'.repeat(40) }

interface NodeService {
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

/** The addresses of the nodes, which listen on one port as in their containers. */
const ADDRESSES = ['127.0.0.1', '127.0.0.2']

/** Answers each question for an address with those of all nodes, as Docker's DNS does for an alias. */
async function startDns(): Promise<number> {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    // The header has 12 bytes; the name ends with a zero, its type and class have 4.
    const question = query.subarray(12, query.indexOf(0, 12) + 5)
    const header = Buffer.from([query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, ADDRESSES.length, 0, 0, 0, 0])
    // A pointer to the name, type A, class IN, 1 s, 4 bytes.
    const answers = ADDRESSES.flatMap((ip) => [
      ...[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4],
      ...ip.split('.').map(Number),
    ])
    socket.send(Buffer.concat([header, question, Buffer.from(answers)]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  return socket.address().port
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** The flags of a node in compose.yaml, for a process on loopback. */
function flagsOf({ command }: NodeService, accounts: string, address: string, port: number): string[] {
  const flags = [...command]
  const set = (flag: string, value: string) => {
    expect(flags).toContain(flag)
    flags[flags.indexOf(flag) + 1] = value
  }
  set('--host', address)
  set('--port', String(port))
  set('--admin-port', '0')
  set('--admin-host', '127.0.0.1')
  set('--accounts', accounts)
  set('--trust-proxy', '127.0.0.0/8')
  return [...flags, '--allow-local']
}

/** Starts nginx with our configuration, in which the DNS server and the ports are replaced. */
async function startNginx(folder: string, nodePort: number): Promise<string> {
  const port = await freePort()
  const site = read('docker/nginx.conf')
    .replace('listen 8000', `listen 127.0.0.1:${port}`)
    .replace('resolver 127.0.0.11', `resolver 127.0.0.1:${await startDns()}`)
    .replace('nodes:8000', `nodes:${nodePort}`)
  expect(site).not.toMatch(/8000|127\.0\.0\.11/)
  const config = join(folder, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  )
  await writeFile(
    config,
    `daemon off; pid ${join(folder, 'nginx.pid')}; error_log stderr;
events {}
http { access_log off; ${temporary.join(' ')} ${site} }`,
  )
  const child = spawn('nginx', ['-c', config, '-e', 'stderr'], { stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  onTestFinished(async () => {
    child.kill('SIGQUIT')
    if (child.exitCode === null) await once(child, 'exit')
  })
  const url = `http://127.0.0.1:${port}`
  await expect
    .poll(() => {
      if (child.exitCode !== null) throw new Error(errors)
      return fetch(`${url}/v1/webhooks`).then(
        () => 'answers',
        () => 'does not answer',
      )
    })
    .toBe('answers')
  return url
}

describe('the topology of compose.yaml', () => {
  it.skipIf(!hasNginx)(
    'serves one API over two nodes, and goes on when one of them is stopped',
    { timeout: 120_000 },
    async ({ skip }) => {
      const server = await postgresForTests()
      if (!server) skip()
      onTestFinished(() => server!.end())
      const folder = await mkdtemp(join(tmpdir(), 'topology-'))
      onTestFinished(() => rm(folder, { recursive: true }))
      const accounts = join(folder, 'accounts.json')
      await writeFile(accounts, JSON.stringify([ACCOUNT]))
      const { services } = readYaml('docker/compose.yaml') as { services: Record<string, NodeService> }
      const names = ['node-1', 'node-2']
      expect(Object.keys(services['node-1']!.environment).sort()).toEqual([
        'HOOKSWITCH_POSTGRES',
        'HOOKSWITCH_SECRET',
      ])
      const env = { HOOKSWITCH_POSTGRES: server!.url, HOOKSWITCH_SECRET: 'the same for all nodes' }
      const schema = ['--schema', server!.freshSchema()]
      const port = await freePort()
      const start = (name: string, index: number) =>
        hookswitch([...flagsOf(services[name]!, accounts, ADDRESSES[index]!, port), ...schema], {
          cwd: folder,
          env,
        })
      // nginx starts when no node is there yet.
      const url = await startNginx(folder, port)
      const nodes: RunningProgram[] = names.map(start)
      await Promise.all(nodes.map(ready))

      const { url: receiverUrl, received } = await receiver()
      const { token } = await call(url, 'PUT', '/api_auth', { data: { api_key: ACCOUNT.apiKey } })
      const data = { name: 'Calls', uri: `${receiverUrl}/calls`, hook: 'all' }
      expect((await call(url, 'PUT', '/accounts/acme/webhooks', { data, token })).status).toBe(201)
      const publish = async (callId: string) => {
        const event = { hook: 'channel_create', call_id: callId }
        return (await call(url, 'PUT', '/accounts/acme/events', { data: event, token })).status
      }
      const callIds = () => received.map(({ body }) => JSON.parse(body).call_id).sort()
      for (const callId of ['a', 'b', 'c', 'd']) expect(await publish(callId)).toBe(202)
      await expect.poll(callIds).toEqual(['a', 'b', 'c', 'd'])

      nodes[0]!.child.kill('SIGTERM')
      // While it drains and after it has ended, nginx goes to the other node.
      for (const callId of ['e', 'f', 'g', 'h']) expect(await publish(callId)).toBe(202)
      expect(await nodes[0]!.ended).toMatchObject({ code: 0, signal: null })
      for (const callId of ['i', 'j']) expect(await publish(callId)).toBe(202)
      await expect.poll(callIds).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'])

      // A rolling restart: the other node stops as soon as the first one is ready again.
      const again = start('node-1', 0)
      let isReady = false
      const readyAgain = ready(again).then(() => {
        isReady = true
      })
      const restarted: string[] = []
      const publishNext = async () => {
        restarted.push(`restart-${restarted.length}`)
        expect(await publish(restarted.at(-1)!)).toBe(202)
      }
      // Some of these find the first node down.
      while (!isReady) await publishNext()
      await readyAgain
      nodes[1]!.child.kill('SIGTERM')
      for (let after = 0; after < 10; after += 1) await publishNext()
      expect(await nodes[1]!.ended).toMatchObject({ code: 0, signal: null })
      for (let after = 0; after < 10; after += 1) await publishNext()
      await expect
        .poll(() => callIds().filter((id) => id.startsWith('restart')))
        .toEqual(restarted.toSorted())
      again.child.kill('SIGTERM')
      expect(await again.ended).toMatchObject({ code: 0, signal: null })
    },
  )
})
