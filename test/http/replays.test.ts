/** Replays over HTTP: what a selection may say, the list of jobs, and what is refused. */
import { describe, expect, it } from 'vitest'
import { HookswitchError, invalidInput } from '../../src/errors.js'
import { createHandler } from '../../src/http/handle.js'
import { createFakeBackend } from './fake-backend.js'
import {
  errorWithCode,
  jsonOf,
  NOW,
  OWN_ACCOUNT,
  replayJob,
  request,
  silentLog,
  WEBHOOK_ID,
} from './records.js'

const OF_WEBHOOK = `/v1/accounts/${OWN_ACCOUNT}/webhooks/${WEBHOOK_ID}/replay`
const OF_ACCOUNT = `/v1/accounts/${OWN_ACCOUNT}/replay`
const OF_ALL = '/v1/system/replay'
const JOBS = `/v1/accounts/${OWN_ACCOUNT}/replays`

async function respond(method: string, url: string, body?: unknown, fake = createFakeBackend()) {
  const handle = createHandler(fake.backend, { log: silentLog })
  const response = await handle(request(method, url, body === undefined ? {} : { body }))
  const { status } = response
  // biome-ignore lint/suspicious/noExplicitAny: JSON of any response.
  const { data, next_start_key: nextStartKey } = jsonOf(response) as any
  return { status, data, nextStartKey, headers: response.headers, calls: fake.calls }
}

const isReplay = ([method]: readonly unknown[]) =>
  ['replay', 'startReplay', 'countReplay'].includes(method as string)

describe('a replay without a selection', () => {
  it.each([OF_WEBHOOK, OF_ACCOUNT, OF_ALL])('repeats all that was lost: %s', async (url) => {
    for (const body of [undefined, {}, { data: {} }, { data: { ui_metadata: { ui: 'monster-ui' } } }]) {
      const { status, data, calls } = await respond('PUT', url, body)
      expect([status, data.include_recovered, data.result]).toEqual([202, false, undefined])
      expect(calls.filter(isReplay)).toHaveLength(1)
    }
  })

  it('is not what a body without `data` means', async () => {
    const { status, data, calls } = await respond('PUT', OF_ACCOUNT, { reason: 'refused' })
    expect([status, Object.keys(data)]).toEqual([400, ['data']])
    expect(calls.filter(isReplay)).toEqual([])
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
  ])('%s %j', async (url, data, expected) => {
    const answer = await respond('PUT', url, { data })
    const rules = Object.entries(answer.data).map(([field, rule]) => [field, Object.keys(rule as object)[0]])
    expect([answer.status, Object.fromEntries(rules)]).toEqual([400, expected])
    expect(answer.calls.filter(isReplay)).toEqual([])
  })

  it('as it is on the wire, also where the service finds it', async () => {
    const thrown = invalidInput([
      { path: 'callId', rule: 'error', message: 'm' },
      { path: 'createdFromMs', rule: 'error', message: 'm' },
    ])
    const { status, data } = await respond('PUT', OF_ACCOUNT, { data: {} }, failing('startReplay', thrown))
    expect([status, Object.keys(data)]).toEqual([400, ['call_id', 'created_from']])
  })
})

const failing = (method: string, thrown: unknown) => createFakeBackend({ faults: { [method]: thrown } })

describe('a replay is refused', () => {
  it('for a webhook that is disabled', async () => {
    const disabled = new HookswitchError('Conflict', 'the webhook is disabled', { field: 'enabled' })
    const { status } = await respond('PUT', OF_WEBHOOK, { data: {} }, failing('startReplay', disabled))
    expect(status).toBe(409)
  })

  it('while too many have not ended', async () => {
    const many = errorWithCode('TooManyReplays', { retryAfterSeconds: 60 })
    const { status, headers } = await respond('PUT', OF_ALL, { data: {} }, failing('startReplay', many))
    expect([status, headers['retry-after']]).toEqual([429, '60'])
  })

  it('for a delivery that cannot exist', async () => {
    const { status, data, calls } = await respond('PUT', OF_WEBHOOK, { data: { delivery_id: 'a b' } })
    expect([status, data.cause]).toEqual([404, 'a b'])
    expect(calls.filter(isReplay)).toEqual([])
  })

  it('over all accounts to all but operators', async () => {
    for (const [method, url] of [
      ['PUT', OF_ALL],
      ['GET', '/v1/system/replays'],
      ['GET', '/v1/system/replays/r'],
      ['POST', '/v1/system/replays/r'],
    ] as const) {
      const { status } = await respond(method, url, undefined, createFakeBackend({ operator: false }))
      expect([url, status]).toEqual([url, 403])
    }
  })
})

describe('the list of replays', () => {
  it('continues behind the last one of a page', async () => {
    const fake = createFakeBackend()
    fake.replays.splice(0, 2, ...[9, 8, 7, 6, 5].map((digit) => replayJob(digit)))
    const ids: string[] = []
    let key = ''
    do {
      const page = await respond('GET', `${JOBS}?page_size=2&start_key=${key}`, undefined, fake)
      ids.push(...page.data.map(({ id }: { id: string }) => id[0]))
      key = page.nextStartKey
    } while (key)
    expect(ids.join('')).toBe('98765')
  })

  it('has a range and filters', async () => {
    const fake = createFakeBackend()
    fake.replays.splice(0, 2, replayJob(9, { state: 'paused' }), replayJob(8), replayJob(7))
    const idsOf = async (query: string) =>
      (await respond('GET', `${JOBS}?${query}`, undefined, fake)).data.map(({ id }: { id: string }) => id[0])
    const at = (digit: number) => new Date(NOW + digit * 1000).toISOString()
    expect(await idsOf(`created_from=${at(8)}`)).toEqual(['9', '8'])
    expect(await idsOf(`created_to=${at(7)}`)).toEqual(['7'])
    expect(await idsOf('filter_state=paused')).toEqual(['9'])
  })

  it('refuses a place that it did not name', async () => {
    const { status, data } = await respond('GET', `${JOBS}?start_key=cDc`)
    expect([status, Object.keys(data)]).toEqual([400, ['start_key']])
  })
})

describe('one replay', () => {
  const ofAll = `${JOBS}/${'1'.repeat(32)}`

  it.each([ofAll, `${JOBS}/unknown`, `${JOBS}/a%20b`])('is unknown to the account: %s', async (url) => {
    expect((await respond('GET', url)).status).toBe(404)
    expect((await respond('POST', url, { data: { state: 'paused' } })).status).toBe(404)
  })

  it('is set only to a state that can be set, and not after its end', async () => {
    const url = `${JOBS}/${'2'.repeat(32)}`
    for (const data of [{}, { state: 'completed' }, { state: 5 }]) {
      const { status, data: failures } = await respond('POST', url, { data })
      expect([status, Object.keys(failures)]).toEqual([400, ['state']])
    }
    const ended = failing('setReplay', errorWithCode('Conflict', { field: 'state' }))
    expect((await respond('POST', url, { data: { state: 'running' } }, ended)).status).toBe(409)
  })
})
