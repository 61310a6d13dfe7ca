import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { ChannelEvent } from 'hookswitch'
import {
  accountFromVariable,
  type FreeswitchOutboundOptions,
  freeswitchOutbound,
} from 'hookswitch/freeswitch'
import { manualClock, seededRandom, until } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { jsonFrame, legEvent } from './freeswitch-fake.js'
import { hooks } from './freeswitch-mapped.js'

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

async function listening(over: Partial<FreeswitchOutboundOptions> = {}) {
  const published: ChannelEvent[] = []
  const problems: unknown[] = []
  const server = freeswitchOutbound({
    publish: async (event) => void published.push(event),
    accountOf: accountFromVariable(),
    port: 0,
    clock: manualClock(),
    random: seededRandom(1),
    ...over,
  })
  server.events.on('problem', (problem) => void problems.push(problem))
  open.push(server)
  const { port } = await server.listen()
  return { server, published, problems, port }
}

interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** Answers to commands, by their first word. */
  readonly answers?: Readonly<Record<string, string>>
}

/** The switch's side of the `socket` application, for one leg. */
async function call(port: number, uuid: string, { headers = {}, answers = {} }: CallOptions = {}) {
  const socket: Socket = connect({ port, host: '127.0.0.1' })
  const commands: string[] = []
  let heard = ''
  let isClosed = false
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
  })
  const data = {
    ...legEvent('CHANNEL_DATA', uuid),
    'Caller-Destination-Number': '2001',
    'Caller-Dialplan': 'XML',
    'Caller-Context': 'public',
    ...headers,
  }
  const connected = [
    ...Object.entries(data).map(([name, value]) => `${name}: ${encodeURIComponent(value)}`),
    'Content-Type: command/reply',
    'Reply-Text: %2BOK%0A',
    'Socket-Mode: async',
  ]
  socket.on('data', (chunk) => {
    heard += chunk.toString()
    for (let end = heard.indexOf('\n\n'); end >= 0; end = heard.indexOf('\n\n')) {
      const command = heard.slice(0, end)
      heard = heard.slice(end + 2)
      commands.push(command)
      const [word = ''] = command.split(/\s/)
      if (command === 'connect') socket.write(`${connected.join('\n')}\n\n`)
      else if (command === 'exit') socket.end('Content-Type: command/reply\nReply-Text: +OK bye\n\n')
      else socket.write(`Content-Type: command/reply\nReply-Text: ${answers[word] ?? '+OK'}\n\n`)
    }
  })
  await once(socket, 'connect')
  return { socket, commands, isClosed: () => isClosed, send: (text: string) => void socket.write(text) }
}

const hangup = (uuid: string) =>
  jsonFrame({
    ...legEvent('CHANNEL_HANGUP_COMPLETE', uuid, { answeredMs: 1_000 }),
    'Hangup-Cause': 'NORMAL_CLEARING',
    'Caller-Channel-Hangup-Time': '1795173744000000',
  })

describe('a leg that is handed over by its dial plan', () => {
  it('is heard to its end, goes on where it was going, and is let go', async () => {
    const { published, problems, port, server } = await listening()
    const leg = await call(port, 'a')
    await until(() => leg.commands.length === 5)
    expect(leg.commands).toEqual([
      'connect',
      'linger 30',
      'myevents json',
      'event json CHANNEL_HOLD CHANNEL_UNHOLD',
      'sendmsg\ncall-command: execute\nexecute-app-name: transfer\nexecute-app-arg: 2001 XML public',
    ])
    expect(server.status().openLegs).toBe(1)
    const bridge = { ...legEvent('CHANNEL_BRIDGE', 'a', { answeredMs: 1_000 }), 'Bridge-B-Unique-ID': 'b' }
    leg.send(jsonFrame(legEvent('CHANNEL_ANSWER', 'a', { answeredMs: 1_000 })) + jsonFrame(bridge))
    leg.send('Content-Type: text/disconnect-notice\nContent-Disposition: linger\nContent-Length: 0\n\n')
    leg.send(hangup('a'))
    await until(() => leg.isClosed())
    expect(leg.commands.at(-1)).toBe('exit')
    await until(() => published.length === 4)
    expect(hooks(published)).toEqual(['create', 'answer', 'bridge', 'destroy'])
    expect(published[3]).toMatchObject({
      hangupCause: 'NORMAL_CLEARING',
      durationSeconds: 5,
      billingSeconds: 4,
    })
    expect(published[2]?.otherLegCallId).toBe('b')
    expect(problems).toEqual([])
    expect(server.status().openLegs).toBe(0)
  })

  it('goes on with what the host says', async () => {
    const { port } = await listening({
      goOnWith: ({ variable }) => `bridge user/${variable('ecallmgr_Account-ID')}`,
    })
    const leg = await call(port, 'a')
    await until(() => leg.commands.length === 5)
    expect(leg.commands[4]).toMatch(/execute-app-name: bridge\nexecute-app-arg: user\/acme$/)
  })

  it.each([
    [
      'what was dialled cannot be said on a line',
      { headers: { 'Caller-Destination-Number': '2\napi shutdown' } },
      {},
    ],
    ['the switch refuses the command', { answers: { sendmsg: '-ERR invalid session id' } }, {}],
    ['the host says nothing that can be said', {}, { goOnWith: () => 'transfer 1\n\napi shutdown' }],
  ])('never stands still because of us: %s', async (_, asked, over) => {
    const { port, problems, published } = await listening(over)
    const leg = await call(port, 'a', asked)
    await until(() => leg.isClosed())
    expect(leg.commands.at(-1)).toBe('resume')
    expect(leg.commands.join()).not.toContain('shutdown')
    await until(() => published.length === 2)
    expect(hooks(published)).toEqual(['create', 'destroy'])
    expect(problems).toHaveLength(1)
  })

  it('has ended for us when its connection is lost, and says so', async () => {
    const { port, problems, published } = await listening()
    const leg = await call(port, 'a')
    await until(() => leg.commands.length === 5)
    leg.socket.destroy()
    await until(() => published.length === 2)
    expect(published[1]).toMatchObject({ hook: 'channel_destroy', customChannelVars: { found_by: 'resync' } })
    expect(problems).toMatchObject([{ message: expect.stringContaining('lost before the end'), callId: 'a' }])
  })

  it('of another switch ends nothing of the first', async () => {
    const { port, server, published } = await listening()
    const one = await call(port, 'a')
    await until(() => one.commands.length === 5)
    const other = await call(port, 'b', { headers: { 'Core-UUID': 'another' } })
    await until(() => other.commands.length === 5)
    expect(server.status().openLegs).toBe(2)
    expect(hooks(published)).toEqual(['create', 'create'])
  })
})

