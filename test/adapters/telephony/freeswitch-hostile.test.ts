import { accountFromRealm, accountFromVariable, freeswitchSource } from 'hookswitch/freeswitch'
import { until } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkEvent, checkPayloadSize } from '../../../src/delivery/event.js'
import { payloadOf } from '../../../src/delivery/payload.js'
import { legEvent, startFakeSwitch } from './freeswitch-fake.js'
import { hooks } from './freeswitch-mapped.js'
import { observeSource } from './observe-source.js'

const frame = (type: string, body: Buffer) =>
  Buffer.concat([Buffer.from(`Content-Length: ${body.length}\nContent-Type: ${type}\n\n`), body])
const NAME = 'Caller-Caller-ID-Name'

type Headers = Readonly<Record<string, string>>

/** A JSON event with a header whose value is given as bytes of any encoding. */
function jsonFrame(event: Headers, header: string, value: Buffer): Buffer {
  const [before = '', after = ''] = JSON.stringify({ ...event, [header]: '@' }).split('@"')
  const escaped = Buffer.from(JSON.stringify(value.toString('latin1')).slice(1, -1), 'latin1')
  return frame('text/event-json', Buffer.concat([Buffer.from(before), escaped, Buffer.from(`"${after}`)]))
}

const plainLines = (event: Headers) =>
  Object.entries(event)
    .map(([key, value]) => `${key}: ${encodeURIComponent(value)}\n`)
    .join('')

/** An event whose caller has this name. */
const FORMATS = {
  json: (event: Headers, name: Buffer) => jsonFrame(event, NAME, name),
  plain(event: Headers, name: Buffer) {
    const encoded = [...name].map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('')
    return frame('text/event-plain', Buffer.from(`${plainLines(event)}${NAME}: ${encoded}\n\n`))
  },
}

/** A text message with this text. */
const MESSAGES = {
  json: (event: Headers, text: Buffer) => jsonFrame(event, '_body', text),
  plain: (event: Headers, text: Buffer) =>
    frame('text/event-plain', Buffer.concat([Buffer.from(`${plainLines(event)}\n`), text])),
}

/** A call of a caller with this name, and the next call. */
async function call(format: keyof typeof FORMATS, name: Buffer) {
  const fake = await startFakeSwitch()
  onTestFinished(() => fake.close())
  const observed = observeSource((deps) =>
    freeswitchSource({ ...deps, accountOf: accountFromVariable(), port: fake.port, format }),
  )
  const { source, published } = observed
  source.start()
  await until(() => fake.commands.includes('api show channels as json'))
  for (const uuid of ['a', 'b']) {
    const named = uuid === 'a' ? name : Buffer.from('Ann Lee')
    fake.send(FORMATS[format](legEvent('CHANNEL_CREATE', uuid), named))
    fake.send(FORMATS[format](legEvent('CHANNEL_ANSWER', uuid, { answeredMs: 100 }), named))
    fake.send(FORMATS[format](legEvent('CHANNEL_DESTROY', uuid, { answeredMs: 100 }), named))
  }
  await until(() => published.length === 6)
  return observed
}

describe.each(['json', 'plain'] as const)('a caller whose name, in the format %s,', (format) => {
  it.each([
    ['has 64 KiB', Buffer.alloc(65_536, 'x'), 'x'.repeat(1_024)],
    ['has 64 KiB of quotes', Buffer.alloc(65_536, '"'), '"'.repeat(1_024)],
    ['has 64 KiB of control characters', Buffer.alloc(65_536, 1), '\u0001'.repeat(1_024)],
    ['has 64 KiB of another encoding', Buffer.alloc(65_536, 0xe9), '\ufffd'.repeat(1_024)],
    ['is not UTF-8', Buffer.from('Zo\xe9', 'latin1'), 'Zo\ufffd'],
    [
      'looks like lines of the protocol',
      Buffer.from('x\n\nContent-Length: 9\n\n'),
      'x\n\nContent-Length: 9\n\n',
    ],
  ])('%s loses no event, and has one line in the log where it is cut', async (_, name, published) => {
    const { published: events, logged, source, of } = await call(format, name)
    expect(hooks(events.filter(({ callId }) => callId === 'a'))).toEqual(['create', 'answer', 'destroy'])
    expect(hooks(events.filter(({ callId }) => callId === 'b'))).toEqual(['create', 'answer', 'destroy'])
    for (const event of events) {
      expect(event.callerIdName).toBe(event.callId === 'a' ? published : 'Ann Lee')
      checkPayloadSize(
        JSON.stringify(
          payloadOf(
            checkEvent(event, 1, () => true),
            'e',
          ),
        ),
      )
    }
    const lines = logged.filter((line) => line.includes('a value of the switch was cut'))
    expect(lines).toHaveLength(name.length > 1_024 ? 1 : 0)
    expect(source.status().isConnected).toBe(true)
    expect([of('rejected'), of('account_unknown')]).toEqual([[], []])
  })
})

describe.each(['json', 'plain'] as const)('a text message, in the format %s,', (format) => {
  it.each([
    ['of 64 KiB', Buffer.alloc(65_536, 'x'), 'x'.repeat(8_192)],
    ['of 64 KiB of quotes', Buffer.alloc(65_536, '"'), '"'.repeat(8_192)],
    ['of 64 KiB of control characters', Buffer.alloc(65_536, 1), '\u0001'.repeat(8_192)],
    ['that is not UTF-8', Buffer.from('Zo\xe9', 'latin1'), 'Zo\ufffd'],
    ['like the protocol', Buffer.from('x\n\nContent-Length: 9\n\n'), 'x\n\nContent-Length: 9\n\n'],
  ])('%s is published as far as an event can hold it, and so is the next one', async (_, text, body) => {
    const fake = await startFakeSwitch()
    onTestFinished(() => fake.close())
    const { source, published, of } = observeSource((deps) =>
      freeswitchSource({
        ...deps,
        accountOf: accountFromRealm({ 'acme.example': 'acme' }),
        optionalHooks: ['sms'],
        port: fake.port,
        format,
      }),
    )
    source.start()
    await until(() => fake.commands.includes('api show channels as json'))
    for (const [sequence, content] of [text, Buffer.from('Hello')].entries())
      fake.send(
        MESSAGES[format](
          {
            'Event-Name': 'MESSAGE',
            'Core-UUID': 'run-1',
            'Event-Sequence': String(sequence),
            'Event-Date-Timestamp': '1795173739000000',
            proto: 'sip',
            from_user: '1001',
            from_host: 'acme.example',
            to_user: '1002',
          },
          content,
        ),
      )
    await until(() => published.length === 2)
    expect(published.map((event) => event.body)).toEqual([body, 'Hello'])
    for (const event of published) {
      const checked = checkEvent(event, 1, () => true)
      checkPayloadSize(JSON.stringify(payloadOf(checked, 'e')))
    }
    expect([of('rejected'), of('account_unknown')]).toEqual([[], []])
  })
})
