/** Statistics of a running instance, compared with the attempts that it stored. */

import * as fc from 'fast-check'
import { createHookswitch, errorCode, memoryStore } from 'hookswitch'
import type { Observation, Sender } from 'hookswitch/adapter'
import type { Store } from 'hookswitch/store'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { AttemptRecord } from '../../src/delivery/attempt-record.js'
import { HookswitchError } from '../../src/errors.js'
import { countAttempt, newCounts } from '../../src/stats/columns.js'
import { firstKeptSlot, KEPT_MS, STATS_STEPS, slotOf, slotsOf } from '../../src/stats/slots.js'
import { fakeSender, responseWith, silentLog } from '../delivery/harness.js'

const HOUR_MS = 3_600_000

type Options = Partial<Parameters<typeof createHookswitch>[0]>

/** A store that stays open when an instance closes it, on which several instances run one after the other. */
async function start() {
  const clock = manualClock()
  const store = memoryStore({ shared: true, clock })
  await store.open({ clock, log: silentLog })
  const sender = fakeSender()
  // One source for all nodes: their ids differ.
  const random = seededRandom('statistics')

  async function node(options: Options = {}, faults: Partial<Store> = {}) {
    const hs = createHookswitch({
      store: { ...store, ...faults },
      clock,
      random,
      sender: sender as Sender,
      ...options,
    })
    await hs.start()
    onTestFinished(() => hs.close({ drainMs: 0 }))
    return hs
  }
  type Node = Awaited<ReturnType<typeof node>>
  const webhook = (hs: Node, accountId: string, settings: object = {}) =>
    hs.webhooks.create(accountId, {
      name: 'w',
      uri: `https://${accountId}.example.com/`,
      hook: 'channel_create',
      ...settings,
    })
  const account = (hs: Node, id: string, parentId?: string) =>
    hs.accounts.create({ id, name: id, realm: `${id}.example.com`, ...(parentId && { parentId }) })
  return { clock, store, sender, node, webhook, account }
}

/** Every row of statistics that these attempts make and that is still kept, by step, slot and series. */
function rowsOf(attempts: readonly AttemptRecord[], nowMs: number): ReadonlyMap<string, readonly number[]> {
  const rows = new Map<string, number[]>()
  for (const record of attempts) {
    if (record.attempt === undefined) continue
    for (const step of STATS_STEPS) {
      if (record.atMs < firstKeptSlot(step, nowMs)) continue
      for (const series of [`${record.accountId}/${record.webhookId}`, `${record.accountId}/`, '/']) {
        const name = `${step}/${slotOf(step, record.atMs)}/${series}`
        const counts = rows.get(name) ?? newCounts()
        countAttempt(counts, record)
        rows.set(name, counts)
      }
    }
  }
  return rows
}

/** Every stored row of these webhooks, their accounts and the service. */
async function storedRows(
  store: Store,
  webhooks: readonly { id: string; accountId: string }[],
  nowMs: number,
) {
  const accounts = [...new Set(webhooks.map(({ accountId }) => accountId))]
  const series = [
    ...webhooks.map(({ id, accountId }) => ({ accountId, webhookId: id })),
    ...accounts.map((accountId) => ({ accountId, webhookId: '' })),
    { accountId: '', webhookId: '' },
  ]
  const rows = new Map<string, readonly number[]>()
  for (const step of STATS_STEPS) {
    const slots = slotsOf(step, 0, nowMs, nowMs)
    for (const row of await store.stats.read({ series, step, slots }))
      rows.set(`${step}/${row.startMs}/${row.accountId}/${row.webhookId}`, row.counts)
  }
  return rows
}

const OBSERVATIONS: readonly Observation[] = [
  responseWith(200),
  responseWith(204),
  responseWith(302),
  responseWith(404),
  responseWith(410),
  responseWith(503),
  { kind: 'no_response', failure: 'timeout', detail: '' },
  { kind: 'no_response', failure: 'dns', detail: '' },
  { kind: 'no_response', failure: 'blocked_address', detail: '' },
  { kind: 'own_fault', detail: 'EMFILE' },
]

/** A method that fails before or after it has written, as often as the list says, while `isFaulty` returns true. */
function faulty<Args extends unknown[], Result>(
  method: (...args: Args) => Result | Promise<Result>,
  faults: ('before' | 'after' | 'none')[],
  isFaulty: () => boolean,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    const fault = isFaulty() ? faults.shift() : undefined
    if (fault === 'before') throw new HookswitchError('StoreUnavailable', 'out')
    const result = await method(...args)
    if (fault === 'after') throw new HookswitchError('StoreUnavailable', 'out')
    return result
  }
}

