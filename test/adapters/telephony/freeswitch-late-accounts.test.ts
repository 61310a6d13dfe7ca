import {
  accountFromContext,
  accountFromVariable,
  type FreeswitchSourceOptions,
  freeswitchSource,
} from 'hookswitch/freeswitch'
import { until } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type FakeReplies, jsonFrame, legEvent, startFakeSwitch } from './freeswitch-fake.js'
import { createdMs, hooks, mapAll, syntheticEvent } from './freeswitch-mapped.js'
import { observeSource } from './observe-source.js'

const ACCOUNT = 'variable_ecallmgr_Account-ID'

/** An event of a leg whose dial plan has not set the account. */
function withoutAccount(name: string, uuid: string) {
  const { [ACCOUNT]: _, ...event } = legEvent(name, uuid)
  return event
}
const dumpOf = (uuid: string) => `api uuid_dump ${uuid} json`

async function connected(replies: FakeReplies = {}, options: Partial<FreeswitchSourceOptions> = {}) {
  const fake = await startFakeSwitch(replies)
  onTestFinished(() => fake.close())
  const observed = observeSource((deps) =>
    freeswitchSource({ ...deps, accountOf: accountFromVariable(), port: fake.port, ...options }),
  )
  observed.source.start()
  await until(() => fake.commands.includes('api show channels as json'))
  /** Sends events, and waits until they are mapped. */
  const send = async (...events: readonly Record<string, string>[]) => {
    const before = observed.source.status().read
    fake.send(events.map(jsonFrame).join(''))
    await until(() => observed.source.status().read > before)
  }
  const dumps = () => fake.commands.filter((command) => command.startsWith('api uuid_dump')).length
  return { ...observed, fake, send, dumps }
}

describe('an account that the dial plan sets late', () => {
  it('is found in the data of the leg, which are queried after the wait', async () => {
    const { fake, send, clock, published, of } = await connected()
    await send(withoutAccount('CHANNEL_CREATE', 'a'))
    fake.replies = { dumps: { a: legEvent('CHANNEL_DATA', 'a') } }
    await clock.advance(9_999)
    expect(fake.commands).not.toContain(dumpOf('a'))
    await clock.advance(1)
    await until(() => published.length === 1)
    expect(fake.commands).toContain(dumpOf('a'))
    expect(published[0]).toMatchObject({ hook: 'channel_create', accountId: 'acme', timestampMs: createdMs })
    expect(of('account_unknown')).toEqual([])
  })

  it('is that of the last event of a leg, however long that has waited', async () => {
    const { fake, send, clock, published, of } = await connected()
    await send(withoutAccount('CHANNEL_CREATE', 'a'))
    fake.replies = { dumps: { a: withoutAccount('CHANNEL_DATA', 'a') } }
    await clock.advance(10_000)
    await until(() => fake.commands.includes(dumpOf('a')))
    await clock.advance(90_000)
    await send(withoutAccount('CHANNEL_ANSWER', 'a'), legEvent('CHANNEL_DESTROY', 'a', { answeredMs: 500 }))
    await until(() => published.length === 3)
    expect(hooks(published)).toEqual(['create', 'answer', 'destroy'])
    expect(of('account_unknown')).toEqual([])
  })

  it('is queried at ever longer intervals', async () => {
    const { fake, send, clock, dumps } = await connected()
    await send(withoutAccount('CHANNEL_CREATE', 'a'))
    fake.replies = { dumps: { a: withoutAccount('CHANNEL_DATA', 'a') } }
    for (const [seconds, count] of [
      [10, 1],
      [20, 2],
      [30, 2],
      [40, 3],
      [50, 3],
      [60, 3],
      [70, 3],
      [80, 4],
    ]) {
      await clock.advance(10_000)
      await until(() => dumps() === count)
      // Nothing else is on its way.
      await send(legEvent('CHANNEL_CREATE', `at-${seconds}`))
      expect(dumps()).toBe(count)
    }
  })

  it('of many legs is queried for 20 legs a second', async () => {
    const { fake, send, clock, dumps, source } = await connected()
    const legs = Array.from({ length: 50 }, (_, nth) => `leg-${nth}`)
    fake.replies = { dumps: Object.fromEntries(legs.map((uuid) => [uuid, legEvent('CHANNEL_DATA', uuid)])) }
    await send(...legs.map((uuid) => withoutAccount('CHANNEL_CREATE', uuid)))
    await until(() => source.status().legsWithoutAccount === 50)
    await clock.advance(10_000)
    for (const count of [20, 40, 50]) {
      await until(() => dumps() === count && source.status().legsWithoutAccount === 50 - count)
      await clock.advance(999)
      expect(dumps()).toBe(count)
      await clock.advance(1)
    }
  })

  it('of a leg that the switch does not have is given up, once its end may have arrived', async () => {
    const { fake, send, clock, of, source } = await connected()
    await send(withoutAccount('CHANNEL_CREATE', 'a'))
    await clock.advance(10_000)
    await until(() => fake.commands.includes(dumpOf('a')))
    await until(async () => {
      await clock.advance(1_000)
      return of('account_unknown').length === 1
    })
    expect(of('account_unknown')).toMatchObject([{ callId: 'a', reason: 'ended' }])
    expect(source.status().openLegs).toBe(0)
  })

  it('of a leg whose id is no argument of a command is not queried', async () => {
    const { send, clock, dumps, published } = await connected()
    await send(withoutAccount('CHANNEL_CREATE', 'a b'))
    await clock.advance(10_000)
    await send(legEvent('CHANNEL_DESTROY', 'a b'))
    await until(() => published.length === 2)
    expect(dumps()).toBe(0)
  })
})

