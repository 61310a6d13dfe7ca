import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { parseFreeswitchRecording, toJson, toPlain } from '../../src/testkit/switches/freeswitch-recording.js'
import { type FakeFreeswitchOptions, fakeFreeswitch } from '../../src/testkit/switches/index.js'
import { connected, type RawClient, recorded, started } from './switches-client.js'

const json = recorded('freeswitch-esl-json.txt.gz')
const plain = recorded('freeswitch-esl-plain.txt.gz')
const received = (zipped: Buffer) => gunzipSync(zipped).toString('latin1')

async function start(options: Partial<FakeFreeswitchOptions> = {}) {
  const fake = await started(fakeFreeswitch({ recording: json, ...options }))
  const connect = () => connected(fake, 'Content-Type: auth/request\n\n')
  const logIn = async (event = 'event json ALL') => {
    const client = await connect()
    client.send('auth ClueCon\n\n')
    await client.waitFor('Reply-Text: +OK accepted\n\n')
    if (event !== '') {
      client.send(`${event}\n\n`)
      await client.waitFor('Reply-Text: +OK event listener enabled')
      await client.waitFor('\n\n')
    }
    return client
  }
  return { fake, connect, logIn }
}

/** The output of an API command. */
async function api(client: RawClient, command: string): Promise<string> {
  client.send(`api ${command}\n\n`)
  await client.waitFor('Content-Type: api/response\nContent-Length: ')
  const length = Number(await client.waitFor('\n\n'))
  const begin =
    client.received.lastIndexOf(`Content-Length: ${length}\n\n`) + `Content-Length: ${length}\n\n`.length
  await expect.poll(() => client.received.length).toBeGreaterThanOrEqual(begin + length)
  return Buffer.from(client.received.slice(begin, begin + length), 'latin1').toString()
}

/** The bytes of the recording from its first event to its last. */
function eventBytes(zipped: Buffer): string {
  const text = received(zipped)
  return text.slice(
    text.indexOf('Content-Length: '),
    text.indexOf('Content-Type: command/reply\nReply-Text: +OK bye'),
  )
}

describe('the recording', () => {
  it.each([
    ['json', json],
    ['plain', plain],
  ])('is replayed byte for byte in %s', async (format, recording) => {
    const { fake, logIn } = await start({ recording })
    const client = await logIn(`event ${format} ALL`)
    const begin = client.received.length
    await fake.play({ speed: Infinity })
    const expected = eventBytes(recording)
    await expect.poll(() => client.received.length - begin).toBe(expected.length)
    expect(client.received.slice(begin) === expected).toBe(true)
    expect(fake.position).toBe(623)
    expect(fake.length).toBe(623)
  })

  it('may be uncompressed, and end in the middle of an event', () => {
    const bytes = gunzipSync(plain)
    expect(fakeFreeswitch({ recording: bytes }).length).toBe(623)
    let eleventh = bytes.indexOf('Content-Length: ')
    for (let i = 0; i < 10; i += 1) eleventh = bytes.indexOf('Content-Length: ', eleventh + 1)
    expect(fakeFreeswitch({ recording: bytes.subarray(0, eleventh) }).length).toBe(10)
    expect(fakeFreeswitch({ recording: bytes.subarray(0, eleventh + 4_000) }).length).toBe(10)
  })

  it.each([
    ['nothing', new Uint8Array(0), /must be the bytes of a recording/],
    ['a text', 'Content-Type: auth/request\n\n', /must be the bytes of a recording/],
    ['broken gzip', Uint8Array.of(0x1f, 0x8b, 1, 2, 3), /cannot be unzipped/],
    ['something else', Buffer.from('Asterisk Call Manager/11.0.0\r\n'), /holds no events of FreeSWITCH/],
    ['both formats', Buffer.concat([gunzipSync(plain), gunzipSync(json)]), /mixes plain and JSON/],
  ])('of %s is rejected by name', (_, recording, message) => {
    expect(() => fakeFreeswitch({ recording: recording as Uint8Array })).toThrow(message)
  })
})

