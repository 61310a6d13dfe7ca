import { describe, expect, it } from 'vitest'
import { customKindsOf } from '../../src/delivery/event.js'
import { reportMatches } from '../../src/delivery/match-report.js'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import { aWebhook } from './fixtures.js'
import { createHarness } from './harness.js'

const CATALOGUE = catalogueOf([
  { id: 'queue_full', schema: { type: 'object', required: ['queue'] }, sample: { data: { queue: 'q' } } },
])

async function report(event: object, webhooks = [aWebhook()], accountId = 'acc') {
  const { accept, store } = await createHarness(webhooks)
  const ids = CATALOGUE.map(({ id }) => id)
  const deps = {
    ...accept,
    webhooks: store.webhooks,
    isKnownHook: (hook: string) => ids.includes(hook),
    customKinds: customKindsOf(CATALOGUE, new Map()),
  }
  return reportMatches(deps, accountId, event as Record<string, unknown>)
}

describe('reportMatches', () => {
  it('reports each webhook of the account by name, with the reason if it does not match', async () => {
    const webhooks = [
      aWebhook({ name: 'b', hook: 'channel_destroy' }, { id: 'w2' }),
      aWebhook({ name: 'a' }, { id: 'w1' }),
      aWebhook({ name: 'c' }, { id: 'w3', accountId: 'sub' }),
    ]
    expect(await report({ hook: 'channel_create' }, webhooks)).toEqual([
      { id: 'w1', name: 'a', isWanted: true },
      { id: 'w2', name: 'b', isWanted: false, why: 'hook' },
    ])
  })

  it('takes events of accounts below, and of no others', async () => {
    const webhooks = [aWebhook(), aWebhook({ name: 'x', includeSubaccounts: true }, { id: 'w2' })]
    expect(await report({ hook: 'channel_create', accountId: 'sub' }, webhooks)).toMatchObject([
      { isWanted: false, why: 'account' },
      { isWanted: true },
    ])
    for (const accountId of ['acc', 'unknown'])
      await expect(report({ hook: 'channel_create', accountId }, webhooks, 'sub')).rejects.toMatchObject({
        code: 'NotFound',
      })
  })

  it('shows filters the fields that the event has', async () => {
    const all = [{ exact: { call_id: 'c' } }, { exact: { account_id: 'acc' } }]
    const webhooks = [aWebhook({ filter: { all } })]
    expect(await report({ hook: 'channel_create', callId: 'c' }, webhooks)).toMatchObject([
      { isWanted: true },
    ])
    expect(await report({ hook: 'channel_create' }, webhooks)).toMatchObject([{ why: 'filter' }])
    expect(await report({ hook: 'channel_create', callId: '-' }, webhooks)).toMatchObject([{ why: 'filter' }])
  })

  it('needs neither a call nor the data of a registered kind', async () => {
    expect(await report({ hook: 'queue_full' })).toMatchObject([{ isWanted: true }])
    const webhooks = [aWebhook({ filter: { exact: { 'data.queue': 'a' } } })]
    expect(await report({ hook: 'queue_full', data: { queue: 'a' } }, webhooks)).toMatchObject([
      { isWanted: true },
    ])
    expect(await report({ hook: 'queue_full' }, webhooks)).toMatchObject([{ why: 'filter' }])
    expect(await report({ hook: 'webhook_paused' })).toMatchObject([{ why: 'hook' }])
    expect(await report({ hook: 'webhook_paused' }, [aWebhook({ hook: 'webhook_paused' })])).toMatchObject([
      { isWanted: true },
    ])
  })

  it.each([
    [{ hook: 'unknown' }, 'hook'],
    [{}, 'hook'],
    [{ hook: 'channel_create', colour: 'red' }, 'colour'],
    [{ hook: 'channel_create', isInternalLeg: 'no' }, 'isInternalLeg'],
    [[], ''],
  ])('rejects %j', async (event, path) => {
    await expect(report(event)).rejects.toMatchObject({ code: 'InvalidInput', failures: [{ path }] })
  })
})
