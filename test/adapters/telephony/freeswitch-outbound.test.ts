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
  for (const opened of open.splice(0).reverse()) await opened.close()
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
  /** Replies to commands, by their first word. */
  readonly replies?: Readonly<Record<string, string>>
}

/** The switch's side of the `socket` application, for one leg. */
async function call(port: number, uuid: string, { headers = {}, replies = {} }: CallOptions = {}) {
  const socket: Socket = connect({ port, host: '127.0.0.1' })
  const commands: string[] = []
  let received = ''
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
    received += chunk.toString()
    for (let end = received.indexOf('\n\n'); end >= 0; end = received.indexOf('\n\n')) {
      const command = received.slice(0, end)
      received = received.slice(end + 2)
      commands.push(command)
      const [word = ''] = command.split(/\s/)
      if (command === 'connect') socket.write(`${connected.join('\n')}\n\n`)
      else if (command === 'exit') socket.end('Content-Type: command/reply\nReply-Text: +OK bye\n\n')
      else socket.write(`Content-Type: command/reply\nReply-Text: ${replies[word] ?? '+OK'}\n\n`)
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

describe('a leg that its dial plan hands over', () => {
  it('is published with its end, however late its account is known', async () => {
    const clock = manualClock()
    const { published, port, server } = await listening({ clock })
    const name = 'variable_ecallmgr_Account-ID'
    const leg = await call(port, 'a', { headers: { [name]: '' } })
    await until(() => leg.commands.length === 5)
    expect(server.status().legsWithoutAccount).toBe(1)
    for (let seconds = 0; seconds < 60; seconds += 10) await clock.advance(10_000)
    leg.send(hangup('a'))
    await until(() => published.length === 3)
    expect(hooks(published)).toEqual(['create', 'answer', 'destroy'])
  })

  it('is published to its end, continues to its destination, and is released', async () => {
    const { published, problems, port, server } = await listening()
    const leg = await call(port, 'a')
    await until(() => leg.commands.length === 5)
    expect(leg.commands).toEqual([
      'connect',
      'linger 30',
      'myevents json',
      'event json CHANNEL_HOLD CHANNEL_UNHOLD RECORD_START RECORD_STOP ' +
        'CUSTOM valet_parking::info vm::maintenance callcenter::info fifo::info conference::maintenance',
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

  it('after a REFER has its own parties, not those that the switch has swapped', async () => {
    const { published, port } = await listening()
    // As recorded of the leg that a phone called, after that phone has transferred it (C21 b).
    const leg = await call(port, 'b', {
      headers: {
        'Call-Direction': 'outbound',
        'Channel-HIT-Dialplan': 'true',
        'Caller-Caller-ID-Name': 'Outbound Call',
        'Caller-Caller-ID-Number': '2001',
        'Caller-Orig-Caller-ID-Name': 'Ann Lee',
        'Caller-Orig-Caller-ID-Number': '1001',
        'Caller-Callee-ID-Name': 'Ann Lee',
        'Caller-Callee-ID-Number': '1001',
        'Caller-Destination-Number': '3000',
        variable_sip_from_uri: '1001@127.0.0.1',
        variable_sip_to_uri: '2001@acme.example',
        variable_sip_req_uri: '2001@acme.example',
      },
    })
    await until(() => leg.commands.length === 5)
    // The leg continues to where it is transferred.
    expect(leg.commands[4]).toMatch(/execute-app-arg: 3000 XML public$/)
    leg.send(hangup('b'))
    await until(() => published.length === 3)
    for (const event of published) {
      expect(event).toMatchObject({
        direction: 'outbound',
        callerIdName: 'Ann Lee',
        callerIdNumber: '1001',
        calleeIdNumber: '2001',
        from: '1001@127.0.0.1',
        to: '2001@acme.example',
      })
      expect(event).not.toHaveProperty('calleeIdName')
    }
  })

  it('may have a variable of 1 MiB', async () => {
    const { published, port, problems } = await listening()
    const leg = await call(port, 'a', { headers: { variable_note: 'é'.repeat(524_288) } })
    await until(() => leg.commands.length === 5)
    leg.send(hangup('a'))
    await until(() => published.length === 3)
    expect(problems).toEqual([])
  })

  it('continues with the command of the host', async () => {
    const { port } = await listening({
      continueWith: ({ variable }) => `bridge user/${variable('ecallmgr_Account-ID')}`,
    })
    const leg = await call(port, 'a')
    await until(() => leg.commands.length === 5)
    expect(leg.commands[4]).toMatch(/execute-app-name: bridge\nexecute-app-arg: user\/acme$/)
  })

  it.each([
    [
      'the dialled number would not fit on one line',
      { headers: { 'Caller-Destination-Number': '2\napi shutdown' } },
      {},
    ],
    ['the switch refuses the command', { replies: { sendmsg: '-ERR invalid session id' } }, {}],
    [
      'the command of the host would not fit on one line',
      {},
      { continueWith: () => 'transfer 1\n\napi shutdown' },
    ],
  ])('resumes its dial plan when it cannot be continued: %s', async (_, callOptions, over) => {
    const { port, problems, published } = await listening(over)
    const leg = await call(port, 'a', callOptions)
    await until(() => leg.isClosed())
    expect(leg.commands.at(-1)).toBe('resume')
    expect(leg.commands.join()).not.toContain('shutdown')
    await until(() => published.length === 2)
    expect(hooks(published)).toEqual(['create', 'destroy'])
    expect(problems).toHaveLength(1)
  })

  it('ends when its connection is lost, which is a problem', async () => {
    const { port, problems, published } = await listening()
    const leg = await call(port, 'a')
    await until(() => leg.commands.length === 5)
    leg.socket.destroy()
    await until(() => published.length === 2)
    expect(published[1]).toMatchObject({ hook: 'channel_destroy', customChannelVars: { found_by: 'resync' } })
    expect(problems).toMatchObject([{ message: expect.stringContaining('lost before the end'), callId: 'a' }])
  })

  it('of another switch does not end legs of the first', async () => {
    const { port, server, published } = await listening()
    const firstCall = await call(port, 'a')
    await until(() => firstCall.commands.length === 5)
    const other = await call(port, 'b', { headers: { 'Core-UUID': 'another' } })
    await until(() => other.commands.length === 5)
    expect(server.status().openLegs).toBe(2)
    expect(hooks(published)).toEqual(['create', 'create'])
  })
})

describe('the server', () => {
  it('refuses addresses that are not allowed, and connections above the limit', async () => {
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

  it('continues calls while the service accepts nothing', async () => {
    const { port, server } = await listening({ publish: () => new Promise(() => {}) })
    const first = await call(port, 'first')
    await until(() => first.commands.length === 5)
    // More than a thousand holds of one leg: the pipeline is full.
    const hold = jsonFrame(legEvent('CHANNEL_HOLD', 'first', { answeredMs: 1_000 }))
    first.send(hold.repeat(1_100))
    await until(() => server.status().waiting >= 1_024)
    const second = await call(port, 'second')
    await until(() => second.commands.length === 5)
    expect(second.commands[4]).toMatch(/^sendmsg/)
    await server.close({ drainMs: 0 })
  })

  it('disconnects a peer that identifies its leg twice', async () => {
    const { port, problems, server } = await listening()
    const leg = await call(port, 'a')
    await until(() => leg.commands.length === 5)
    const secondIdentity = Object.entries(legEvent('CHANNEL_DATA', 'other')).map(
      ([name, value]) => `${name}: ${encodeURIComponent(value)}`,
    )
    leg.send(`${secondIdentity.join('\n')}\nContent-Type: command/reply\nReply-Text: %2BOK\n\n`)
    await until(() => leg.isClosed())
    expect(problems).toMatchObject([{ kind: 'lost', message: expect.stringContaining('twice') }])
    expect(server.status().openLegs).toBe(0)
  })

  it('does not listen when it was closed during or before listen', async () => {
    const options = { publish: async () => {}, accountOf: accountFromVariable(), port: 0 }
    const server = freeswitchOutbound(options)
    const listens = server.listen()
    listens.catch(() => {})
    await server.close()
    await expect(listens).rejects.toThrow('the server is closed')
    await expect(server.listen()).rejects.toThrow('the server is closed')
  })

  it('disconnects a peer that does not identify its leg', async () => {
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

  it('disconnects a peer of another protocol, and serves the next', async () => {
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

  it('publishes no end for its open legs when it is closed', async () => {
    const { port, server, published, problems } = await listening()
    const leg = await call(port, 'a')
    await until(() => leg.commands.length === 5)
    await server.close()
    await until(() => leg.isClosed())
    expect(hooks(published)).toEqual(['create'])
    expect(problems).toEqual([])
    expect(server.status().isConnected).toBe(false)
  })

  it('rejects listen with the system error', async () => {
    const { port } = await listening()
    const second = freeswitchOutbound({ publish: async () => {}, accountOf: () => undefined, port })
    await expect(second.listen()).rejects.toThrow('EADDRINUSE')
    await second.close()
  })

  it.each([
    ['port', { port: -1 }],
    ['allow', { allow: '127.0.0.1' }],
    ['allow', { allow: ['localhost'] }],
    ['maxConnections', { maxConnections: 0 }],
    ['continueWith', { continueWith: 'transfer' }],
    ['silenceMs', { silenceMs: 5_000 }],
  ])('a wrong %s is an InvalidOption that names it', (name, wrong) => {
    const options = { publish: async () => {}, accountOf: () => undefined, ...wrong }
    expect(() => freeswitchOutbound(options as unknown as FreeswitchOutboundOptions)).toThrow(
      expect.objectContaining({ code: 'InvalidOption', field: name }),
    )
  })
})
