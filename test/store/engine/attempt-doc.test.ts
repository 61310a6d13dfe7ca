import fc from 'fast-check'
import { type AttemptRecord, decodeRecord, encodeRecord } from 'hookswitch/store'
import { describe, expect, it } from 'vitest'
import { FAILURE_CAUSES } from '../../../src/values/failure-cause.js'

const CONTEXT = {
  accountId: 'account',
  webhookId: 'webhook',
  hook: 'channel_create',
  eventId: 'event',
  deliveryId: 'delivery',
  callId: 'call',
}

const aRecord: AttemptRecord = {
  ...CONTEXT,
  id: 'record',
  uri: 'https://hooks.example.com/calls',
  method: 'post',
  attempt: 2,
  retriesLeft: 1,
  result: 'success',
  status: 200,
  responseHeaders: ['content-length', '2'],
  responseBody: 'ok',
  durationMs: 12,
  atMs: 1_700_000_000_500,
}

const OWN_HEADERS = [
  ['accept-encoding', 'identity'],
  ['X-Hook-ID', 'webhook'],
  ['X-Account-ID', 'account'],
  ['X-Tenant', '[redacted]'],
  ['User-Agent', 'hookswitch/1.0.0'],
  ['Accept', '*/*'],
  ['X-Hook-Event', 'channel_create'],
  ['X-Hook-Attempt', '2'],
  ['webhook-id', 'delivery'],
  ['webhook-timestamp', '1700000000'],
  ['webhook-signature', '[redacted]'],
  ['Content-Type', 'application/json'],
].flat()

const roundTrip = (record: AttemptRecord) => decodeRecord(encodeRecord(record), CONTEXT)

describe('the stored form of an attempt record', () => {
  it('contains neither the headers that the service sets nor what other rows contain', () => {
    const record = { ...aRecord, requestHeaders: OWN_HEADERS }
    const { request, doc } = encodeRecord(record)
    expect(request.length).toBeLessThan(aRecord.uri.length + 90)
    for (const text of Object.values(CONTEXT)) expect(request + doc).not.toContain(`"${text}"`)
    expect(roundTrip(record)).toEqual(record)
  })

  it('has no place for what successes lack', () => {
    const { doc } = encodeRecord({ ...aRecord, requestHeaders: [] })
    expect(JSON.parse(doc)).toHaveLength(11)
    expect(JSON.parse(encodeRecord({ ...aRecord, late: true }).doc)).toHaveLength(14)
  })

  it('reads the header names and values that an earlier version wrote as text', () => {
    const { doc } = encodeRecord({ ...aRecord, requestHeaders: [] })
    const request = `${aRecord.uri}\npost\nX-Hook-ID\n\u0001\nwebhook-signature\n[redacted]`
    expect(decodeRecord({ atMs: aRecord.atMs, doc, request }, CONTEXT).requestHeaders).toEqual([
      'X-Hook-ID',
      'webhook',
      'webhook-signature',
      '[redacted]',
    ])
  })

  it('gives back any record', () => {
    const text = fc.string({ unit: 'binary', maxLength: 12 }).filter((value) => value.isWellFormed())
    const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,8}$/)
    const value = fc.oneof(text, fc.constantFrom(...OWN_HEADERS, '', 'a', '\u0001', '\u000b', 'x\ny'))
    const headers = fc.array(fc.tuple(fc.oneof(name, fc.constantFrom('Accept', 'User-Agent')), value))
    fc.assert(
      fc.property(
        headers,
        fc.option(text, { nil: undefined }),
        fc.option(headers, { nil: undefined }),
        fc.integer({ min: 1, max: 40 }),
        fc.record(
          {
            reason: text,
            clientError: text,
            cause: fc.constantFrom(...Object.keys(FAILURE_CAUSES)),
            detail: text,
            outOfOrder: fc.constant(true),
            late: fc.constant(true),
          },
          { requiredKeys: [] },
        ),
        (sent, responseBody, received, attempt, failure) => {
          const record = {
            ...aRecord,
            ...failure,
            attempt,
            requestHeaders: sent.flat(),
            responseHeaders: received?.flat(),
            responseBody,
          }
          expect(roundTrip(record as AttemptRecord)).toEqual(
            Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)),
          )
        },
      ),
    )
  })
})
