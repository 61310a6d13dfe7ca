import { hostname } from 'node:os'
import { type ChannelEvent, createHookswitch, memoryStore } from 'hookswitch'
import { accountFromAccountCode, asteriskAri } from 'hookswitch/asterisk'
import { seededRandom, until } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ariEvent, startAriServer } from './asterisk-ari-server.js'
import { startAriSource } from './asterisk-under-test.js'
import { observeSource } from './observe-source.js'

const T0 = 1_767_225_600_000
const ID = '1767225600.7'
/** Long enough for a reconnect, too short for a timeout. */
const LATER_MS = 200

const applicationOf = (url: string) => new URL(url, 'http://fake').searchParams.get('app')
const OWN = new RegExp(`^hookswitch-${hostname().replace(/[^\w.-]/g, '-')}-[0-9a-f]{8}$`)

/** Starts two nodes at one Asterisk, each with its own source and both with one store. */
async function startTwoNodes() {
  const server = await startAriServer()
  onTestFinished(() => server.close())
  const hs = createHookswitch({ store: memoryStore(), allowLocal: true })
  await hs.start()
  onTestFinished(() => hs.close())
  await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
  const stored: ChannelEvent[] = []
  hs.events.on('event', (event) => void stored.push(event as ChannelEvent))
  const nodes = [1, 2].map((seed) => {
    const accountOf = accountFromAccountCode()
    const login = { url: server.url, username: 'hookswitch', password: 'secret' }
    const node = observeSource(
      (deps) => asteriskAri({ ...deps, ...login, accountOf, random: seededRandom(seed) }),
      (event) => hs.publish(event),
    )
    onTestFinished(() => node.source.close({ drainMs: 0 }))
    return node
  })
  return { server, stored, nodes }
}

describe('the ARI application of a node', () => {
  it('is named after its machine, with a suffix that stays over reconnects', async () => {
    const { server, clock, connects, source } = await startAriSource()
    const { url, socket } = await server.connected(0)
    expect(applicationOf(url)).toMatch(OWN)
    await until(() => connects() === 1)
    socket.destroy()
    await until(() => !source.status().isConnected)
    await clock.advance(LATER_MS)
    expect((await server.connected(1)).url).toBe(url)
  })

  it('gets another suffix when another client has taken it over', async () => {
    const { server, clock, connects, reasons } = await startAriSource()
    const { url, send } = await server.connected(0)
    await until(() => connects() === 1)
    send({ type: 'ApplicationReplaced', timestamp: '2026-01-01T00:00:00.000+0000', application: 'x' })
    await until(() => reasons().length === 1)
    await clock.advance(LATER_MS)
    const next = applicationOf((await server.connected(1)).url)
    expect(next).toMatch(OWN)
    expect(next).not.toBe(applicationOf(url))
    expect(reasons()).toEqual([
      `another client has taken over the application: this one continues as ${next}`,
    ])
  })

  it('differs between two services on one machine, so that neither evicts the other', async () => {
    const { server, stored, nodes } = await startTwoNodes()
    const [first, second] = nodes as [(typeof nodes)[0], (typeof nodes)[0]]
    first.source.start()
    await until(() => first.connects() === 1)
    second.source.start()
    await until(() => second.connects() === 1)
    const names = server.peers.map(({ url }) => applicationOf(url))
    for (const name of names) expect(name).toMatch(OWN)
    expect(new Set(names).size).toBe(2)

    server.broadcast(
      ariEvent('ChannelCreated', ID, T0),
      ariEvent('ChannelStateChange', ID, T0 + 5, { state: 'Up' }),
      ariEvent('ChannelDestroyed', ID, T0 + 1_500, { state: 'Up' }, { cause: 16 }),
    )
    await until(() => nodes.every(({ published }) => published.length === 3))
    // Both published all of it, and the service has each event once.
    expect(stored.map(({ hook }) => hook)).toEqual(['channel_create', 'channel_answer', 'channel_destroy'])
    expect(nodes.map((node) => node.reasons())).toEqual([[], []])
  })

  it('that is set as an option stays, and the reason says what to do', async () => {
    const { server, clock, connects, reasons } = await startAriSource({ app: 'calls' })
    const { send } = await server.connected(0)
    await until(() => connects() === 1)
    send({ type: 'ApplicationReplaced', timestamp: '2026-01-01T00:00:00.000+0000', application: 'calls' })
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe(
      'another client has taken over the application calls: each client needs its own app',
    )
    await clock.advance(LATER_MS)
    expect(applicationOf((await server.connected(1)).url)).toBe('calls')
  })
})
