/** Replays over HTTP: what a selection may say, the list of jobs, and what is refused. */
import { describe, expect, it } from 'vitest'
import { toStoredReplay } from '../../src/delivery/replay-job.js'
import { deferred } from '../support/deferred.js'
import { jsonOf, NOW, OWN_ACCOUNT, type RequestOptions, replayJob } from './records.js'
import { startService } from './service.js'

const OF_WEBHOOK = `/v1/accounts/${OWN_ACCOUNT}/webhooks/{webhook}/replay`
const OF_ACCOUNT = `/v1/accounts/${OWN_ACCOUNT}/replay`
const OF_ALL = '/v1/system/replay'
const JOBS = `/v1/accounts/${OWN_ACCOUNT}/replays`

/** A service whose account is an operator's, with these jobs. */
async function startWith(...jobs: readonly ReturnType<typeof replayJob>[]) {
  const service = await startService({ operators: [OWN_ACCOUNT] })
  for (const job of jobs) await service.store.replays.create(toStoredReplay(job))
  const call = async (method: string, url: string, body?: unknown, sent: RequestOptions = {}) => {
    const path = url.replace('{webhook}', service.webhookId)
    const response = await service.send(method, path, { ...(body !== undefined && { body }), ...sent })
    const { status, headers } = response
    // biome-ignore lint/suspicious/noExplicitAny: JSON of any response.
    const { data, next_start_key: nextStartKey } = jsonOf(response) as any
    return { status, data, nextStartKey, headers }
  }
  return { ...service, call, started: async () => (await service.hs.replays.list()).length }
}

describe('a replay without a selection', () => {
  it.each([OF_WEBHOOK, OF_ACCOUNT, OF_ALL])('repeats all that was lost: %s', async (url) => {
    for (const body of [undefined, {}, { data: {} }, { data: { ui_metadata: { ui: 'monster-ui' } } }]) {
      const { call, started } = await startWith()
      const { status, data } = await call('PUT', url, body)
      expect([status, data.include_recovered, data.result]).toEqual([202, false, undefined])
      expect(await started()).toBe(1)
    }
  })

  it('is not what a body without `data` means', async () => {
    const { call, started } = await startWith()
    const { status, data } = await call('PUT', OF_ACCOUNT, { reason: 'refused' })
    expect([status, Object.keys(data), await started()]).toEqual([400, ['data'], 0])
  })
})

describe('a replay names every wrong field', () => {
  it.each<[string, Record<string, unknown>, Record<string, string>]>([
    [OF_ACCOUNT, { result: 'lost' }, { result: 'enum' }],
    [OF_ACCOUNT, { created_from: '2030-01-16', created_to: '2030-01-15' }, { created_from: 'maximum' }],
    [OF_ACCOUNT, { created_from: -1, created_to: 'x' }, { created_from: 'minimum', created_to: 'type' }],
    [
      OF_ALL,
      { reason: 'r'.repeat(257), number: '1'.repeat(257) },
      { reason: 'maxLength', number: 'maxLength' },
    ],
    [OF_ALL, { call_id: 'c'.repeat(257), hook: 5 }, { call_id: 'maxLength', hook: 'type' }],
    [OF_ALL, { dry_run: 'yes' }, { dry_run: 'type' }],
    [OF_ACCOUNT, { reasn: 'refused' }, { reasn: 'additionalProperties' }],
    [OF_ACCOUNT, { delivery_id: 'd' }, { delivery_id: 'additionalProperties' }],
    [OF_WEBHOOK, { delivery_id: 'd', reason: 'refused' }, { delivery_id: 'error' }],
    [OF_WEBHOOK, { delivery_id: 5 }, { delivery_id: 'type' }],
    [OF_WEBHOOK, { delivery_id: 'd', dry_run: true }, { delivery_id: 'error' }],
    [OF_WEBHOOK, { constructor: 1 }, { constructor: 'additionalProperties' }],
  ])('%s %j', async (url, data, expected) => {
    const { call, started } = await startWith()
    const answer = await call('PUT', url, { data })
    const rules = Object.entries(answer.data).map(([field, rule]) => [field, Object.keys(rule as object)[0]])
    expect([answer.status, Object.fromEntries(rules), await started()]).toEqual([400, expected, 0])
  })

  it('as it is on the wire, also where the service finds it', async () => {
    const { call } = await startWith()
    const { status, data } = await call('PUT', OF_ALL, { data: { number: '+15550001' } })
    expect([status, Object.keys(data)]).toEqual([400, ['number']])
  })
})