describe('statistics', () => {
  it('count exactly the stored attempts, whatever they end with, across faults and restarts', async () => {
    const step = fc.record({
      account: fc.constantFrom('acme', 'other'),
      observation: fc.option(fc.constantFrom(...OBSERVATIONS), { nil: undefined }),
      waitMs: fc.constantFrom(0, 500, 7_000, 61_000, HOUR_MS),
      isRestart: fc.boolean(),
    })
    const fault = fc.constantFrom('none' as const, 'none' as const, 'before' as const, 'after' as const)
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 8 }),
        fc.array(fault, { maxLength: 6 }),
        fc.array(fault, { maxLength: 6 }),
        async (steps, flushFaults, commitFaults) => {
          const { clock, store, sender, node, webhook, account } = await start()
          let hs = await node()
          await account(hs, 'acme')
          await account(hs, 'other')
          const webhooks = [
            await webhook(hs, 'acme', { retries: 2 }),
            await webhook(hs, 'acme', { retries: 0, name: 'second', uri: 'https://second.example.com/' }),
            await webhook(hs, 'other', { retries: 1, maxAgeSeconds: 60 }),
          ]
          await hs.close({ drainMs: 0 })
          // A node that closes while the store is out gives up its last settlements and counts.
          let isClosing = false
          const isFaulty = () => !isClosing
          const { stats, deliveries } = store
          const faults = {
            stats: { ...stats, add: faulty(stats.add, [...flushFaults], isFaulty) },
            deliveries: { ...deliveries, commit: faulty(deliveries.commit, [...commitFaults], isFaulty) },
          }
          hs = await node({}, faults)
          for (const [index, { account: accountId, observation, waitMs, isRestart }] of steps.entries()) {
            sender.script = () => observation
            await Promise.all([
              hs.publish({ hook: 'channel_create', accountId, callId: `call-${index}` }),
              clock.advance(1_000),
            ])
            await clock.advance(waitMs)
            for (const { answer } of [...sender.open]) if (!isRestart) answer(responseWith(200))
            await clock.settle()
            if (!isRestart) continue
            // Requests that are open are interrupted.
            isClosing = true
            await Promise.all([hs.close({ drainMs: 0 }), clock.advance(60_000)])
            isClosing = false
            hs = await node({}, faults)
          }
          sender.script = () => responseWith(200)
          await clock.advance(HOUR_MS)
          isClosing = true
          await hs.close({ drainMs: 0 })
          const attempts = await Promise.all(
            webhooks.map(({ id, accountId }) =>
              store.deliveries.attempts({ accountId, webhookId: id, limit: 10_000 }),
            ),
          )
          expect(await storedRows(store, webhooks, clock.now())).toEqual(rowsOf(attempts.flat(), clock.now()))
        },
      ),
      { numRuns: 10 },
    )
  })

  it('count successes that are not recorded', async () => {
    const { clock, sender, node, webhook, account } = await start()
    const hs = await node({ recordSuccesses: false })
    await account(hs, 'acme')
    const { id } = await webhook(hs, 'acme', { retries: 0 })
    for (const status of [200, 500, 204]) {
      sender.script = () => responseWith(status)
      await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: `call-${status}` })
      await clock.settle()
    }
    await clock.advance(10_000)
    const stats = await hs.webhooks.stats('acme', id)
    expect(stats.ok.at(-1)).toBe(2)
    expect(stats.failed.at(-1)).toBe(1)
    expect(stats.outcomes).toEqual({ http_5xx: expect.any(Array) })
    expect(await hs.webhooks.attempts('acme', id)).toHaveLength(1)
  })

  it('of an account are those of its own webhooks, and have one entry for each slot', async () => {
    const { clock, node, webhook, account } = await start()
    const hs = await node()
    await account(hs, 'acme')
    await account(hs, 'below', 'acme')
    const { id } = await webhook(hs, 'acme')
    await webhook(hs, 'below')
    for (const [index, accountId] of ['acme', 'below', 'below'].entries())
      await hs.publish({ hook: 'channel_create', accountId, callId: `call-${index}` })
    await clock.advance(10_000)
    const [ofAccount, ofWebhook, below] = [
      await hs.webhooks.stats('acme', undefined, { step: 60 }),
      await hs.webhooks.stats('acme', id, { step: 60 }),
      await hs.webhooks.stats('below'),
    ]
    expect(ofAccount.ok).toHaveLength(61)
    expect(ofAccount.startMs).toHaveLength(61)
    expect(ofAccount.latencyMs.p99).toHaveLength(61)
    expect(ofAccount.ok.at(-1)).toBe(1)
    expect(ofWebhook).toEqual(ofAccount)
    expect(below.ok.at(-1)).toBe(2)
    expect(below.startMs).toHaveLength(25)
  })

  it('are complete up to a time before which every attempt has ended and is written', async () => {
    const { clock, store, sender, node, webhook, account } = await start()
    let isOut = false
    const add: Store['stats']['add'] = (batch) =>
      isOut ? Promise.reject(new HookswitchError('StoreUnavailable', 'out')) : store.stats.add(batch)
    const hs = await node({ attemptTimeoutMs: 20_000 }, { stats: { ...store.stats, add } })
    await account(hs, 'acme')
    const { id } = await webhook(hs, 'acme')
    await clock.advance(100_000)
    const completeTo = async () => (await hs.webhooks.stats('acme', id)).completeToMs - Date.UTC(2026, 0, 1)
    // The time, less the timeout and two flushes, at the start of its minute.
    expect(await completeTo()).toBe(60_000)
    isOut = true
    sender.script = () => responseWith(200)
    await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'call' })
    await clock.advance(HOUR_MS)
    expect(await completeTo()).toBe(60_000)
    isOut = false
    await clock.advance(10_000)
    expect(await completeTo()).toBe(slotOf(60, 100_000 + HOUR_MS + 10_000 - 40_000))
  })

  it('are removed when they are older than what is shown', async () => {
    const { clock, store, node, webhook, account } = await start()
    const hs = await node()
    await account(hs, 'acme')
    const { id } = await webhook(hs, 'acme')
    const createdMs = clock.now()
    await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'call' })
    const left = async (step: 60 | 3600) => {
      const series = [{ accountId: 'acme', webhookId: id }]
      return (await store.stats.read({ series, step, slots: [slotOf(step, createdMs)] })).length
    }
    await clock.advance(KEPT_MS[60])
    expect([await left(60), await left(3600)]).toEqual([1, 1])
    await clock.advance(1_200_000)
    expect([await left(60), await left(3600)]).toEqual([0, 1])
    // A node that runs for weeks makes the test take half a minute.
    await hs.close({ drainMs: 0 })
    await clock.advance(KEPT_MS[3600])
    await node()
    await clock.advance(1_200_000)
    expect([await left(60), await left(3600)]).toEqual([0, 0])
  })

  it('are refused for an unknown webhook, too many slots, and a range that ends before it begins', async () => {
    const { clock, node, webhook, account } = await start()
    const hs = await node()
    await account(hs, 'acme')
    const { id } = await webhook(hs, 'acme')
    const codeOf = (promise: Promise<unknown>) => promise.then(() => undefined, errorCode)
    expect(await codeOf(hs.webhooks.stats('acme', 'unknown'))).toBe('NotFound')
    expect(await codeOf(hs.webhooks.stats('other', id))).toBe('NotFound')
    const toMs = slotOf(60, clock.now()) + 59_999
    const longest = { step: 60, fromMs: toMs - 900 * 60_000 + 1, toMs } as const
    expect((await hs.webhooks.stats('acme', id, longest)).startMs).toHaveLength(180)
    await expect(
      hs.webhooks.stats('acme', id, { ...longest, fromMs: longest.fromMs - 1 }),
    ).rejects.toMatchObject({
      code: 'InvalidInput',
      field: 'toMs',
      failures: [{ path: 'toMs', rule: 'maximum', target: toMs - 60_000, value: toMs }],
    })
    await expect(hs.webhooks.stats('acme', id, { fromMs: 2, toMs: 1 })).rejects.toMatchObject({
      field: 'fromMs',
    })
    await expect(hs.webhooks.stats('acme', id, { step: 61 as 60 })).rejects.toMatchObject({ field: 'step' })
  })

  it('are off with `statistics: false`: nothing is counted, and lists have no sparklines', async () => {
    const { clock, store, node, webhook, account } = await start()
    const hs = await node({ statistics: false })
    await account(hs, 'acme')
    const created = await webhook(hs, 'acme')
    await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'call' })
    await clock.advance(60_000)
    await expect(hs.webhooks.stats('acme', created.id)).rejects.toMatchObject({ code: 'Unsupported' })
    const { endpoints } = await hs.webhooks.health('acme')
    expect(endpoints).toMatchObject([{ id: created.id, state: 'ok', last: { result: 'success' } }])
    expect(endpoints[0]).not.toHaveProperty('spark')
    expect(await storedRows(store, [created], clock.now())).toEqual(new Map())
  })
})