describe('the server', () => {
  it('refuses who is not allowed, and who is too many', async () => {
    const stranger = await listening({ allow: ['192.0.2.1'] })
    const refused = await call(stranger.port, 'a')
    await until(() => refused.isClosed())
    expect(stranger.problems).toEqual([
      { kind: 'refused', message: 'a connection from 127.0.0.1, which is not allowed' },
    ])

    const small = await listening({ maxConnections: 1 })
    const first = await call(small.port, 'a')
    await until(() => first.commands.length === 5)
    const second = await call(small.port, 'b')
    await until(() => second.isClosed())
    expect(small.problems).toEqual([{ kind: 'refused', message: 'more than 1 connections' }])
    expect(first.isClosed()).toBe(false)
  })

  it('lets calls go on while the service takes nothing', async () => {
    const { port, server } = await listening({ publish: () => new Promise(() => {}) })
    const first = await call(port, 'first')
    await until(() => first.commands.length === 5)
    // A thousand holds of one leg: what waits is too much now.
    const hold = jsonFrame(legEvent('CHANNEL_HOLD', 'first', { answeredMs: 1_000 }))
    first.send(hold.repeat(1_100))
    await until(() => server.status().waiting >= 1_024)
    const second = await call(port, 'second')
    await until(() => second.commands.length === 5)
    expect(second.commands[4]).toMatch(/^sendmsg/)
    await server.close({ drainMs: 0 })
  })

  it('leaves who says twice which leg it is for', async () => {
    const { port, problems, server } = await listening()
    const leg = await call(port, 'a')
    await until(() => leg.commands.length === 5)
    const again = Object.entries(legEvent('CHANNEL_DATA', 'other')).map(
      ([name, value]) => `${name}: ${encodeURIComponent(value)}`,
    )
    leg.send(`${again.join('\n')}\nContent-Type: command/reply\nReply-Text: %2BOK\n\n`)
    await until(() => leg.isClosed())
    expect(problems).toMatchObject([{ kind: 'lost', message: expect.stringContaining('twice') }])
    expect(server.status().openLegs).toBe(0)
  })

  it('does not listen when it was closed meanwhile, or before', async () => {
    const options = { publish: async () => {}, accountOf: accountFromVariable(), port: 0 }
    const meanwhile = freeswitchOutbound(options)
    const listens = meanwhile.listen()
    listens.catch(() => {})
    await meanwhile.close()
    await expect(listens).rejects.toThrow('it is closed')
    await expect(meanwhile.listen()).rejects.toThrow('it is closed')
  })

  it('does not keep a connection when nobody says which leg it is for', async () => {
    const clock = manualClock()
    const { problems, port } = await listening({ clock })
    const socket = connect({ port, host: '127.0.0.1' })
    const closed = once(socket, 'close')
    await once(socket, 'data')
    await clock.advance(10_000)
    await closed
    expect(problems).toEqual([{ kind: 'lost', message: expect.stringContaining('no answer within 10 s') }])
    expect(clock.sleepers().count).toBe(0)
  })

  it('leaves who speaks another protocol, and goes on', async () => {
    const { port, problems } = await listening()
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('error', () => {})
    socket.resume()
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'close')
    expect(problems).toMatchObject([
      { message: expect.stringContaining('does not speak the event socket protocol') },
    ])
    const leg = await call(port, 'a')
    await until(() => leg.commands.length === 5)
  })

  it('lets its legs go on when it is closed, and tells of no end that it does not know', async () => {
    const { port, server, published, problems } = await listening()
    const leg = await call(port, 'a')
    await until(() => leg.commands.length === 5)
    await server.close()
    await until(() => leg.isClosed())
    expect(hooks(published)).toEqual(['create'])
    expect(problems).toEqual([])
    expect(server.status().isConnected).toBe(false)
  })

  it('says why it cannot listen', async () => {
    const { port } = await listening()
    const second = freeswitchOutbound({ publish: async () => {}, accountOf: () => undefined, port })
    await expect(second.listen()).rejects.toThrow('EADDRINUSE')
    await second.close()
  })

  it.each([
    ['port', { port: -1 }],
    ['allow', { allow: '127.0.0.1' }],
    ['maxConnections', { maxConnections: 0 }],
    ['goOnWith', { goOnWith: 'transfer' }],
    ['silenceMs', { silenceMs: 5_000 }],
  ])('names %s when it is wrong', (name, wrong) => {
    const options = { publish: async () => {}, accountOf: () => undefined, ...wrong }
    expect(() => freeswitchOutbound(options as unknown as FreeswitchOutboundOptions)).toThrow(
      expect.objectContaining({ code: 'InvalidOption', field: name }),
    )
  })
})
