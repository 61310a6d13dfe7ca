import { readFile } from 'node:fs/promises'
import { createHookswitch, type Hookswitch, memoryStore } from 'hookswitch'
import { asteriskAmi, accountFromVariable as ofAsterisk } from 'hookswitch/asterisk'
import {
  accountFromSipHeader,
  freeswitchSource,
  accountFromVariable as ofFreeswitch,
} from 'hookswitch/freeswitch'
import { fakeAsteriskAmi, fakeFreeswitch, scriptedReceiver, status } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { recordedCalls } from './asterisk-recorded.js'
import { UNIQUE_IDS } from './asterisk-scenarios.js'
import { accountOf, partnersOf, recorded } from './freeswitch-recorded.js'

const recording = (name: string) =>
  readFile(new URL(`../../../examples/switches/recordings/${name}.gz`, import.meta.url))

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** The body of a webhook request. */
interface Webhook {
  readonly hook_event: string
  readonly account_id: string
  readonly call_id: string
  readonly sequence: number
  readonly hangup_cause?: string
  readonly hangup_code?: string
}

/** A service with a webhook for all events in each account, and the received requests by leg. */
async function startService(accountIds: readonly string[]) {
  const receiver = scriptedReceiver({ script: [status(204)] })
  await receiver.start()
  cleanups.push(() => receiver.close())
  const hs = createHookswitch({ store: memoryStore(), allowLocal: true })
  await hs.start()
  cleanups.push(() => hs.close())
  for (const id of accountIds) {
    await hs.accounts.create({ id, name: id, realm: `${id}.example` })
    await hs.webhooks.create(id, {
      name: 'All',
      uri: receiver.url('/'),
      hook: 'all',
      includeInternalLegs: true,
    })
  }
  return {
    hs,
    async byLeg(events: number) {
      const legs = new Map<string, Webhook[]>()
      for (const { body } of await receiver.next(events)) {
        const webhook: Webhook = JSON.parse(body)
        legs.set(webhook.call_id, [...(legs.get(webhook.call_id) ?? []), webhook])
      }
      return legs
    },
  }
}

const countEvents = (hs: Hookswitch) => {
  const ended = new Set<string>()
  let events = 0
  hs.events.on('event', ({ hook, callId }) => {
    events += 1
    if (hook === 'channel_destroy') ended.add(callId)
  })
  return { events: () => events, ended: () => ended.size }
}

const hooksOf = (webhooks: readonly Webhook[] = []) =>
  webhooks.map(({ hook_event }) => hook_event.replace('channel_', ''))
const count = (hooks: readonly string[], hook: string) => hooks.filter((sent) => sent === hook).length

describe('webhooks of the calls of a switch', () => {
  it('agree with what happened on each leg of a FreeSWITCH', async () => {
    const legs = recorded.calls.flatMap((call) =>
      call.legs.flatMap((leg) => {
        const accountId = accountOf(leg, call)
        return accountId === undefined ? [] : [{ ...leg, call, accountId }]
      }),
    )
    expect(legs).toHaveLength(84)
    const { hs, byLeg } = await startService([...new Set(legs.map(({ accountId }) => accountId))])
    const fake = fakeFreeswitch({ recording: await recording('freeswitch-esl-json.txt') })
    cleanups.push(() => fake.close())
    const [byVariable, byHeader] = [ofFreeswitch(), accountFromSipHeader('X-ecallmgr_Account-ID')]
    const source = freeswitchSource({
      publish: hs.publish,
      port: await fake.start(),
      accountOf: (facts) => byVariable(facts) ?? byHeader(facts),
    })
    const counts = countEvents(hs)
    source.start()
    cleanups.push(() => source.close())
    await fake.waitFor('subscribed')
    await fake.play({ speed: Infinity })
    await expect.poll(counts.ended).toBe(84)

    const received = await byLeg(counts.events())
    expect([...received.keys()].sort()).toEqual(legs.map(({ uuid }) => uuid).sort())
    for (const leg of legs) {
      const webhooks = received.get(leg.uuid) ?? []
      const hooks = hooksOf(webhooks)
      expect([hooks[0], hooks.at(-1)], leg.uuid).toEqual(['create', 'destroy'])
      expect(count(hooks, 'answer')).toBe(leg.answered ? 1 : 0)
      expect(count(hooks, 'bridge')).toBe(partnersOf(leg, leg.call).length)
      expect([count(hooks, 'hold'), count(hooks, 'unhold')]).toEqual([leg.holds, leg.resumes])
      expect(webhooks.map(({ sequence }) => sequence)).toEqual(webhooks.map((_, index) => index + 1))
      for (const webhook of webhooks) expect(webhook.account_id).toBe(leg.accountId)
      expect(webhooks.at(-1)?.hangup_cause).toBe(leg.hangupCause)
    }
  })

  it('agree with what happened on each phone of an Asterisk', async () => {
    const legs = recordedCalls
      .filter(({ scenario }) => scenario !== 'a07-no-such-extension')
      .flatMap((call) => call.legs)
    expect(legs).toHaveLength(87)
    const { hs, byLeg } = await startService(['alpha', 'beta'])
    const login = { username: 'hookswitch', secret: 'secret' }
    const fake = fakeAsteriskAmi({ recording: await recording('asterisk-ami.txt'), ...login })
    cleanups.push(() => fake.close())
    const byVariable = ofAsterisk('ACCOUNT_ID')
    const source = asteriskAmi({
      publish: hs.publish,
      port: await fake.start(),
      ...login,
      accountOf: (leg) => byVariable(leg) ?? leg.accountCode,
    })
    const counts = countEvents(hs)
    source.start()
    cleanups.push(() => source.close())
    await fake.waitFor('subscribed')
    await fake.play({ speed: Infinity })
    // The phones and three pairs of Local halves.
    await expect.poll(counts.ended).toBe(87 + 6)

    const received = await byLeg(counts.events())
    for (const leg of legs) {
      const webhooks = received.get(UNIQUE_IDS.get(leg.callId) ?? '') ?? []
      const hooks = hooksOf(webhooks)
      expect([hooks[0], hooks.at(-1)], leg.callId).toEqual(['create', 'destroy'])
      expect(count(hooks, 'answer')).toBe(leg.answered ? 1 : 0)
      expect(webhooks.map(({ sequence }) => sequence)).toEqual(webhooks.map((_, index) => index + 1))
      for (const webhook of webhooks) expect(webhook.account_id).toBe(leg.account)
      if (leg.answered) expect(webhooks.at(-1)?.hangup_code).toBe('sip:200')
    }
  })
})
