import { describe, expect, it } from 'vitest'
import { createDocumentCache } from '../../src/http/document-cache.js'
import { createSecretCipher } from '../../src/values/encryption.js'
import { viewOf, type WebhookView } from '../../src/webhooks/view.js'
import { serializeSuccess } from '../../src/wire/envelope.js'
import { webhookJson } from '../../src/wire/webhook-json.js'
import { aWebhook } from '../delivery/fixtures.js'

const view = (changes: Partial<WebhookView> = {}): WebhookView => ({
  ...viewOf(aWebhook({ name: 'Calls "of" \\ Köln' }), createSecretCipher(['an encryption key']), 86_400, 0),
  revision: 1,
  ...changes,
})

describe('the document cache', () => {
  it('serializes a webhook once per revision and never returns an older one', () => {
    const cache = createDocumentCache()
    const first = cache.serialize(view())
    expect(JSON.parse(first)).toEqual(JSON.parse(JSON.stringify(webhookJson(view()))))
    expect(cache.serialize(view({ name: 'same revision' }))).toBe(first)
    expect(JSON.parse(cache.serialize(view({ name: 'New', revision: 2 }))).name).toBe('New')
    expect(JSON.parse(cache.serialize(view({ name: 'Back', revision: 1 }))).name).toBe('Back')
  })

  it('holds at most 1000 webhooks', () => {
    const cache = createDocumentCache()
    for (let index = 0; index < 1001; index++) cache.serialize(view({ id: `w${index}` }))
    expect(JSON.parse(cache.serialize(view({ id: 'w0', name: 'Again' }))).name).toBe('Again')
    expect(JSON.parse(cache.serialize(view({ id: 'w1000', name: 'Not again' }))).name).not.toBe('Not again')
  })
})

describe('an envelope around serialized data', () => {
  const fields = { requestId: 'a"b\\c', timestamp: 't', node: 'n', version: '1', authToken: 'x' }
  it.each([undefined, true])('equals an envelope around the data itself (indent: %s)', (indent) => {
    const data = webhookJson(view())
    const envelope = { ...fields, ...(indent && { indent }) }
    const extras = { revision: '1-1' }
    expect(serializeSuccess(undefined, envelope, extras, JSON.stringify(data))).toBe(
      serializeSuccess(data, envelope, extras),
    )
  })
})
