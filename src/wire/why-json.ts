/** JSON of what became of a call, number, event, delivery or webhook. */

import {
  type UnmatchedReason,
  unmatchedSentence,
  type WhyCall,
  type WhyDelivery,
  type WhyEvent,
  type WhyReport,
  type WhyWebhook,
} from '../delivery/why.js'
import { toIsoTime } from '../values/iso-time.js'
import { foundDeliveryJson } from './delivery-json.js'
import type { JsonObject } from './webhook-json.js'

type Names = ReadonlyMap<string, string>

const reasonJson = (why: UnmatchedReason): JsonObject => ({ why, explain: unmatchedSentence(why) })

const whyDeliveryJson = ({ delivery, webhookName, explanation }: WhyDelivery): JsonObject => ({
  ...foundDeliveryJson(delivery, explanation),
  hook_name: webhookName,
})

const eventJson = (event: WhyEvent): JsonObject => ({
  id: event.id,
  call_id: event.callId,
  hook: event.hook,
  sequence: event.sequence,
  happened_at: toIsoTime(event.timestampMs),
  accepted_at: toIsoTime(event.acceptedMs),
  source: event.source,
  wanted: event.isWanted,
  deliveries: event.deliveries.map(whyDeliveryJson),
  unmatched: event.unmatched.map(({ why, count, webhooks }) => ({
    ...reasonJson(why),
    count,
    webhooks: webhooks.map(({ id, name, accountId }) => ({ id, name, account_id: accountId })),
  })),
})

const whyCallJson = ({ accountId, callId, events, isTruncated }: WhyCall, names: Names): JsonObject => ({
  account_id: accountId,
  account_name: names.get(accountId),
  call_id: callId,
  events: events.map(eventJson),
  truncated: isTruncated,
})

function whyWebhookJson({ webhook, deliveries, unwanted }: WhyWebhook, names: Names): JsonObject {
  const { id, accountId, settings, disableReason, deletedMs } = webhook
  return {
    id,
    account_id: accountId,
    account_name: names.get(accountId),
    name: settings.name,
    hook: settings.hook,
    enabled: settings.enabled,
    disable_reason: disableReason,
    deleted: deletedMs === undefined ? undefined : true,
    deliveries: deliveries.map(whyDeliveryJson),
    unmatched: unwanted.map(({ event, why }) => ({
      ...reasonJson(why),
      id: event.id,
      call_id: event.callId,
      hook: event.hook,
      sequence: event.sequence,
      happened_at: toIsoTime(event.timestampMs),
      accepted_at: toIsoTime(event.acceptedMs),
      source: event.source,
    })),
  }
}

/** The accounts that a report names. */
export const accountsOfReport = ({ calls, otherCalls, webhook }: WhyReport): readonly string[] => [
  ...[...calls, ...otherCalls].map(({ accountId }) => accountId),
  ...(webhook ? [webhook.webhook.accountId] : []),
]

/** Returns the JSON of a report. @param names of accounts by id; those that were removed are missing */
export const whyJson = (
  { calls, otherCalls, delivery, webhook, isTruncated }: WhyReport,
  names: Names,
): JsonObject => ({
  calls: calls.map((call) => whyCallJson(call, names)),
  other_calls: otherCalls.map(({ accountId, callId, acceptedMs }) => ({
    account_id: accountId,
    account_name: names.get(accountId),
    call_id: callId,
    accepted_at: toIsoTime(acceptedMs),
  })),
  delivery: delivery && whyDeliveryJson(delivery),
  webhook: webhook && whyWebhookJson(webhook, names),
  truncated: isTruncated,
})
