import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RequestRecord } from '../../src/http/message.js'
import { hostileText } from '../support/hostile-text.js'
import { propertyRuns } from '../support/property-runs.js'
import { OWN_ACCOUNT } from './records.js'
import { startService } from './service.js'

describe('a hostile request', () => {
  const TOKEN = '{token}'
  const WEBHOOK_ID = '{webhook}'
  const part = fc.oneof(
    fc.constantFrom(
      'v1',
      'v2',
      'accounts',
      OWN_ACCOUNT,
      'webhooks',
      WEBHOOK_ID,
      'attempts',
      'api_auth',
      'calls',
      'events',
      '..',
      '%2e',
      '',
    ),
    hostileText(),
  )
  const text = fc.oneof(hostileText(), fc.constantFrom('true', 'application/json', 'Bearer x', '*'))
  const hostile: fc.Arbitrary<RequestRecord> = fc.record(
    {
      method: fc.oneof(
        fc.constantFrom('GET', 'PUT', 'POST', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
        fc.string(),
      ),
      url: fc
        .tuple(fc.array(part, { maxLength: 7 }), fc.string())
        .map(([parts, query]) => `/${parts.join('/')}?${query}`),
      headers: fc.dictionary(
        fc.constantFrom(
          'x-auth-token',
          'content-type',
          'accept',
          'if-match',
          'x-request-id',
          'authorization',
        ),
        fc.oneof(text, fc.constant(TOKEN), fc.array(text, { maxLength: 3 })),
      ),
      body: fc.oneof(
        fc.uint8Array(),
        fc.json({ maxDepth: 4 }).map((json) => new TextEncoder().encode(`{"data":${json}}`)),
      ),
      remoteAddress: text,
    },
    { requiredKeys: ['method', 'url', 'headers'] },
  )

  it('gets a response with a JSON body and no 5xx status', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(hostile, { minLength: 1, maxLength: 50, size: 'max' }), async (requests) => {
        const { hs, token, webhookId } = await startService({ ingest: true })
        for (const sent of requests) {
          const url = sent.url.replace(WEBHOOK_ID, webhookId)
          const sentHeaders = Object.fromEntries(
            Object.entries(sent.headers).map(([name, value]) => [name, value === TOKEN ? token : value]),
          )
          const { status, headers, body } = await hs.handle({ ...sent, url, headers: sentHeaders })
          expect(status).toBeLessThan(500)
          if (sent.method !== 'HEAD' && status !== 304) {
            expect(JSON.parse(body)).toBeTypeOf('object')
            expect(headers['content-length']).toBe(String(Buffer.byteLength(body)))
          }
          for (const value of Object.values(headers)) expect(value).not.toMatch(/[\r\n\0]/)
        }
        await hs.close()
      }),
      { numRuns: propertyRuns(20) },
    )
  })
})
