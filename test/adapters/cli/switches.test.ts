import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { serve } from 'hookswitch/cli'
import { fakeAsteriskAmi, fakeAsteriskAri, fakeFreeswitch, fakeKamailio, until } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { authority, good, key } from '../../send/certificates.js'
import { parseExposition } from '../observability/parse-exposition.js'
import { channelEvent, startAmiServer } from '../telephony/asterisk-ami-server.js'
import { ariEvent, startAriServer } from '../telephony/asterisk-ari-server.js'
import { freePort } from '../telephony/free-port.js'
import { jsonFrame, legEvent, startFakeSwitch } from '../telephony/freeswitch-fake.js'
import { testFolder, testIo } from './files.js'

const recording = (name: string) =>
  readFile(new URL(`../../../examples/switches/recordings/${name}.gz`, import.meta.url))
const dialogs = () => readFile(new URL('../../../examples/demo/kamailio-dialogs.ndjson', import.meta.url))

const folder = testFolder()
const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Starts the program with these accounts and counts accepted events by account and hook. */
async function serving(argv: readonly string[], accounts: readonly object[], env: Record<string, string>) {
  const path = await folder.write('accounts.json', accounts)
  const { io, written } = testIo(env)
  const all = ['--memory', '--port', '0', '--log', 'json', '--accounts', path, ...argv]
  const { hs, adminUrl = '', close } = await serve(all, io)
  cleanups.push(close)
  const counts: Record<string, number> = {}
  hs.events.on('event', ({ hook, accountId }) => {
    const key = `${accountId} ${hook}`
    counts[key] = (counts[key] ?? 0) + 1
  })
  return { counts, hs, adminUrl, close, logged: () => written.stderr }
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
    await until(() => ofHook(counts, 'channel_destroy') === 82)
    expect(ofHook(counts, 'channel_create')).toBe(82)
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

  it('keeps the open legs of switches that can be queried in the store', async () => {
    const freeswitch = await startFakeSwitch()
    const ami = await startAmiServer()
    const ari = await startAriServer()
    cleanups.push(async () => {
      await freeswitch.close()
      ami.close()
      ari.close()
    })
    const argv = [
      ...['--freeswitch', `127.0.0.1:${freeswitch.port}?account-from=variable:ecallmgr_Account-ID`],
      ...['--asterisk-ami', `hookswitch@127.0.0.1:${ami.port}`],
      ...['--asterisk-ari', ari.url.replace('//', '//hookswitch@'), '--account-from', 'account-code'],
    ]
    const env = { HOOKSWITCH_AMI_SECRET: 'secret', HOOKSWITCH_ARI_PASSWORD: 'secret' }
    const { hs } = await serving(argv, [{ id: 'acme', name: 'Acme', realm: 'acme.example' }], env)
    await until(() => freeswitch.commands.some((command) => command.includes('show channels')))
    freeswitch.send(jsonFrame(legEvent('CHANNEL_CREATE', 'a')))
    const connection = await ami.connected(0)
    connection.send(channelEvent('Newchannel', '1767225600.1', Date.now()))
    const peer = await ari.connected(0)
    peer.send(ariEvent('ChannelCreated', '1767225600.2', Date.now()))
    for (const [source, callId] of [
      [`freeswitch 127.0.0.1:${freeswitch.port}`, 'a'],
      [`asterisk 127.0.0.1:${ami.port}`, '1767225600.1'],
      [`asterisk ${ari.url}`, '1767225600.2'],
    ] as const) {
      const stored = await until(async () => (await hs.openLegs.list(source, undefined, 9))[0])
      expect(stored).toMatchObject({ callId, accountId: 'acme' })
    }
  })

  it('gives devices, agents and messages of a FreeSWITCH the account of their realm', async () => {
    const freeswitch = await startFakeSwitch()
    cleanups.push(() => freeswitch.close())
    const hooks = ['device_registered', 'queue_agent_login', 'sms']
    const options = `account-from=account-code&optional-hooks=${hooks.join(',')}`
    const argv = ['--freeswitch', `127.0.0.1:${freeswitch.port}?${options}`]
    const { counts } = await serving(argv, [{ id: 'acme', name: 'Acme', realm: 'acme.example' }], {})
    await until(() => freeswitch.commands.some((command) => command.includes('show channels')))
    const events = [
      { 'Event-Subclass': 'sofia::register', 'from-user': '1001', 'from-host': 'acme.example' },
      {
        'Event-Subclass': 'callcenter::info',
        'CC-Action': 'agent-status-change',
        'CC-Agent': '1007@acme.example',
        'CC-Agent-Status': 'Available',
      },
      { 'Event-Name': 'MESSAGE', proto: 'sip', from: '1001@acme.example', to: '1002@acme.example' },
    ]
    for (const headers of events)
      freeswitch.send(
        jsonFrame({
          'Event-Name': 'CUSTOM',
          'Core-UUID': 'run-1',
          'Event-Date-Timestamp': `${Date.now()}000`,
          ...headers,
        }),
      )
    await until(() => hooks.every((hook) => counts[`acme ${hook}`] === 1))
  })

  it('publishes the events of a Kamailio, with accounts looked up by realm', async () => {
    const fake = fakeKamailio({ recording: await dialogs() })
    cleanups.push(() => fake.close())
    const accounts = ['alpha', 'beta'].map((id) => ({ id, name: id, realm: `${id}.example` }))
    const argv = ['--kamailio', `127.0.0.1:${await fake.start()}`, '--admin-port', '0']
    const { counts, adminUrl } = await serving(argv, accounts, {})
    await fake.waitFor('subscribed')
    await fake.play({ speed: Infinity })
    await until(() => ofHook(counts, 'channel_destroy') === 77)
    expect(ofHook(counts, 'channel_create')).toBe(77)
    expect(counts['alpha channel_create']).toBeGreaterThan(0)
    expect(counts['beta channel_create']).toBeGreaterThan(0)
    // The calls were recorded long ago.
    const { sources } = (await (await fetch(`${adminUrl}/readyz`)).json()) as { sources: object[] }
    expect(sources).toEqual([{ source: expect.any(String), connected: true, lagSeconds: expect.any(Number) }])
  })

  it('starts without a switch that cannot be reached, and says which and why', async () => {
    const fake = fakeFreeswitch({ recording: await recording('freeswitch-esl-json.txt'), password: 'hush' })
    cleanups.push(() => fake.close())
    const port = await fake.start()
    const down = await freePort('tcp')
    const argv = [
      ...['--freeswitch', `127.0.0.1:${port}?account-from=realm`],
      ...['--kamailio', `127.0.0.1:${down}`, '--admin-port', '0'],
    ]
    const { logged, close, adminUrl } = await serving(argv, [], { HOOKSWITCH_FREESWITCH_PASSWORD: 'hush' })
    await fake.waitFor('subscribed')
    await until(() => /not connected to the switch/.test(logged()))
    const [entry] = logged()
      .split('\n')
      .filter((line) => line.includes('not connected'))
      .map((line) => JSON.parse(line))
    const reason = `connect ECONNREFUSED 127.0.0.1:${down}`
    expect(entry).toMatchObject({ level: 'warn', source: `kamailio 127.0.0.1:${down}`, reason })

    const ready = async () => (await fetch(`${adminUrl}/readyz`)).json() as Promise<{ sources: object[] }>
    await until(async () => JSON.stringify((await ready()).sources[0]).includes('"connected":true'))
    expect(await ready()).toEqual({
      status: 'ready',
      sources: [
        { source: `freeswitch 127.0.0.1:${port}`, connected: true },
        { source: `kamailio 127.0.0.1:${down}`, connected: false, reason },
      ],
    })
    const { value } = parseExposition(await (await fetch(`${adminUrl}/metrics`)).text())
    expect(value('hookswitch_source_connected', { source: `freeswitch 127.0.0.1:${port}` })).toBe(1)
    expect(value('hookswitch_source_connected', { source: `kamailio 127.0.0.1:${down}` })).toBe(0)
    await close()
  })

  it('reads an Asterisk over TLS, and completes addresses with the realm of the account', async () => {
    const fake = fakeAsteriskAmi({
      recording: await recording('asterisk-ami.txt'),
      username: 'hook',
      secret: 'hush',
    })
    const plainPort = await fake.start()
    const tls = createTlsServer({ cert: good, key }, (socket) => {
      const plain = connect(plainPort, '127.0.0.1')
      socket.on('error', () => {}).pipe(plain)
      plain.on('error', () => {}).pipe(socket)
    }).listen(0, '127.0.0.1')
    cleanups.push(
      () => fake.close(),
      () => new Promise((resolve) => tls.close(resolve)),
    )
    await once(tls, 'listening')
    const { port } = tls.address() as AddressInfo
    const accounts = ['alpha', 'beta'].map((id) => ({ id, name: id, realm: `${id}.example` }))
    const ca = join(folder.path, 'ca.pem')
    await writeFile(ca, authority)
    const own = 'account-from=account-code&realm-from=account&password-env=PBX_SECRET'
    const argv = ['--asterisk-ami', `hook@127.0.0.1:${port}?tls=yes&ca=${ca}&${own}`]
    const { hs, logged } = await serving(argv, accounts, { PBX_SECRET: 'hush' })
    const addresses = new Set<string | undefined>()
    hs.events.on('event', ({ hook, accountId, from }) => {
      if (hook === 'channel_create' && from !== undefined)
        addresses.add(`${accountId} ${from.replace(/^.*@/, '')}`)
    })
    await fake.waitFor('subscribed')
    await fake.play({ speed: Infinity })
    await until(() => addresses.size >= 2)
    expect([...addresses].sort()).toEqual(['alpha alpha.example', 'beta beta.example'])
    expect(logged()).not.toMatch(/hush/)
  })

  it('does not trust the certificate of an unknown authority', async () => {
    const tls = createTlsServer({ cert: good, key }, () => {}).listen(0, '127.0.0.1')
    cleanups.push(() => new Promise((resolve) => tls.close(resolve)))
    await once(tls, 'listening')
    const { port } = tls.address() as AddressInfo
    const argv = ['--asterisk-ami', `hook@127.0.0.1:${port}?tls=yes&account-from=account-code`]
    const { logged } = await serving(argv, [], { HOOKSWITCH_AMI_SECRET: 'hush' })
    await until(() => /unable to verify the first certificate/.test(logged()))
  })

  it('rejects a file of an authority that cannot be read, naming the parameter', async () => {
    const argv = [
      '--asterisk-ami',
      `hook@127.0.0.1?tls=yes&ca=${join(folder.path, 'none.pem')}&account-from=context`,
    ]
    await expect(serving(argv, [], { HOOKSWITCH_AMI_SECRET: 'hush' })).rejects.toThrow(
      '--asterisk-ami: the parameter ca names a file that cannot be read (ENOENT)',
    )
  })

  it('listens for a FreeSWITCH that connects itself', async () => {
    const port = await freePort('tcp')
    const argv = ['--freeswitch-outbound', `127.0.0.1:${port}?account-from=realm`, '--admin-port', '0']
    const { adminUrl } = await serving(argv, [], {})
    const socket = connect(port, '127.0.0.1')
    cleanups.push(async () => socket.destroy())
    const [bytes] = await once(socket, 'data')
    expect(String(bytes)).toBe('connect\n\n')
    const ready = await (await fetch(`${adminUrl}/readyz`)).json()
    expect(ready).toMatchObject({
      sources: [{ source: `freeswitch outbound 127.0.0.1:${port}`, connected: true }],
    })
  })

  it('does not start where a FreeSWITCH cannot connect, naming the flag', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    cleanups.push(() => new Promise((resolve) => taken.close(resolve)))
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const argv = (host: string) => ['--freeswitch-outbound', `${host}:${port}?account-from=realm`]
    await expect(serving(argv('127.0.0.1'), [], {})).rejects.toThrow(
      `--freeswitch-outbound: port ${port} of 127.0.0.1 is in use, choose another`,
    )
    await expect(serving(argv('192.0.2.1'), [], {})).rejects.toThrow(
      "--freeswitch-outbound: '192.0.2.1' is not an address of this machine",
    )
  })
})