describe('the list of endpoints', () => {
  it('has the state, the backlog, the last attempt and the last 24 hours of each webhook', async () => {
    const { clock, sender, node, webhook, account } = await start()
    const hs = await node()
    await account(hs, 'acme')
    const failing = await webhook(hs, 'acme', {
      name: 'b',
      uri: 'https://down.example.com/',
      retries: 3,
      group: 'g',
    })
    const fine = await webhook(hs, 'acme', { name: 'a', uri: 'https://fine.example.com/' })
    const idle = await webhook(hs, 'acme', { name: 'c', hook: 'channel_hold' })
    const off = await webhook(hs, 'acme', { name: 'd', enabled: false })
    sender.script = ({ url }) => responseWith(url.includes('down') ? 500 : 200)
    const startMs = clock.now()
    await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'call' })
    await clock.settle()
    await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'other' })
    await clock.advance(500)
    const { endpoints, ...page } = await hs.webhooks.health('acme')
    expect(page).toEqual({})
    expect(endpoints.map(({ id, state }) => [id, state])).toEqual([
      [fine.id, 'ok'],
      [failing.id, 'failing'],
      [idle.id, 'idle'],
      [off.id, 'disabled'],
    ])
    const { spark: _later, ...row } = endpoints[1]!
    expect(row).toEqual({
      id: failing.id,
      accountId: 'acme',
      name: 'b',
      uri: 'https://down.example.com/',
      group: 'g',
      state: 'failing',
      failuresInRow: 2,
      failingSinceMs: startMs,
      exhausted: 0,
      pending: 2,
      isPendingCapped: false,
      oldestDueMs: expect.any(Number),
      oldestAcceptedMs: startMs,
      last: { atMs: startMs, result: 'failure', status: 500 },
    })
    await clock.advance(10_000)
    const [first, second] = (await hs.webhooks.health('acme')).endpoints
    expect(first!.spark!.ok).toEqual([...new Array(23).fill(0), 2])
    expect(first!.spark!.failed).toEqual(new Array(24).fill(0))
    expect(second!.spark!.failed.at(-1)).toBeGreaterThanOrEqual(2)
    await clock.advance(2 * HOUR_MS)
    expect((await hs.webhooks.health('acme', { limit: 1 })).endpoints[0]!.spark!.ok).toEqual([
      ...new Array(21).fill(0),
      2,
      0,
      0,
    ])
    await clock.advance(23 * HOUR_MS)
    expect((await hs.webhooks.health('acme', { limit: 1 })).endpoints[0]!.state).toBe('idle')
  })

  it('is selected by state and text, and read page by page', async () => {
    const { clock, sender, node, webhook, account } = await start()
    const hs = await node()
    await account(hs, 'acme')
    await account(hs, 'other')
    await webhook(hs, 'other', { name: 'a foreign one' })
    for (const name of ['CRM popup', 'Billing', 'Call log', 'crm sync'])
      await webhook(hs, 'acme', { name, uri: `https://${name.replace(' ', '-')}.example.com/`, retries: 0 })
    sender.script = ({ url }) => responseWith(url.includes('crm') ? 500 : 200)
    await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'call' })
    await clock.settle()
    const names = async (request: Parameters<typeof hs.webhooks.health>[1] = {}) =>
      (await hs.webhooks.health('acme', request)).endpoints.map(({ name }) => name)
    expect(await names()).toEqual(['Billing', 'CRM popup', 'Call log', 'crm sync'])
    expect(await names({ states: ['failing'] })).toEqual(['CRM popup', 'crm sync'])
    expect(await names({ states: ['ok', 'idle'] })).toEqual(['Billing', 'Call log'])
    expect(await names({ search: 'CRM' })).toEqual(['CRM popup', 'crm sync'])
    expect(await names({ search: 'billing.example' })).toEqual(['Billing'])
    expect(await names({ search: 'nothing' })).toEqual([])
    for (const request of [{}, { states: ['failing' as const] }, { search: 'example.com' }]) {
      const paged: string[] = []
      for (let after: readonly [string, string] | undefined; ; ) {
        const page = await hs.webhooks.health('acme', { ...request, limit: 1, ...(after && { after }) })
        expect(page.endpoints.length).toBeLessThanOrEqual(1)
        paged.push(...page.endpoints.map(({ name }) => name))
        after = page.next
        if (!after) break
      }
      expect(paged).toEqual(await names(request))
    }
    await expect(hs.webhooks.health('acme', { limit: 201 })).rejects.toMatchObject({ field: 'limit' })
    await expect(hs.webhooks.health('acme', { limit: 0 })).rejects.toMatchObject({ field: 'limit' })
  })
})