describe('a replay', () => {
  it('of a delivery that cannot exist is 404', async () => {
    const { status, data } = await (await startWith()).call('PUT', OF_WEBHOOK, {
      data: { delivery_id: 'a b' },
    })
    expect([status, data.cause]).toEqual([404, 'a b'])
  })

  it('is counted for one request of an account at a time', async () => {
    const { call, store } = await startWith()
    const dryRun = (url: string) => call('PUT', url, { data: { dry_run: true } })
    const { countReplayable } = store.deliveries
    const { promise: waiting, resolve: finish } = deferred()
    store.deliveries.countReplayable = async (query) => {
      await waiting
      return countReplayable(query)
    }
    const first = dryRun(OF_ACCOUNT)
    const refused = await dryRun(OF_WEBHOOK)
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '5'])
    const ofAll = dryRun(OF_ALL)
    finish()
    const none = { count: 0, webhooks: 0, accounts: 0 }
    expect([(await first).data, (await ofAll).data]).toEqual([none, none])
    expect((await dryRun(OF_WEBHOOK)).status).toBe(200)
    // A failure ends the count too.
    store.deliveries.countReplayable = async () => {
      throw new Error('store')
    }
    for (const _ of [1, 2]) expect((await dryRun(OF_ACCOUNT)).status).toBe(500)
  })
})

describe('the list of replays', () => {
  it('continues behind the last one of a page', async () => {
    const { call } = await startWith(...[9, 8, 7, 6, 5].map((digit) => replayJob(digit)))
    const ids: string[] = []
    let key = ''
    do {
      const page = await call('GET', `${JOBS}?page_size=2&start_key=${key}`)
      ids.push(...page.data.map(({ id }: { id: string }) => id[0]))
      key = page.nextStartKey
    } while (key)
    expect(ids.join('')).toBe('98765')
  })

  it('has a range and filters', async () => {
    const { call } = await startWith(replayJob(9, { state: 'paused' }), replayJob(8), replayJob(7))
    const idsOf = async (query: string) =>
      (await call('GET', `${JOBS}?${query}`)).data.map(({ id }: { id: string }) => id[0])
    const at = (digit: number) => new Date(NOW + digit * 1000).toISOString()
    expect(await idsOf(`created_from=${at(8)}`)).toEqual(['9', '8'])
    expect(await idsOf(`created_to=${at(7)}`)).toEqual(['7'])
    expect(await idsOf('filter_state=paused')).toEqual(['9'])
  })

  it('refuses a place that it did not name', async () => {
    const { status, data } = await (await startWith()).call('GET', `${JOBS}?start_key=cDc`)
    expect([status, Object.keys(data)]).toEqual([400, ['start_key']])
  })
})

describe('one replay', () => {
  it('is unknown to another account, and to a malformed id', async () => {
    const { call } = await startWith(replayJob(1, { request: {} }))
    for (const id of ['1'.repeat(32), 'a%20b'])
      for (const [method, body] of [['GET'], ['POST', { data: { state: 'paused' } }]] as const)
        expect((await call(method, `${JOBS}/${id}`, body)).status).toBe(404)
  })

  it('is set only to a state that can be set', async () => {
    const { call } = await startWith(replayJob(2, { state: 'paused' }))
    const url = `${JOBS}/${'2'.repeat(32)}`
    for (const data of [{}, { state: 'completed' }, { state: 5 }]) {
      const { status, data: failures } = await call('POST', url, { data })
      expect([status, Object.keys(failures)]).toEqual([400, ['state']])
    }
    expect((await call('POST', url, { data: { state: 'cancelled' } })).data.state).toBe('cancelled')
  })
})