describe('the event socket', () => {
  it('requires the password, and disconnects after a wrong one', async () => {
    const { connect, fake } = await start({ password: 'open sesame' })
    const client = await connect()
    client.send('event json ALL\n\n')
    await client.waitFor('Reply-Text: -ERR command not found\n\n')
    client.send('auth ClueCon\n\n')
    await client.waitFor('Reply-Text: -ERR invalid\n\n')
    await client.waitFor(
      'Content-Type: text/disconnect-notice\nContent-Length: 67\n\nDisconnected, goodbye.\n',
    )
    await client.closed()
    const other = await connect()
    other.send('auth open sesame\n\n')
    await other.waitFor('Reply-Text: +OK accepted\n\n')
    expect(fake.commands).toEqual(['event json ALL', 'auth', 'auth'])
  })

  it('sends only the events that the client subscribed to', async () => {
    const { fake, logIn } = await start()
    const client = await logIn('event json CHANNEL_ANSWER CHANNEL_HOLD')
    await fake.play({ speed: Infinity })
    expect(await api(client, 'echo the end')).toBe('the end')
    const names = [...client.received.matchAll(/\{"Event-Name":"(\w+)"/g)].map((match) => match[1])
    expect(names.filter((name) => name === 'CHANNEL_ANSWER')).toHaveLength(66)
    expect(names.filter((name) => name === 'CHANNEL_HOLD')).toHaveLength(7)
    expect(names).toHaveLength(73)
  })

  it('rejects a format that it does not have, and an empty list', async () => {
    const { logIn } = await start()
    const client = await logIn('')
    client.send('event plain ALL\n\n')
    await client.waitFor('Reply-Text: -ERR the recording holds json events only\n\n')
    client.send('event json\n\n')
    await client.waitFor('Reply-Text: -ERR no keywords supplied\n\n')
  })

  it('sends no events after noevents, and disconnects after exit', async () => {
    const { fake, logIn } = await start()
    const client = await logIn()
    await fake.advance()
    await client.waitFor('CHANNEL_CREATE')
    client.send('noevents\n\n')
    await client.waitFor('Reply-Text: +OK no longer listening for events\n\n')
    await fake.advance(5)
    client.send('exit\r\n\r\n')
    expect(await client.waitFor('Reply-Text: +OK bye\n\n')).toBe(
      'Content-Type: command/reply\nReply-Text: +OK bye\n\n',
    )
    await client.closed()
    expect(client.received.endsWith('See you at ClueCon! http://www.cluecon.com/\n')).toBe(true)
  })

  it('reads commands in any chunks, and several at once', async () => {
    const { connect } = await start()
    const client = await connect()
    for (const char of 'auth ClueCon\n\n') {
      client.send(char)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await client.waitFor('Reply-Text: +OK accepted\n\n')
    client.send('\n\napi uptime\n\nnonsense\n\napi nonsense\n\nexit\n\n')
    await client.waitFor('Content-Type: api/response\nContent-Length: 2\n\n0\n')
    await client.waitFor('Reply-Text: -ERR command not found\n\n')
    await client.waitFor('-ERR nonsense Command not found!\n')
    await client.waitFor('+OK bye')
  })

  it('ends a connection that sends too long a command, and serves the next', async () => {
    const { connect, logIn } = await start()
    const client = await connect()
    client.send('x'.repeat(200_000))
    await client.closed()
    expect(await api(await logIn(), 'echo still here')).toBe('still here')
  })
})

describe('the API', () => {
  it('lists the channels that are open now', async () => {
    const { fake, logIn } = await start()
    const client = await logIn()
    expect(await api(client, 'show channels as json')).toBe('{"row_count":0}')
    await fake.advance(3)
    const shown = JSON.parse(await api(client, 'show channels as json'))
    expect(shown.row_count).toBe(shown.rows.length)
    expect(shown.rows[0]).toMatchObject({
      uuid: 'c01.5f3a1c00@phone.acme.example',
      direction: 'inbound',
      created: '2026-11-20 11:22:19',
      created_epoch: '1795173739',
      name: 'sofia/sipinterface_1/1001@acme.example',
      cid_name: 'Ann Lee',
      cid_num: '1001',
      dest: '2001',
      context: 'public',
      call_uuid: 'c01.5f3a1c00@phone.acme.example',
      initial_cid_num: '1001',
    })
    expect(await api(client, 'show channels count')).toBe(`\n${shown.rows.length} total.\n`)
    await fake.play({ speed: Infinity })
    expect(await api(client, 'show channels as json')).toBe('{"row_count":0}')
    expect(await api(client, 'uptime')).toBe('61\n')
  })

  it.each([
    ['json', json],
    ['plain', plain],
  ])('dumps the variables of a leg from %s events', async (format, recording) => {
    const { fake, logIn } = await start({ recording })
    const client = await logIn(`event ${format} CHANNEL_ANSWER`)
    await fake.advance(5)
    const uuid = 'c01.5f3a1c00@phone.acme.example'
    expect(JSON.parse(await api(client, `uuid_dump ${uuid} json`))).toMatchObject({
      'Event-Name': 'CHANNEL_DATA',
      'Unique-ID': uuid,
      variable_sip_from_uri: '1001@acme.example',
    })
    const text = await api(client, `uuid_dump ${uuid}`)
    expect(text).toContain('Event-Name: CHANNEL_DATA\n')
    expect(text).toContain('Unique-ID: c01.5f3a1c00%40phone.acme.example\n')
    expect(await api(client, `uuid_exists ${uuid}`)).toBe('true')
    expect(await api(client, 'uuid_dump nobody json')).toBe('-ERR No such channel!\n')
    expect(await api(client, 'uuid_exists nobody')).toBe('false')
  })

  it('writes the same plain headers as FreeSWITCH', async () => {
    const { fake, logIn } = await start({ recording: plain })
    const client = await logIn('event plain CHANNEL_CREATE')
    await fake.advance()
    await client.waitFor('Event-Name: CHANNEL_CREATE\n')
    const sent = await client.waitFor('\n\n')
    const dumped = await api(client, 'uuid_dump c01.5f3a1c00@phone.acme.example txt')
    expect(dumped).toBe(`Event-Name: CHANNEL_DATA\n${sent}`)
  })
})

describe('the headers of an event', () => {
  it('are encoded in plain and in JSON as FreeSWITCH encoded the same event', () => {
    const [ofJson, ofPlain] = [parseFreeswitchRecording(json).events, parseFreeswitchRecording(plain).events]
    const bodyOf = (frame: string) => frame.slice(frame.indexOf('\n\n') + 2)
    let same = 0
    for (const [at, event] of ofJson.entries()) {
      expect(ofPlain[at]?.name).toBe(event.name)
      if (event.name === 'BACKGROUND_JOB') continue
      // JSON has a header once that occurs twice in plain; both subscribers' copies have the same times.
      const lines = bodyOf(ofPlain[at]?.frame ?? '').split('\n')
      const expectedLines = lines.filter(
        (line, nth) => !line.startsWith('Hangup-Cause:') || lines.indexOf(line) === nth,
      )
      expect(toPlain(event.headers())).toBe(expectedLines.join('\n'))
      expect(JSON.parse(toJson(event.headers()))).toEqual(JSON.parse(bodyOf(event.frame)))
      same += 1
    }
    expect(same).toBe(614)
  })
})

describe('a restart', () => {
  it('cuts all connections, drops the open legs and starts again with another Core-UUID', async () => {
    const { fake, logIn } = await start()
    const before = fake.coreUuid
    const client = await logIn()
    await fake.advance(3)
    await client.waitFor('CHANNEL_CREATE')
    fake.restart()
    await client.closed()
    expect(fake.position).toBe(0)
    expect(fake.coreUuid).not.toBe(before)

    const again = await logIn()
    expect(await api(again, 'show channels as json')).toBe('{"row_count":0}')
    expect(await api(again, 'global_getvar core_uuid')).toBe(fake.coreUuid)
    expect(await api(again, 'global_getvar nonsense')).toBe('-ERR no reply\n')
    await fake.advance(3)
    await again.waitFor('"Event-Name":"CHANNEL_CREATE"')
    expect(await again.waitFor('"Unique-ID":"c01.5f3a1c00@phone.acme.example"')).toContain(fake.coreUuid)
    const dump = await api(again, 'uuid_dump c01.5f3a1c00@phone.acme.example json')
    expect(JSON.parse(dump)['Core-UUID']).toBe(fake.coreUuid)
    expect(again.received).not.toContain(before)
  })
})
