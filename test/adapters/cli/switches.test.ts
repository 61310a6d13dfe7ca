import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from 'hookswitch/cli'
import { fakeAsteriskAmi, fakeAsteriskAri, fakeFreeswitch, fakeKamailio, until } from 'hookswitch/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const recording = (name: string) =>
  readFile(new URL(`../../../examples/switches/recordings/${name}.gz`, import.meta.url))
const dialogs = () => readFile(new URL('../../../examples/demo/kamailio-dialogs.ndjson', import.meta.url))

let folder: string
const cleanups: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'switches-'))
  cleanups.push(() => rm(folder, { recursive: true }))
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Starts the program with these accounts and counts accepted events by account and hook. */
async function serving(argv: readonly string[], accounts: readonly object[], env: Record<string, string>) {
  const path = join(folder, 'accounts.json')
  await writeFile(path, JSON.stringify(accounts))
  let stderr = ''
  const io = {
    stdout: { write() {} },
    stderr: {
      write: (text: string) => {
        stderr += text
      },
    },
    env,
  }
  const all = ['--memory', '--port', '0', '--log', 'json', '--accounts', path, ...argv]
  const { hs, close } = await serve(all, io)
  cleanups.push(close)
  const counts: Record<string, number> = {}
  hs.events.on('event', ({ hook, accountId }) => {
    const key = `${accountId} ${hook}`
    counts[key] = (counts[key] ?? 0) + 1
  })
  return { counts, close, logged: () => stderr }
}

/** Legs of the recorded Asterisk calls, as `delivered.test.ts` counts them. */
const LEGS = 87 + 6

const ofHook = (counts: Record<string, number>, hook: string) =>
  Object.entries(counts).reduce((sum, [key, count]) => (key.endsWith(` ${hook}`) ? sum + count : sum), 0)

describe('serve with switches', () => {
  it('publishes the events of a FreeSWITCH, with its password from the environment', async () => {
    const fake = fakeFreeswitch({ recording: await recording('freeswitch-esl-json.txt'), password: 'hush' })
    cleanups.push(() => fake.close())
    const port = await fake.start()
    const accounts = ['4f0c9e3b5d7a41c2a6e8d1b3907f25ce', 'b81d2c7f60e94a3f9c5512d0e7a4f68b'].map((id) => ({
      id,
      name: id,
      realm: `${id}.example`,
    }))
    const argv = ['--freeswitch', `127.0.0.1:${port}`, '--account-from', 'variable:ecallmgr_Account-ID']
    const { counts, logged, close } = await serving(argv, accounts, {
      HOOKSWITCH_FREESWITCH_PASSWORD: 'hush',
    })
    await fake.waitFor('subscribed')
    await fake.play({ speed: Infinity })
    await until(() => ofHook(counts, 'channel_destroy') === 80)
    expect(ofHook(counts, 'channel_create')).toBe(80)
    await close()
    expect(logged()).toMatch(/connected to the switch/)
    expect(logged()).not.toMatch(/hush/)
  })

  it('publishes the events of an Asterisk connected by both AMI and ARI once per leg', async () => {
    const login = { username: 'hook', secret: 'hush' }
    const ami = fakeAsteriskAmi({ recording: await recording('asterisk-ami.txt'), ...login })
    const ari = fakeAsteriskAri({
      recording: await recording('asterisk-ari.ndjson'),
      username: 'hook',
      password: 'hush',
    })
    cleanups.push(
      () => ami.close(),
      () => ari.close(),
    )
    const accounts = ['alpha', 'beta'].map((id) => ({ id, name: id, realm: `${id}.example` }))
    const argv = [
      ...['--asterisk-ami', `hook@127.0.0.1:${await ami.start()}`],
      ...[
        '--asterisk-ari',
        `http://hook@127.0.0.1:${await ari.start()}/ari`,
        '--account-from',
        'account-code',
      ],
    ]
    const env = { HOOKSWITCH_AMI_SECRET: 'hush', HOOKSWITCH_ARI_PASSWORD: 'hush' }
    const { counts, logged, close } = await serving(argv, accounts, env)
    await Promise.all([ami.waitFor('subscribed'), ari.waitFor('subscribed')])
    await Promise.all([ami.play({ speed: Infinity }), ari.play({ speed: Infinity })])
    // 87 legs of phones and 6 ended halves of Local channels. Both sources publish each leg; the second is a duplicate.
    await until(() => ofHook(counts, 'channel_destroy') >= LEGS)
    // Closing publishes what the sources still hold, so an event accepted twice would be counted.
    await close()
    expect(ofHook(counts, 'channel_create')).toBe(LEGS)
    expect(ofHook(counts, 'channel_destroy')).toBe(LEGS)
    expect(logged()).not.toMatch(/hush/)
  })

  it('publishes the events of a Kamailio, with accounts looked up by realm', async () => {
    const fake = fakeKamailio({ recording: await dialogs() })
    cleanups.push(() => fake.close())
    const accounts = ['alpha', 'beta'].map((id) => ({ id, name: id, realm: `${id}.example` }))
    const { counts } = await serving(['--kamailio', `127.0.0.1:${await fake.start()}`], accounts, {})
    await fake.waitFor('subscribed')
    await fake.play({ speed: Infinity })
    await until(() => ofHook(counts, 'channel_destroy') === 77)
    expect(ofHook(counts, 'channel_create')).toBe(77)
    expect(counts['alpha channel_create']).toBeGreaterThan(0)
    expect(counts['beta channel_create']).toBeGreaterThan(0)
  })

  it('starts without a switch that cannot be reached, and logs that', async () => {
    const { logged, close } = await serving(['--kamailio', '127.0.0.1:1'], [], {})
    await until(() => /not connected to the switch/.test(logged()))
    await close()
  })
})
