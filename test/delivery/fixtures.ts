import * as fc from 'fast-check'
import type { Account } from '../../src/accounts/account.js'
import type { Delivery } from '../../src/delivery/lifecycle.js'
import { constant, exponential, type RetryPolicy, schedule } from '../../src/delivery/policy.js'
import type { Webhook } from '../../src/webhooks/webhook.js'

/** A delivery in its first attempt. */
export function aDelivery(changes: Partial<Delivery> = {}): Delivery {
  return {
    id: 'd1',
    accountId: 'acc',
    webhookId: 'w1',
    eventId: 'e1',
    eventAccountId: 'acc',
    callId: 'call-1',
    hook: 'channel_create',
    eventTimestampMs: 1_700_000_000_000,
    variant: 0,
    encoding: 'json',
    httpVerb: 'post',
    lane: 'acc/call-1',
    epoch: 1,
    state: 'in_flight',
    attempts: 0,
    tries: 0,
    interruptions: 0,
    acceptedMs: 1_700_000_000_000,
    ...changes,
  }
}

/** An enabled webhook with default settings. */
export function aWebhook(
  settings: Partial<Webhook['settings']> = {},
  changes: Partial<Omit<Webhook, 'settings'>> = {},
): Webhook {
  return {
    id: 'w1',
    accountId: 'acc',
    settings: {
      name: 'hook',
      uri: 'https://example.com/hook',
      hook: 'all',
      httpVerb: 'post',
      retries: 2,
      format: 'json',
      enabled: true,
      includeSubaccounts: false,
      includeInternalLegs: true,
      ordering: 'call',
      ...settings,
    },
    secrets: [],
    createdMs: 1,
    modifiedMs: 1,
    enabledMs: 1,
    revision: 1,
    epoch: 1,
    ...changes,
  }
}

/** An enabled account. */
export function anAccount(id: string, parentId?: string): Account {
  return {
    id,
    name: id,
    realm: `${id}.example.com`,
    enabled: true,
    language: 'en-us',
    isReseller: false,
    createdMs: 1,
    modifiedMs: 1,
    ...(parentId !== undefined && { parentId }),
  }
}

/** Any retry policy except a custom function. */
export const anyPolicy: fc.Arbitrary<Exclude<RetryPolicy, { kind: 'custom' }>> = fc.oneof(
  fc
    .record({
      baseMs: fc.nat(100_000),
      factor: fc.double({ min: 1, max: 100, noNaN: true }),
      extra: fc.nat(10_000_000),
      jitter: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    .map(({ baseMs, factor, extra, jitter }) =>
      exponential({ baseMs, factor, jitter, capMs: baseMs + extra }),
    ),
  fc
    .tuple(fc.nat(1_000_000), fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([ms, jitter]) => constant(ms, { jitter })),
  fc.array(fc.nat(86_400_000), { minLength: 1, maxLength: 12 }).map((delays) => schedule(delays)),
)
