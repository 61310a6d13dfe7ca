import { describe, expect, it } from 'vitest'
import { writtenDocuments } from '../../src/http/written-documents.js'
import { secretBox } from '../../src/values/seal.js'
import { viewOf, type WebhookView } from '../../src/webhooks/view.js'
import { successBody } from '../../src/wire/envelope.js'
import { webhookDoc } from '../../src/wire/webhook-doc.js'
import { aWebhook } from '../delivery/fixtures.js'

const view = (changes: Partial<WebhookView> = {}): WebhookView => ({
  ...viewOf(aWebhook({ name: 'Calls "of" \\ Köln' }), secretBox(['a secret of the service'])),
  revision: 1,
  ...changes,
})

describe('documents as text', () => {
  it('are written once for each revision, and never an old one', () => {
    const documents = writtenDocuments()
    const first = documents.of(view())
    expect(JSON.parse(first)).toEqual(JSON.parse(JSON.stringify(webhookDoc(view()))))
    expect(documents.of(view({ name: 'of the same revision' }))).toBe(first)
    expect(JSON.parse(documents.of(view({ name: 'New', revision: 2 }))).name).toBe('New')
    expect(JSON.parse(documents.of(view({ name: 'Back', revision: 1 }))).name).toBe('Back')
  })

  it('are kept of so many webhooks only', () => {
    const documents = writtenDocuments()
    for (let index = 0; index < 1001; index++) documents.of(view({ id: `w${index}` }))
    expect(JSON.parse(documents.of(view({ id: 'w0', name: 'Again' }))).name).toBe('Again')
    expect(JSON.parse(documents.of(view({ id: 'w1000', name: 'Not again' }))).name).not.toBe('Not again')
  })
})

describe('an envelope around what was written before', () => {
  const frame = { requestId: 'a"b\\c', timestamp: 't', node: 'n', version: '1', authToken: 'x' }
  it.each([undefined, true])('is as if it were written now (indent: %s)', (indent) => {
    const data = webhookDoc(view())
    const how = { ...frame, ...(indent && { indent }) }
    const extras = { revision: '1-1' }
    expect(successBody(undefined, how, extras, JSON.stringify(data))).toBe(successBody(data, how, extras))
  })
})
