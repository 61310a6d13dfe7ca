import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createAmiChannels } from '../../src/testkit/switches/asterisk-ami-channels.js'
import { fieldOf, parseAmiRecording } from '../../src/testkit/switches/asterisk-ami-recording.js'
import { fakeAsteriskAmi } from '../../src/testkit/switches/index.js'
import { connected, type RawClient, recorded, started } from './switches-client.js'

const recording = recorded('asterisk-ami.txt.gz')
const blocks = gunzipSync(recording).toString('latin1').split('\r\n\r\n')

async function start() {
  const fake = await started(fakeAsteriskAmi({ recording, username: 'hookswitch', secret: 'sesame' }))
  const connect = () => connected(fake, 'Asterisk Call Manager/11.0.0\r\n')
  const logIn = async (events = 'on') => {
    const client = await connect()
    client.send(
      `Action: Login\r\nUsername: hookswitch\r\nSecret: sesame\r\nEvents: ${events}\r\nActionID: 1\r\n\r\n`,
    )
    await client.waitFor('Response: Success\r\nActionID: 1\r\nMessage: Authentication accepted\r\n\r\n')
    await client.waitFor('Event: FullyBooted\r\n')
    await client.waitFor('\r\n\r\n')
    return client
  }
  return { fake, connect, logIn }
}

const namesIn = (text: string) => [...text.matchAll(/^Event: (\w+)\r$/gm)].map((match) => match[1] ?? '')
const ping = async (client: RawClient) => {
  client.send('Action: Ping\r\nActionID: p\r\n\r\n')
  return client.waitFor('Response: Success\r\nActionID: p\r\nPing: Pong\r\nTimestamp: ')
}

describe('the recording', () => {
  it('is replayed byte for byte, without the replies to the recording client', async () => {
    const { fake, logIn } = await start()
    const client = await logIn()
    await fake.play({ speed: Infinity })
    const sent = (await ping(client)).split('\r\n\r\n').slice(0, -1)
    const events = blocks.filter((block) => /^Event: (?!FullyBooted|CoreShowChannel)/.test(block))
    // The last block is incomplete: the recording ends in it.
    expect(sent.length).toBe(events.length)
    expect(sent.every((block, at) => block === events[at])).toBe(true)
    expect(fake.position).toBe(fake.length)
  })

  it.each([
    ['something else', Buffer.from('Content-Type: auth/request\n\n'), /holds no events of Asterisk/],
    ['nothing', Buffer.alloc(0), /must be the bytes of a recording/],
  ])('of %s is rejected by name', (_, bytes, message) => {
    expect(() => fakeAsteriskAmi({ recording: bytes, username: 'a', secret: 'b' })).toThrow(message)
  })

  it('needs a name and a secret', () => {
    expect(() => fakeAsteriskAmi({ recording, username: 'a' } as never)).toThrow(/secret is required/)
  })
})

