import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { AsteriskFacts } from 'hookswitch/asterisk'
import { accountFromEndpoint, accountFromVariable, OPTIONAL_HOOKS } from 'hookswitch/asterisk'
import { describe, expect, it } from 'vitest'
import { parseAmiEvent } from '../../../adapters/telephony/asterisk/ami-event.js'
import { createAmiMessage } from '../../../adapters/telephony/asterisk/ami-message.js'
import { parseAriEvent } from '../../../adapters/telephony/asterisk/ari-event.js'
import { amiEvents, ariEvents, traceOf } from './asterisk-scenarios.js'
import { A, channelEvent, hangupEvent, T0 } from './asterisk-switch-events.js'

/** What a live Asterisk 22.10 sent; phones are 1001 to 1003 (PJSIP) and 2001 (IAX2). */
const bytesOf = (name: string) => {
  const bytes = readFileSync(new URL(`asterisk-recordings/${name}`, import.meta.url))
  return name.endsWith('.gz') ? gunzipSync(bytes) : bytes
}
const ami = (name: string) =>
  amiEvents([Buffer.from('Asterisk Call Manager/11.0.0\r\n'), bytesOf(`${name}.ami.txt`)])
const framesIn = (name: string) => bytesOf(name).toString('utf8').trim().split('\n')
const ari = (name: string) => ariEvents(framesIn(`${name}.ari.ndjson`))

const ALL = { optionalHooks: OPTIONAL_HOOKS, accountOf: () => 'acme' }
const eventsOf = (all: ReturnType<typeof ami>, options: Parameters<typeof traceOf>[1] = ALL) => {
  const { events, problems } = traceOf(all, options)
  expect(problems).toEqual([])
  return events
}

