import { describe, expect, it } from 'vitest'
import { matches } from '../../src/delivery/match.js'
import { newAccount, newWebhook } from '../../src/testkit/conformance/sample-data.js'

const lineage = [newAccount({ id: 'account' })]
const event = { hook: 'object', accountId: 'account', documentType: 'user', documentAction: 'doc_created' }
const matchesData = (hook: string, customData?: Record<string, string>) =>
  matches(newWebhook({ settings: { hook, ...(customData && { customData }) } }), event, lineage)

describe('events about documents', () => {
  it.each([
    [{ type: 'user', action: 'doc_created' }, true],
    [{ type: 'all', action: 'all' }, true],
    [{ type: 'user', action: 'all' }, true],
    [{ type: 'account', action: 'all' }, false],
    [{ type: 'user', action: 'doc_edited' }, false],
  ])('a webhook with custom data %j is called: %s', (customData, expected) => {
    expect(matchesData('object', customData)).toBe(expected)
  })

  it('a webhook of every kind gets them whatever its custom data', () => {
    expect(matchesData('all', { type: 'other', action: 'x' })).toBe(true)
    expect(matchesData('channel_create', { type: 'user', action: 'doc_created' })).toBe(false)
  })
})
