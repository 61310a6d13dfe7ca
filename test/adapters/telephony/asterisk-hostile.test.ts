import fc from 'fast-check'
import { createHookswitch, memoryStore } from 'hookswitch'
import { until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { hostileText } from '../../support/hostile-text.js'
import { channelEvent, channelFields } from './asterisk-ami-server.js'
import { ariEvent } from './asterisk-ari-server.js'
import { startAmiSource, startAriSource } from './asterisk-under-test.js'

const T0 = 1_767_225_600_000
const idOf = (n: number) => `1767225600.${n}`

/** Starts a service whose checks every published event must pass. */
async function startService() {
  const hs = createHookswitch({ store: memoryStore() })
  await hs.start()
  await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
  return hs
}

const KIB = 'x'.repeat(65_536)
const NAMES: Readonly<Record<string, Buffer>> = {
  'of 64 KiB': Buffer.from(KIB),
  'of 64 KiB of backslashes': Buffer.from('\\'.repeat(65_536)),
  'of 64 KiB of dashes and slashes': Buffer.from('-/'.repeat(32_768)),
  'with control characters': Buffer.from('a\0b\x07c\x1b[2J\x7f'),
  'with a bare LF': Buffer.from('a\nEvent: Hangup\nCause: 16'),
  'with quotes': Buffer.from('\\\\\\"a\\\\\\"" <sip:b>'),
  'in Latin-1': Buffer.from('Zo\u00eb', 'latin1'),
  'in half of UTF-8': Buffer.from([0xe2, 0x82]),
}
const FIELDS = ['CallerIDNum', 'CallerIDName', 'ConnectedLineName', 'Exten', 'Context', 'ChanVariable']

describe.each(Object.entries(NAMES))('a value %s', (title, value) => {
  it('costs no event over AMI, and is one clear line where it is too long', async () => {
    const hs = await startService()
    const { server, published, of, logged } = await startAmiSource({ customVariables: ['X'] }, hs.publish)
    const { socket } = await server.connected(0)
    const send = (name: string, id: string, field: string) => {
      const text = channelEvent(name, id, T0, {
        [field]: field === 'ChanVariable' ? 'X=@@' : '@@',
        Cause: 16,
      })
      const [before = '', after = ''] = text.split('@@')
      socket.write(Buffer.concat([Buffer.from(before), value, Buffer.from(after)]))
    }
    FIELDS.forEach((field, n) => {
      send('Newchannel', idOf(n), field)
      send('Hangup', idOf(n), field)
    })
    await until(() => published.length === FIELDS.length * 2)
    expect(of('rejected')).toEqual([])
    const kinds = new Set(of('problem').map(({ kind }) => kind))
    expect([...kinds]).toEqual(title.includes('64 KiB') ? ['truncated'] : [])
    for (const line of logged) expect(line.length).toBeLessThan(400)
    await hs.close()
  })

  it('costs no event over ARI', async () => {
    const hs = await startService()
    const { server, connects, published, of } = await startAriSource({ customVariables: ['X'] }, hs.publish)
    const { send } = await server.connected(0)
    await until(() => connects() === 1)
    const text = value.toString('utf8')
    const over = {
      ...{ caller: { name: text, number: text }, channelvars: { X: text } },
      dialplan: { context: text, exten: text },
    }
    send(ariEvent('ChannelCreated', idOf(1), T0, over))
    send(ariEvent('ChannelDestroyed', idOf(1), T0 + 9, over, { cause: 16 }))
    await until(() => published.length === 2)
    expect(of('rejected')).toEqual([])
    await hs.close()
  })
})

describe.each(Object.entries(NAMES))('a name %s of a phone, an agent or a message', (title, value) => {
  it('costs no event, and is one clear line where it is too long', async () => {
    const hs = await startService()
    const optionalHooks = ['device_registered', 'queue_agent_login'] as const
    const accountOf = () => 'acme'
    const { server, published, of, logged } = await startAmiSource({ optionalHooks, accountOf }, hs.publish)
    const { socket } = await server.connected(0)
    const messages = [
      'Event: ContactStatus\r\nURI: @@\r\nContactStatus: NonQualified\r\nAOR: x\r\nEndpointName: @@',
      'Event: PeerStatus\r\nPeer: IAX2/@@\r\nPeerStatus: Registered\r\nAddress: @@',
      'Event: QueueMemberAdded\r\nQueue: @@\r\nMemberName: @@\r\nInterface: PJSIP/@@',
    ]
    for (const text of messages) {
      const parts = `${text}\r\nTimestamp: ${T0 / 1000}.5\r\n\r\n`.split('@@')
      socket.write(Buffer.concat(parts.flatMap((part, n) => [...(n > 0 ? [value] : []), Buffer.from(part)])))
    }
    await until(() => published.length === messages.length)
    expect(of('rejected')).toEqual([])
    const kinds = new Set(of('problem').map(({ kind }) => kind))
    // The fake's `manager.conf` does not grant these classes.
    kinds.delete('misconfigured')
    expect([...kinds]).toEqual(title.includes('64 KiB') ? ['truncated'] : [])
    for (const line of logged) expect(line.length).toBeLessThan(400)
    await hs.close()
  })

  it('costs no text message over ARI', async () => {
    const hs = await startService()
    const options = { optionalHooks: ['sms'], accountOf: () => 'acme' } as const
    const { server, connects, published, of } = await startAriSource(options, hs.publish)
    const { send } = await server.connected(0)
    await until(() => connects() === 1)
    const text = value.toString('utf8')
    const message = { from: text, to: text, body: text, variables: { 'Call-ID': text } }
    const endpoint = { technology: 'PJSIP', resource: text }
    const timestamp = new Date(T0).toISOString()
    send({ type: 'TextMessageReceived', timestamp, endpoint, message })
    await until(() => published.length === 1)
    expect(of('rejected')).toEqual([])
    await hs.close()
  })
})

describe('any text in any field of a channel', () => {
  it('costs neither its own event nor that of the next channel', async () => {
    const hs = await startService()
    const { server, published, of } = await startAmiSource({}, hs.publish)
    const { socket } = await server.connected(0)
    let calls = 0
    const fields = fc.dictionary(
      fc.constantFrom(...FIELDS, 'Channel', 'AccountCode', 'Linkedid', 'ChannelState'),
      hostileText().map((text) => text.replace(/[\r\n]/g, '')),
    )
    await fc.assert(
      fc.asyncProperty(fields, async (over) => {
        const [id, next] = [idOf(calls++), idOf(calls++)]
        const before = published.length
        // A channel needs a name, and its account.
        const named = { ...over, Channel: `PJSIP/${over.Channel ?? ''}-1`, AccountCode: 'acme' }
        socket.write(channelEvent('Newchannel', id, T0, named) + channelEvent('Hangup', id, T0, named))
        socket.write(
          channelEvent('Newchannel', next, T0) + channelEvent('Hangup', next, T0, channelFields(next)),
        )
        await until(() => published.length === before + 4)
      }),
      { numRuns: 50 },
    )
    expect(of('rejected')).toEqual([])
    await hs.close()
  })
})
