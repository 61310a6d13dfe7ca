/** A node that says when it cannot work, and refuses requests at once while its store is known to be away. */
import { createHookswitch, errorCode, HookswitchError, memoryStore } from 'hookswitch'
import { manualClock } from 'hookswitch/testkit'
import { expect, it, onTestFinished } from 'vitest'

async function start(isShared = false) {
  const clock = manualClock()
  const kept = memoryStore({ clock, shared: isShared })
  await kept.open({ clock, log: { debug() {}, info() {}, warn() {}, error() {} } })
  const down = { tokens: false, renew: false, poll: false, commit: false }
  const failIf = async (name: keyof typeof down) => {
    if (down[name]) throw new HookswitchError('StoreUnavailable', `no ${name}`)
  }
  const store = {
    ...kept,
    open: async () => {},
    tokens: {
      ...kept.tokens,
      read: async (hash: string) => failIf('tokens').then(() => kept.tokens.read(hash)),
    },
    deliveries: {
      ...kept.deliveries,
      renew: async (owner: string, leaseMs: number) =>
        failIf('renew').then(() => kept.deliveries.renew(owner, leaseMs)),
      poll: async (lease: { owner: string; fence: number }) =>
        failIf('poll').then(() => kept.deliveries.poll(lease)),
      load: async (...args: Parameters<typeof kept.deliveries.load>) =>
        failIf('poll').then(() => kept.deliveries.load(...args)),
      commit: async (group: Parameters<typeof kept.deliveries.commit>[0]) =>
        failIf('commit').then(() => kept.deliveries.commit(group)),
    },
  }
  const hs = createHookswitch({ store, clock })
  await hs.start()
  onTestFinished(() => hs.close({ drainMs: 0 }))
  await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
  const parts = () => hs.nodeHealth().problems.map(({ part }) => part)
  return { hs, clock, down, parts }
}

it('a node that nobody uses notices within ten seconds of looking that its store is away, and that it is back', async () => {
  const { hs, clock, down, parts } = await start()
  const look = async () => {
    await clock.settle()
    parts()
    await clock.advance(5_000)
    return parts()
  }
  expect(await look()).toEqual([])
  down.tokens = true
  expect(await look()).toEqual(['store'])
  expect(hs.nodeHealth().problems[0]).toMatchObject({ part: 'store', reason: 'no tokens' })
  const refused = await hs.accounts.get('acme').catch((thrown: unknown) => thrown)
  expect(errorCode(refused)).toBe('StoreUnavailable')
  const body = JSON.stringify({ data: { api_key: 'k'.repeat(40) } })
  const headers = { 'content-type': 'application/json' }
  expect(await hs.handle({ method: 'PUT', url: '/v1/api_auth', headers, body })).toMatchObject({
    status: 503,
  })
  down.tokens = false
  await clock.advance(1_000)
  expect(parts()).toEqual([])
  expect(await hs.accounts.get('acme')).toMatchObject({ id: 'acme' })
})

it('a node that cannot write says so, and still answers what it can read', async () => {
  const { hs, clock, down, parts } = await start()
  down.commit = true
  const refused = hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'a' }).catch(errorCode)
  await clock.advance(20_000)
  expect(await refused).toBe('StoreUnavailable')
  expect(parts()).toEqual(['store'])
  expect(await hs.accounts.get('acme')).toMatchObject({ id: 'acme' })
  down.commit = false
  await clock.advance(20_000)
  expect(parts()).toEqual([])
})

it('a node whose lease is not renewed says so before it ends', async () => {
  const { clock, down, parts } = await start(true)
  await clock.advance(60_000)
  expect(parts()).toEqual([])
  down.renew = true
  await clock.advance(31_000)
  expect(parts()).toContain('lease')
  down.renew = false
  await clock.advance(15_000)
  expect(parts()).toEqual([])
})

it('a node that cannot read what others do says so, and since when', async () => {
  const { hs, clock, down, parts } = await start(true)
  await clock.advance(60_000)
  down.poll = true
  await clock.advance(45_000)
  expect(parts()).toContain('feed')
  const { sinceMs = 0 } = hs.nodeHealth().problems.find(({ part }) => part === 'feed')!
  expect(clock.now() - sinceMs).toBeGreaterThanOrEqual(30_000)
  down.poll = false
  await clock.advance(20_000)
  expect(parts()).toEqual([])
})

it('has no problem before it is started', () => {
  expect(createHookswitch({ store: memoryStore() }).nodeHealth()).toEqual({ problems: [], outages: [] })
})

it('a node that has never read what others do says since when', async () => {
  const clock = manualClock()
  const store = memoryStore({ clock, shared: true })
  const { deliveries } = store
  const down = () => Promise.reject(new HookswitchError('StoreUnavailable', 'down'))
  const load = async () => undefined
  const hs = createHookswitch({
    store: { ...store, deliveries: { ...deliveries, load, renew: down } },
    clock,
  })
  onTestFinished(() => hs.close({ drainMs: 0 }))
  const startedMs = clock.now()
  await hs.start()
  await clock.advance(30_000)
  expect(hs.nodeHealth().problems.find(({ part }) => part === 'feed')?.sinceMs).toBe(startedMs)
})