describe('the account of a dialled leg', () => {
  const event = (name: string, uuid: string, headers = {}) => syntheticEvent(name, uuid, 10, headers)
  const acme = { [ACCOUNT]: 'acme' }
  const dialled = (uuid: string, caller: string, headers = {}) =>
    event('CHANNEL_CREATE', uuid, {
      'Call-Direction': 'outbound',
      'Channel-Name': `sofia/internal/${uuid}@acme.example`,
      'Other-Leg-Unique-ID': caller,
      'Other-Type': 'originator',
      ...headers,
    })
  const accountsOf = (...events: Parameters<typeof mapAll>[0] extends Iterable<infer E> ? E[] : never) =>
    mapAll(events).published.map(({ callId, hook, accountId }) => `${callId} ${hook} ${accountId}`)

  it('is its caller’s if it has none', () => {
    expect(accountsOf(event('CHANNEL_CREATE', 'a', acme), dialled('b', 'a'))).toEqual([
      'a channel_create acme',
      'b channel_create acme',
    ])
  })

  it('is its caller’s as soon as that is known, also through several legs', () => {
    const legs = [event('CHANNEL_CREATE', 'a'), dialled('b', 'a'), dialled('c', 'b')]
    expect(accountsOf(...legs)).toEqual([])
    expect(accountsOf(...legs, event('CHANNEL_PROGRESS', 'a', acme))).toEqual([
      'a channel_create acme',
      'b channel_create acme',
      'c channel_create acme',
    ])
  })

  it('is its own where it has one', () => {
    const own = { [ACCOUNT]: 'globex' }
    expect(accountsOf(event('CHANNEL_CREATE', 'a', acme), dialled('b', 'a', own))[1]).toBe(
      'b channel_create globex',
    )
  })

  it('is never that of a leg that it was only bridged with', () => {
    const bridged = event('CHANNEL_BRIDGE', 'a', {
      ...acme,
      'Bridge-A-Unique-ID': 'a',
      'Bridge-B-Unique-ID': 'b',
    })
    const { unknown, bufferedLegs } = mapAll([
      event('CHANNEL_CREATE', 'a', acme),
      event('CHANNEL_CREATE', 'b'),
      bridged,
    ])
    expect([unknown, bufferedLegs()]).toEqual([[], 1])
  })

  it('is its caller’s with every function that returns accounts', () => {
    const { published } = mapAll(
      [event('CHANNEL_CREATE', 'a', { 'Caller-Context': 'acme.example' }), dialled('b', 'a')],
      { accountOf: accountFromContext({ 'acme.example': 'acme' }) },
    )
    expect(published.map(({ accountId }) => accountId)).toEqual(['acme', 'acme'])
  })
})