describe('registrations', () => {
  const contact = 'sip:1001@127.0.0.3:6001'

  it.each([
    ['AMI', ami],
    ['ARI', ari],
  ])('of PJSIP and IAX2 over %s are events of their phones, and renewals are none', (_, read) => {
    const events = eventsOf(read('registrations'))
    expect(events.map((event) => [event.hook, event.callId, event.contact])).toEqual([
      ['device_registered', 'PJSIP/1001', contact],
      ['device_registered', 'PJSIP/1002', 'sip:1002@127.0.0.3:6002'],
      ['device_unregistered', 'PJSIP/1001', contact],
      ['device_registered', 'IAX2/2001', '127.0.0.3'],
      ['device_unregistered', 'IAX2/2001', undefined],
    ])
    expect(events[0]).toMatchObject({ accountId: 'acme', username: '1001', from: '1001' })
    expect(new Set(events.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(5)
  })

  it('have the realm that realmOf returns', () => {
    const realmOf = ({ endpoint }: AsteriskFacts) => `${endpoint}.example.com`
    const [first] = eventsOf(ami('registrations'), { ...ALL, realmOf })
    expect(first).toMatchObject({
      realm: '1001.example.com',
      from: '1001@1001.example.com',
      username: '1001',
    })
  })

  it('have the account of their endpoint; a variable is not known', () => {
    const byEndpoint = accountFromEndpoint({ 1001: 'alpha', 2001: 'beta' })
    const { events, unknown } = traceOf(ami('registrations'), { ...ALL, accountOf: byEndpoint })
    expect(events.map(({ accountId }) => accountId)).toEqual(['alpha', 'alpha', 'beta', 'beta'])
    expect(unknown).toMatchObject([{ callId: 'PJSIP/1002', reason: 'ended' }])
    const byVariable = traceOf(ami('registrations'), { ...ALL, accountOf: accountFromVariable('ACCOUNT_ID') })
    expect(byVariable.events).toEqual([])
    expect(byVariable.unknown).toHaveLength(5)
  })

  it('report functions of the host that fail', () => {
    const accountOf = (): string => {
      throw new Error('no table')
    }
    const { events, problems } = traceOf(ami('registrations').slice(0, 1), {
      ...ALL,
      accountOf,
      realmOf: () => 7 as never,
    })
    expect(events).toEqual([])
    expect(problems).toEqual([
      { kind: 'callback_failed', message: 'accountOf threw: Error: no table', callId: 'PJSIP/1001' },
      { kind: 'callback_failed', message: 'realmOf returned no string', callId: 'PJSIP/1001' },
    ])
  })

  it('are published only if their hooks are selected', () => {
    expect(eventsOf(ami('registrations'), { accountOf: () => 'acme' })).toEqual([])
  })
})

describe('agents of queues', () => {
  it('log in, pause, continue and log out', () => {
    const events = eventsOf(ami('queue-agents'))
    expect(events.map(({ hook, reason }) => [hook, reason])).toEqual([
      ['queue_agent_login', undefined],
      ['queue_agent_pause', 'lunch'],
      ['queue_agent_resume', undefined],
      ['queue_agent_logout', undefined],
    ])
    const agent = { callId: 'PJSIP/1002', queueId: 'support', agentId: 'Bob', agentNumber: '1002' }
    for (const event of events) expect(event).toMatchObject(agent)
  })

  it('have the account of their queue or their phone', () => {
    const seen: unknown[] = []
    const accountOf = ({ hook, queue, channel, technology, endpoint }: AsteriskFacts) => {
      seen.push([hook, queue, channel, technology, endpoint])
      return queue
    }
    const [login] = eventsOf(ami('queue-agents'), { ...ALL, accountOf })
    expect(login?.accountId).toBe('support')
    expect(seen[0]).toEqual(['queue_agent_login', 'support', 'PJSIP/1002', 'PJSIP', '1002'])
    const text = bytesOf('queue-agents.ami.txt').toString('utf8').replace('PJSIP/1002', 'Local/1003@agents/n')
    eventsOf(amiEvents([Buffer.from(`Asterisk Call Manager/11.0.0\r\n${text}`)]), { ...ALL, accountOf })
    expect(seen).toContainEqual([
      ...['queue_agent_login', 'support', 'Local/1003@agents/n', 'Local'],
      '1003@agents',
    ])
  })

  it('whose pause is neither begun nor ended is one unusable message', () => {
    const text = 'Event: QueueMemberPause\r\nQueue: support\r\nInterface: PJSIP/1002\r\n'
    expect(parseAmiEvent(createAmiMessage(Buffer.from(text)), T0)).toBe('no Paused')
  })

  it.each([
    ['Local/1003@agents/n', '1003'],
    ['PJSIP/+4930123', '+4930123'],
    ['PJSIP/desk-7', undefined],
    ['nonsense', undefined],
  ])('of the interface %s have the number %s', (device, agentNumber) => {
    const text = bytesOf('queue-agents.ami.txt').toString('utf8').replace('PJSIP/1002', device)
    const [login] = eventsOf(amiEvents([Buffer.from(`Asterisk Call Manager/11.0.0\r\n${text}`)]))
    expect(login?.agentNumber).toBe(agentNumber)
    expect(login?.callId).toBe(device)
  })
})

describe('a text message', () => {
  it('is handled in a channel that is no leg, whose end is no problem', () => {
    const over = { name: 'Message/ast_msg_queue', state: 6 }
    const { events, problems, openLegs } = traceOf(
      [channelEvent('created', A, 0, over), channelEvent('updated', A, 1, over), hangupEvent(A, 2, 0, over)],
      ALL,
    )
    expect([events, problems, openLegs]).toEqual([[], [], 0])
  })

  const [frame = ''] = framesIn('message.ari.ndjson')
  const messageOf = (change: (message: Record<string, unknown>) => void) => {
    const event = JSON.parse(frame)
    change(event.message)
    return JSON.stringify(event)
  }

  it('is an event with users as KAZOO sends them, and the Call-ID as its id', () => {
    const [event, ...others] = eventsOf(ari('message'))
    expect(others).toEqual([])
    const parties = { from: '1001', fromRealm: '127.0.0.3', to: '1002', toRealm: '127.0.0.3' }
    expect(event).toMatchObject({
      hook: 'sms',
      direction: 'inbound',
      ...parties,
      body: 'Hello there\nsecond line "q"',
    })
    expect(event?.callId).toMatch(/^sms\/msg-[0-9a-f]{8}$/)
  })

  it.each([
    ['"A <b>" <sip:1001@example.com>', 'pjsip:carrier/sip:+4930@sbc.example', ['1001', '+4930']],
    ['sip:1001@example.com', 'pjsip:1002', ['1001', '1002']],
    ['"<<<" 1001', 'tel:+4930', ['"<<<" 1001', '+4930']],
  ])('from %s to %s has the users %j', (from, to, users) => {
    const [event] = eventsOf(ariEvents([messageOf((message) => Object.assign(message, { from, to }))]))
    expect([event?.from, event?.to]).toEqual(users)
  })

  it.each([
    ['text/plain;charset=UTF-8', 1],
    ['Text/Plain', 1],
    ['application/im-iscomposing+xml', 0],
  ])('of the type %s is %i event', (type, count) => {
    const text = messageOf((message) => Object.assign(message, { variables: { 'Content-Type': type } }))
    expect(eventsOf(ariEvents([text]))).toHaveLength(count)
  })

  it('without a Call-ID has the same id over every connection', () => {
    const bare = messageOf((message) => delete message.variables)
    const ids = [bare, bare].map((text) => eventsOf(ariEvents([text]))[0]?.callId)
    expect(ids[0]).toMatch(/^sms\/[0-9a-f]{32}$/)
    expect(ids[1]).toBe(ids[0])
  })

  it.each(['x'.repeat(300), 'a\u2028b', '\0'])(
    'with a Call-ID that no event can have has a digest of it',
    (id) => {
      const [event] = eventsOf(
        ariEvents([messageOf((message) => Object.assign(message, { variables: { 'Call-ID': id } }))]),
      )
      expect(event?.callId).toMatch(/^[0-9a-f]{32}$/)
    },
  )

  it.each(['from', 'to'])('without %s is malformed', (field) => {
    const read = parseAriEvent(
      messageOf((message) => delete message[field]),
      T0,
    )
    expect(read).toEqual({ malformed: 'TextMessageReceived: no message' })
  })

  it('is parsed in linear time', () => {
    const from = `${'<'.repeat(200_000)}${'sip'.repeat(100_000)}`
    const [event] = eventsOf(ariEvents([messageOf((message) => Object.assign(message, { from }))]))
    expect(event?.from).toBe(from)
  })
})
