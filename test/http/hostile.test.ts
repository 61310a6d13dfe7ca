import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHandler } from '../../src/http/handle.js'
import type { RequestRecord } from '../../src/http/message.js'
import { anyText } from '../texts.js'
import { fakeWorld } from './fake-service.js'
import { HOOK, OWN, silent, TOKEN } from './records.js'

describe('whatever is sent', () => {
  const part = fc.oneof(
    fc.constantFrom(
      'v1',
      'v2',
      'accounts',
      OWN,
      'webhooks',
      HOOK,
      'attempts',
      'api_auth',
      'calls',
      'events',
      '..',
      '%2e',
      '',
    ),
    anyText(),
  )
  const text = fc.oneof(anyText(), fc.constantFrom('true', 'application/json', 'Bearer x', '*'))
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

  it('gets an answer with a JSON body and no 5xx', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, async (sent) => {
        const { service } = fakeWorld({ ingest: true })
        const { status, headers, body } = await createHandler(service, { log: silent })(sent)
        expect(status).toBeLessThan(500)
        if (sent.method !== 'HEAD' && status !== 304) {
          expect(JSON.parse(body)).toBeTypeOf('object')
          expect(headers['content-length']).toBe(String(Buffer.byteLength(body)))
        }
        for (const value of Object.values(headers)) expect(value).not.toMatch(/[\r\n\0]/)
      }),
      { numRuns: 500 },
    )
  })
})
