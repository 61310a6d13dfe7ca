/** A rolling restart of two nodes under load, as docs/operate/upgrade-and-rollback.md describes it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { createClient, type HookswitchClient } from '../../../adapters/client/index.js'
import { postgresForTests } from '../storage/pg-cluster.js'
import { hookswitch, type RunningProgram, ready } from './program.js'
import { receiver } from './service-client.js'

const ACCOUNT = { id: 'acme', name: 'Acme', realm: 'acme.example', apiKey: 'k'.repeat(40) }

interface Node {
  readonly program: RunningProgram
  readonly client: HookswitchClient
}

it('loses no event and sends none twice', { timeout: 120_000 }, async ({ skip }) => {
  const server = await postgresForTests()
  if (!server) skip()
  onTestFinished(() => server!.end())
  const folder = await mkdtemp(join(tmpdir(), 'rolling-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const accounts = join(folder, 'accounts.json')
  await writeFile(accounts, JSON.stringify([ACCOUNT]))
  const env = { HOOKSWITCH_POSTGRES: server!.url, HOOKSWITCH_SECRET: 'the same for both' }
  const flags = ['--schema', server!.freshSchema(), '--accounts', accounts, '--allow-local', '--ingest']
  async function start(): Promise<Node> {
    const program = hookswitch(['serve', '--port', '0', ...flags], { env })
    const { url } = await ready(program)
    return { program, client: createClient({ url, apiKey: ACCOUNT.apiKey, maxRetries: 0 }) }
  }
  const nodes = [await start(), await start()]
  const { url, received } = await receiver()
  await nodes[0]!.client.createWebhook({ data: { name: 'Calls', uri: url, hook: 'all' } })

  /** Publishes one event as a host does behind a load balancer: an error goes to the other node, with the same key. */
  let turn = 0
  async function publish(callId: string): Promise<void> {
    for (;;) {
      turn += 1
      try {
        const event = { hook: 'channel_create', call_id: callId, idempotency_key: callId }
        await nodes[turn % 2]!.client.publishEvents({ data: event })
        return
      } catch {
        await sleep(20)
      }
    }
  }
  const accepted: Promise<void>[] = []
  let isEnding = false
  const load = (async () => {
    while (!isEnding) {
      accepted.push(publish(`call-${accepted.length}`))
      await sleep(10)
    }
  })()

  for (const nth of [0, 1]) {
    await sleep(500)
    const { program } = nodes[nth]!
    program.child.kill('SIGTERM')
    expect(await program.ended).toMatchObject({ code: 0, signal: null })
    nodes[nth] = await start()
  }
  await sleep(500)
  isEnding = true
  await load
  await Promise.all(accepted)
  expect(accepted.length).toBeGreaterThan(100)
  const calls = () => received.map(({ body }) => JSON.parse(body).call_id)
  await expect.poll(() => new Set(calls()).size, { timeout: 40_000 }).toBe(accepted.length)
  // Each event once: the answer of a request in flight is awaited before a node ends.
  expect(calls()).toHaveLength(accepted.length)
  for (const { program } of nodes) {
    program.child.kill('SIGTERM')
    expect((await program.ended).code).toBe(0)
  }
})