describe('the manager interface', () => {
  it('rejects a wrong secret, and every action before the login', async () => {
    const { fake, connect } = await start()
    const client = await connect()
    client.send('Action: CoreShowChannels\r\nActionID: x\r\n\r\n')
    await client.waitFor('Response: Error\r\nActionID: x\r\nMessage: Permission denied\r\n\r\n')
    client.send('Action: Login\r\nUsername: hookswitch\r\nSecret: wrong\r\n\r\n')
    await client.waitFor('Response: Error\r\nMessage: Authentication failed\r\n\r\n')
    await client.closed()
    expect(fake.commands).toEqual(['CoreShowChannels', 'Login'])
  })

  it('sends only the classes of the event mask', async () => {
    const { fake, logIn } = await start()
    const client = await logIn('call,cdr')
    await fake.play({ speed: Infinity })
    const names = new Set(namesIn(await ping(client)))
    expect(names).toContain('Newchannel')
    expect(names).not.toContain('VarSet')
    expect(names).not.toContain('SuccessfulAuth')
  })

  it.each(['off', 'Off'])('sends nothing with the event mask %s until it changes', async (off) => {
    const { fake, logIn } = await start()
    const client = await logIn(off)
    await fake.advance(2)
    client.send('Action: Events\r\nEventMask: on\r\nActionID: e\r\n\r\n')
    expect(namesIn(await client.waitFor('Response: Success\r\nActionID: e\r\nEvents: On\r\n\r\n'))).toEqual(
      [],
    )
    await fake.advance()
    await client.waitFor('Event: ')
    await fake.waitFor('subscribed')
  })

  it('reads actions in any chunks, rejects unknown ones, and says goodbye', async () => {
    const { logIn } = await start()
    const client = await logIn()
    for (const char of 'ACTION: Nonsense\r\nActionId: n\r\n\r\n') {
      client.send(char)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await client.waitFor('Response: Error\r\nActionID: n\r\nMessage: Invalid/unknown command\r\n\r\n')
    client.send('\r\n\r\nAction: Logoff\r\n\r\n')
    await client.waitFor('Response: Goodbye\r\nMessage: Thanks for all the fish.\r\n\r\n')
    await client.closed()
  })

  it('ends a connection that sends too long an action', async () => {
    const { connect } = await start()
    const client = await connect()
    client.send('x'.repeat(200_000))
    await client.closed()
  })
})

describe('CoreShowChannels', () => {
  const show = async (client: RawClient) => {
    client.send('Action: CoreShowChannels\r\nActionID: show\r\n\r\n')
    await client.waitFor(
      'Response: Success\r\nActionID: show\r\nEventList: start\r\nMessage: Channels will follow\r\n\r\n',
    )
    const list = await client.waitFor(
      'Event: CoreShowChannelsComplete\r\nActionID: show\r\nEventList: Complete\r\nListItems: ',
    )
    const count = Number(await client.waitFor('\r\n\r\n'))
    const rows = list.split('\r\n\r\n').slice(0, -1)
    expect(rows).toHaveLength(count)
    return rows
  }

  it('lists what Asterisk listed at that moment of the recording', async () => {
    const { fake, logIn } = await start()
    const client = await logIn('off')
    const answer = blocks.findIndex((block) => block.startsWith('Event: CoreShowChannel\r\n'))
    const before = blocks.slice(0, answer).filter((block) => /Event: (?!FullyBooted)/.test(block)).length
    await fake.advance(before)
    const rows = await show(client)
    const listed = blocks.filter((block) => block.startsWith('Event: CoreShowChannel\r\n'))
    const withoutLength = (row: string) => row.replace(/ActionID: .*|Duration: .*|Application.*/g, '')
    // Only the snapshot is compared: no event shows the application of a dialled channel.
    expect(rows.map(withoutLength).sort()).toEqual(listed.map(withoutLength).sort())
  })

  it('is empty before the first call and after the last', async () => {
    const { fake, logIn } = await start()
    const client = await logIn('off')
    expect(await show(client)).toEqual([])
    await fake.play({ speed: Infinity })
    expect(await show(client)).toEqual([])
  })
})

describe('the bridge of a channel', () => {
  it('is the one it entered last, and none after it has left', () => {
    const channels = createAmiChannels()
    const seen = { entered: 0, left: 0 }
    for (const event of parseAmiRecording(recording).events) {
      channels.apply(event)
      const id = fieldOf(event.lines, 'Uniqueid')
      const row = channels.list().find((lines) => lines.includes(`Uniqueid: ${id}`))
      if (!row || !event.name.startsWith('Bridge')) continue
      const bridge = event.name === 'BridgeEnter' ? fieldOf(event.lines, 'BridgeUniqueid') : ''
      if (event.name === 'BridgeEnter') seen.entered += 1
      else if (event.name === 'BridgeLeave') seen.left += 1
      else continue
      expect(row.at(-1)).toBe(`BridgeId: ${bridge}`)
    }
    expect(seen).toEqual({ entered: 71, left: 71 })
  })
})

describe('a restart', () => {
  it('cuts all connections, and no event of the open channels follows', async () => {
    const { fake, logIn } = await start()
    const client = await logIn()
    await fake.advance(20)
    const received = await ping(client)
    const ids = [...new Set([...received.matchAll(/^Uniqueid: (.*)\r$/gm)].map((match) => match[1] ?? ''))]
    expect(ids.length).toBeGreaterThan(0)
    fake.restart()
    await client.closed()
    expect(fake.position).toBe(20)
    const again = await logIn()
    await fake.play({ speed: Infinity })
    const after = await ping(again)
    const count = (wanted: string) => namesIn(after).filter((name) => name === wanted).length
    expect(count('Hangup')).toBe(count('Newchannel'))
    expect(count('Hangup')).toBeGreaterThan(80)
    for (const id of ids) expect(after).not.toContain(` ${id}\r\n`)
  })
})
