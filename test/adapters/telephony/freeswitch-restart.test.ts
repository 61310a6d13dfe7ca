import { accountFromVariable, freeswitchSource } from 'hookswitch/freeswitch'
import { until } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { jsonFrame, legEvent } from './freeswitch-fake.js'
import {
  ANSWERED,
  CREATED_US,
  destroyEvent,
  openCalls,
  passGrace,
  startFreeswitch,
} from './freeswitch-restarting.js'
import { storeMakers } from './restarting.js'

/** A service that was stopped after a call had begun, and was answered if `isAnswered`. */
async function stoppedInCall(isAnswered = false) {
  const [, memory] = storeMakers(undefined)[0]!
  const host = await startFreeswitch(memory)
  const first = await host.start()
  host.fake.send(jsonFrame(legEvent('CHANNEL_CREATE', 'a')))
  if (isAnswered) host.fake.send(jsonFrame(legEvent('CHANNEL_ANSWER', 'a', ANSWERED)))
  await host.accepted(isAnswered ? 2 : 1)
  await first.stop()
  return host
}

describe('open legs of a FreeSWITCH', () => {
  it('of a call that ended meanwhile end once, although two nodes start at once', async () => {
    const { fake, events, start } = await stoppedInCall()
    const node = await start()
    // A second source of the same host, as a second node has.
    const other = freeswitchSource({
      publish: node.hs.publish,
      openLegs: node.hs.openLegs,
      port: fake.port,
      accountOf: accountFromVariable(),
      clock: node.clock,
    })
    onTestFinished(() => other.close({ drainMs: 0 }))
    other.start()
    await until(() => other.status().isConnected)
    await passGrace(node, 2)
    await until(() => node.source.status().published + other.status().published === 2)
    expect(events.map(({ hook }) => hook)).toEqual(['channel_create', 'channel_destroy'])
  })

  it('of an earlier run of the switch have ended', async () => {
    const { fake, events, start, accepted } = await stoppedInCall()
    openCalls(fake, { a: { ...legEvent('CHANNEL_DATA', 'a'), 'Core-UUID': 'another-run' } })
    fake.replies = { ...fake.replies, coreUuid: 'another-run' }
    await start()
    await accepted(3)
    expect(events.slice(1).map(({ hook }) => hook)).toEqual(['channel_destroy', 'channel_create'])
    expect(events[1]?.customChannelVars).toMatchObject({ found_by: 'resync' })
  })

  it('that were renamed are found under their new ids', async () => {
    const [, memory] = storeMakers(undefined)[0]!
    const { fake, events, start, accepted } = await startFreeswitch(memory)
    const first = await start()
    fake.send(jsonFrame(legEvent('CHANNEL_CREATE', 'a')))
    await accepted(1)
    fake.send(jsonFrame({ ...legEvent('CHANNEL_UUID', 'b'), 'Old-Unique-ID': 'a' }))
    fake.send(jsonFrame(legEvent('CHANNEL_ANSWER', 'b', ANSWERED)))
    await accepted(2)
    await first.stop()
    openCalls(fake, { b: legEvent('CHANNEL_DATA', 'b', ANSWERED) })
    await start()
    await until(() => fake.commands.includes('api uuid_dump b json'))
    fake.send(destroyEvent('b'))
    await accepted(3)
    expect(events.map(({ hook, callId }) => `${callId} ${hook}`)).toEqual([
      'a channel_create',
      'a channel_answer',
      'a channel_destroy',
    ])
  })

  it('stay open when the switch refuses to name its run', async () => {
    const { fake, start, storedLegs } = await stoppedInCall()
    openCalls(fake, { a: legEvent('CHANNEL_DATA', 'a') })
    fake.replies = { ...fake.replies, coreUuid: '-ERR' }
    const second = await start()
    await until(() => fake.commands.includes('api uuid_dump a json'))
    await second.clock.settle()
    expect(second.source.status().openLegs).toBe(1)
    expect(await storedLegs(second)).toEqual(['a'])
  })

  it.each(['its channel data', 'an event'])(
    'whose id another call of the same run uses have ended, by %s',
    async (evidence) => {
      const { fake, events, start, accepted, storedLegs } = await stoppedInCall(true)
      const later = { 'Caller-Channel-Created-Time': String(CREATED_US + 60_000_000) }
      openCalls(fake, { a: { ...legEvent('CHANNEL_DATA', 'a'), ...later } })
      if (evidence === 'an event') {
        const api = (command: string) => (command.startsWith('uuid_dump') ? '-ERR' : undefined)
        fake.replies = { ...fake.replies, api }
      }
      const second = await start()
      if (evidence === 'an event') fake.send(jsonFrame({ ...legEvent('CHANNEL_PROGRESS', 'a'), ...later }))
      await accepted(4)
      expect(events.slice(2).map(({ hook }) => hook)).toEqual(['channel_destroy', 'channel_create'])
      expect(events[2]).toMatchObject({ customChannelVars: { found_by: 'resync' } })
      expect(events[3]?.timestampMs).toBe(CREATED_US / 1000 + 60_000)
      await until(async () => (await storedLegs(second)).length === 1)
      // An event of the ended leg that comes late does not concern the other.
      fake.send(destroyEvent('a'))
      const end = { 'Caller-Channel-Hangup-Time': String(CREATED_US + 90_000_000) }
      fake.send(jsonFrame({ ...legEvent('CHANNEL_DESTROY', 'a'), ...later, ...end }))
      await accepted(5)
      expect(events[4]).toMatchObject({ hook: 'channel_destroy', durationSeconds: 30, billingSeconds: 0 })
      expect(second.source.status().openLegs).toBe(0)
    },
  )
})
