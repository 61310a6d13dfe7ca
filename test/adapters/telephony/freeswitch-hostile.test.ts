import { accountFromVariable, freeswitchSource } from 'hookswitch/freeswitch'
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

/** An event whose caller has this name, given as bytes of any encoding. */
const FORMATS = {
  json(event: Record<string, string>, name: Buffer) {
    const [before = '', after = ''] = JSON.stringify({ ...event, [NAME]: '@' }).split('@"')
    const escaped = Buffer.from(JSON.stringify(name.toString('latin1')).slice(1, -1), 'latin1')
    return frame('text/event-json', Buffer.concat([Buffer.from(before), escaped, Buffer.from(`"${after}`)]))
  },
  plain(event: Record<string, string>, name: Buffer) {
    const encoded = [...name].map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('')
    const lines = Object.entries(event).map(([key, value]) => `${key}: ${encodeURIComponent(value)}\n`)
    return frame('text/event-plain', Buffer.from(`${lines.join('')}${NAME}: ${encoded}\n\n`))
  },
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
