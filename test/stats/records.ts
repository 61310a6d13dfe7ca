import type { AttemptRecord } from '../../src/delivery/attempt-record.js'

/** 2026-01-15T12:00:00Z. */
export const HOUR = Date.UTC(2026, 0, 15, 12)

/** A delivered attempt that took 10 ms. */
export const newRecord = (overrides: Partial<AttemptRecord> = {}): AttemptRecord => ({
  id: 'i',
  accountId: 'account',
  webhookId: 'webhook',
  hook: 'channel_create',
  eventId: 'e',
  deliveryId: 'd',
  uri: 'https://example.com/',
  method: 'post',
  attempt: 1,
  retriesLeft: 2,
  result: 'success',
  status: 200,
  durationMs: 10,
  atMs: HOUR,
  ...overrides,
})
