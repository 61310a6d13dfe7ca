import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matches, mismatchOf } from '../../src/delivery/match.js'
import { propertyRuns } from '../support/property-runs.js'
import { anAccount, aWebhook } from './fixtures.js'

const root = anAccount('root')
const reseller = anAccount('reseller', 'root')
const customer = anAccount('customer', 'reseller')
const lineage = [customer, reseller, root]
const event = { hook: 'channel_create', accountId: 'customer' }
const own = { accountId: 'customer' }

describe('the reason why a webhook does not get an event', () => {
  const document = {
    hook: 'object',
    documentType: 'user',
    documentAction: 'doc_created',
    accountId: 'customer',
  }
  const closed = lineage.map((account) =>
    account.id === 'customer' ? { ...account, enabled: false } : account,
  )
  const filter = { exact: { from: 'x' } }
  it.each([
    ['disabled', aWebhook({ enabled: false, hook: 'parking' }, own), event],
    ['disabled', aWebhook({}, { ...own, deletedMs: 5 }), event],
    ['hook', aWebhook({ hook: 'channel_answer' }, own), event],
    ['hook', aWebhook({ hook: 'all' }, own), { ...event, hook: 'webhook_paused' }],
    ['only', aWebhook({ hook: 'all', only: ['channel_answer'] }, own), event],
    ['document', aWebhook({ hook: 'object', customData: { type: 'account' } }, own), document],
    ['internal_leg', aWebhook({ includeInternalLegs: false }, own), { ...event, isInternalLeg: true }],
    ['account', aWebhook({}, { accountId: 'reseller' }), event],
    ['account', aWebhook({ includeSubaccounts: true }, { accountId: 'stranger' }), event],
    ['filter', aWebhook({ filter }, own), event],
    [undefined, aWebhook({ filter }, own), { ...event, payload: { from: 'x' } }],
  ])('is %s', (expected, webhook, { payload, ...candidate }: typeof event & { payload?: object }) => {
    expect(mismatchOf(webhook, candidate, lineage, { ...payload })).toBe(expected)
    expect(matches(webhook, candidate, lineage, { ...payload })).toBe(expected === undefined)
  })

  it('is that its account is disabled', () => {
    expect(mismatchOf(aWebhook({}, own), event, closed)).toBe('account_disabled')
  })
})

describe('a webhook gets an event', () => {
  it.each([
    ['of a kind in only', { hook: 'all', only: ['channel_answer', 'channel_create'] }, true],
    ['not of a kind that only leaves out', { hook: 'all', only: ['channel_answer'] }, false],
    ['whose payload passes its filter', { filter: { exact: { call_direction: 'inbound' } } }, true],
    ['not whose payload does not', { filter: { exact: { call_direction: 'outbound' } } }, false],
  ])('%s', (_, settings, expected) => {
    expect(matches(aWebhook(settings, own), event, lineage, { call_direction: 'inbound' })).toBe(expected)
  })

  it('exactly when no reason against it applies', () => {
    const ids = fc.constantFrom('root', 'reseller', 'customer', 'stranger')
    const kinds = fc.constantFrom('channel_create', 'channel_answer')
    const webhooks = fc.record({
      accountId: ids,
      hook: fc.oneof(kinds, fc.constant('all')),
      enabled: fc.boolean(),
      includeSubaccounts: fc.boolean(),
      includeInternalLegs: fc.boolean(),
      deleted: fc.boolean(),
    })
    const accounts = fc.tuple(fc.boolean(), fc.boolean(), fc.boolean())
    const legs = fc.option(fc.boolean(), { nil: undefined })
    fc.assert(
      fc.property(webhooks, accounts, kinds, fc.nat(2), legs, (given, enabled, hook, depth, internal) => {
        const { accountId, deleted, ...settings } = given
        const webhook = aWebhook(settings, { accountId, ...(deleted && { deletedMs: 1 }) })
        const ancestry = lineage
          .map((account, index) => ({ ...account, enabled: enabled[index]! }))
          .slice(depth)
        const at = ancestry.findIndex(({ id }) => id === accountId)
        const reasonsAgainst = [
          !given.enabled,
          deleted,
          !['all', hook].includes(given.hook),
          at < 0,
          at > 0 && !given.includeSubaccounts,
          at >= 0 && !ancestry[at]!.enabled,
          internal === true && !given.includeInternalLegs,
        ]
        const leg = {
          hook,
          accountId: ancestry[0]!.id,
          ...(internal !== undefined && { isInternalLeg: internal }),
        }
        expect(matches(webhook, leg, ancestry)).toBe(!reasonsAgainst.includes(true))
      }),
      { numRuns: propertyRuns(1000) },
    )
  })
})
