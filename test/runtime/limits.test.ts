import { createHookswitch, memoryStore } from 'hookswitch'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTwoPhaseSender } from '../delivery/two-phase-sender.js'

const API_KEY = 'k'.repeat(40)

async function started(options: object = {}) {
  const clock = manualClock()
  const hs = createHookswitch({ store: memoryStore(), clock, allowLocal: true, ...options })
  onTestFinished(() => hs.close({ drainMs: 0 }))
  await hs.start()
  await hs.accounts.create({ id: 'a', name: 'A', realm: 'a.example', apiKey: API_KEY })
  const logIn = () => hs.auth.signIn({ apiKey: API_KEY }, { address: '192.0.2.1' })
  return { hs, clock, logIn }
}

describe('setLimits', () => {
  it('changes the lifetime of tokens that are issued afterwards', async () => {
    const { hs, clock, logIn } = await started({ tokenTtlSeconds: 60 })
    expect((await logIn()).expiresMs).toBe(clock.now() + 60_000)
    hs.setLimits({ tokenTtlSeconds: 5 })
    expect((await logIn()).expiresMs).toBe(clock.now() + 5_000)
  })

  it('changes the rate of logins, to none and back', async () => {
    const { hs, clock, logIn } = await started({ loginBurst: 1, loginRefillPerSecond: 1 })
    await logIn()
    await expect(logIn()).rejects.toMatchObject({ code: 'TooManyLogins' })
    hs.setLimits({ loginBurst: Number.POSITIVE_INFINITY })
    for (let logins = 0; logins < 5; logins++) await logIn()
    hs.setLimits({ loginBurst: 2, loginRefillPerSecond: 2 })
    await expect(logIn()).rejects.toMatchObject({ code: 'TooManyLogins' })
    await clock.advance(1_000)
    await logIn()
    await logIn()
    await expect(logIn()).rejects.toMatchObject({ code: 'TooManyLogins' })
  })

  it('changes how many deliveries may be pending', async () => {
    const sender = createTwoPhaseSender()
    const { hs } = await started({ inFlightPerEndpoint: 1, sender })
    onTestFinished(() => sender.cancelAll())
    const { id } = await hs.webhooks.create('a', { name: 'x', uri: 'http://127.0.0.1:9/', hook: 'all' })
    for (const callId of ['in flight', '1', '2', '3', '4', '5'])
      await hs.publish({ hook: 'channel_create', accountId: 'a', callId })
    const expired = async () => (await hs.webhooks.deliveries('a', id, { states: ['expired'] })).length
    hs.setLimits({ maxPendingPerWebhook: 4 })
    await expect.poll(expired).toBe(1)
    hs.setLimits({ maxPendingPerAccount: 3 })
    await expect.poll(expired).toBe(2)
    hs.setLimits({ maxPending: 1 })
    await expect.poll(expired).toBe(4)
  })

  it('changes how many requests are in flight to one webhook', async () => {
    const sender = createTwoPhaseSender()
    const { hs } = await started({ inFlightPerEndpoint: 1, sender })
    onTestFinished(() => sender.cancelAll())
    await hs.webhooks.create('a', { name: 'x', uri: 'http://127.0.0.1:9/', hook: 'all' })
    for (const callId of ['1', '2', '3', '4', '5'])
      await hs.publish({ hook: 'channel_create', accountId: 'a', callId })
    // A receiver that has never answered gets few requests, whatever the limit is.
    await expect.poll(() => sender.waiting.length).toBe(1)
    const [first] = sender.waiting
    first?.connect()
    first?.answer({ kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' })
    await expect.poll(() => [sender.waiting.length, sender.sent.length]).toEqual([1, 1])
    hs.setLimits({ inFlightPerEndpoint: 3 })
    await expect.poll(() => sender.waiting.length).toBe(3)
  })

  it.each([
    [{ inFlight: 5 }, "setLimits(): unknown option 'inFlight'"],
    [{ maxPendin: 5 }, "setLimits(): unknown option 'maxPendin' (did you mean 'maxPending'?)"],
    [{ tokenTtlSeconds: 5, retentionDays: 0 }, 'retentionDays must be a number of at least 0.001'],
    [null, 'setLimits(): the options must be an object'],
  ])('rejects %j and changes nothing', async (limits, sentence) => {
    const { hs, clock, logIn } = await started()
    expect(() => hs.setLimits(limits as never)).toThrow(sentence)
    expect((await logIn()).expiresMs).toBe(clock.now() + 86_400_000)
  })

  it('takes effect before the start, and ignores undefined', async () => {
    const clock = manualClock()
    const hs = createHookswitch({ store: memoryStore(), clock })
    onTestFinished(() => hs.close({ drainMs: 0 }))
    hs.setLimits({ tokenTtlSeconds: 7, maxPending: undefined } as never)
    await hs.start()
    await hs.accounts.create({ name: 'A', realm: 'a.example', apiKey: API_KEY })
    expect((await hs.auth.signIn({ apiKey: API_KEY })).expiresMs).toBe(clock.now() + 7_000)
  })
})
