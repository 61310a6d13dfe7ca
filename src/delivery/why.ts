/** What became of accepted events, and why webhooks did not get them. Pure. */
import type { Account } from 'hookswitch'
import type { Webhook } from 'hookswitch/store'
import type { IndexedCall, UnwantedEvent } from './call-index-store.js'
import type { StoredDelivery } from './delivery-queries.js'
import type { Explanation } from './explain.js'
import { type Matchable, type Mismatch, mismatchOf, type Payload } from './match.js'

/**
 * Why a webhook has no delivery of an event: as a match says; or it was created or changed after the event, or nothing tells
 * (`no_record`: it would get such an event now, so that its delivery was removed, or its account was changed).
 */
export const UNMATCHED_REASONS = [
  'hook',
  'only',
  'document',
  'internal_leg',
  'account',
  'filter',
  'disabled',
  'account_disabled',
  'created_later',
  'changed_later',
  'no_record',
] as const satisfies readonly (Mismatch | 'created_later' | 'changed_later' | 'no_record')[]
export type UnmatchedReason = (typeof UNMATCHED_REASONS)[number]

/** Webhooks that have no delivery of an event, for one reason. */
interface Unmatched {
  readonly why: UnmatchedReason
  /** Their number. */
  readonly count: number
  /** The first of them. */
  readonly webhooks: readonly { readonly id: string; readonly name: string; readonly accountId: string }[]
}

/** A delivery and why it is in its state. */
export interface WhyDelivery {
  readonly delivery: StoredDelivery
  /** Name of its webhook. Absent: it is not stored any more. */
  readonly webhookName?: string
  readonly explanation: Explanation
}

/** An event that was accepted. */
export interface WhyEvent {
  readonly id: string
  /** Id of the account in which it happened. */
  readonly accountId: string
  readonly callId: string
  readonly hook: string
  /** Its number within the call. */
  readonly sequence: number
  /** When it happened, Unix ms. */
  readonly timestampMs: number
  /** When it was accepted, Unix ms. */
  readonly acceptedMs: number
  /** What published it. Absent: unknown. */
  readonly source?: string
  /** False: no webhook matched. */
  readonly isWanted: boolean
  /** Oldest first, at most 20. */
  readonly deliveries: readonly WhyDelivery[]
  /** Webhooks that have no delivery of it. */
  readonly unmatched: readonly Unmatched[]
}

/** A call and its accepted events. */
export interface WhyCall {
  /** Id of the account of its events. */
  readonly accountId: string
  readonly callId: string
  /** The newest, at most 50, oldest first. */
  readonly events: readonly WhyEvent[]
  /** True: older events, deliveries or webhooks are left out. */
  readonly isTruncated: boolean
}

/** A webhook and what it got last. */
export interface WhyWebhook {
  readonly webhook: Webhook
  /** The newest 20, newest first. */
  readonly deliveries: readonly WhyDelivery[]
  /** The newest 20 events of its account that no webhook wanted, newest first, and why this one did not get them. */
  readonly unwanted: readonly { readonly event: UnwantedEvent; readonly why: UnmatchedReason }[]
}

/** What was found. */
export interface WhyReport {
  /** The newest 5, newest first. */
  readonly calls: readonly WhyCall[]
  /** Further calls, newest first, at most 50. */
  readonly otherCalls: readonly Pick<IndexedCall, 'accountId' | 'callId' | 'acceptedMs'>[]
  /** The delivery that was searched for. */
  readonly delivery?: WhyDelivery
  readonly webhook?: WhyWebhook
  /** True: there are more calls of this number. Over all accounts those that are shown may not be the newest. */
  readonly isTruncated: boolean
}

/** An event, as far as it is known. */
interface WhyMatchable extends Matchable {
  /** When it was accepted, ms. */
  readonly acceptedMs: number
  /** Its payload. Absent: it is not stored. */
  readonly payload?: Payload | undefined
}

/** Each node estimates the time of the store: what two of them wrote so soon after each other may be the wrong way round. */
const CLOCKS_APART_MS = 100

/** Webhooks that are named for each reason. */
const MAX_NAMED = 10

/** @param lineage the event's account, then its ancestors up to the root */
export function unmatchedReason(
  webhook: Webhook,
  event: WhyMatchable,
  lineage: readonly Account[],
): UnmatchedReason {
  const knownMs = event.acceptedMs + CLOCKS_APART_MS
  if (webhook.createdMs > knownMs) return 'created_later'
  const { filter, ...settings } = webhook.settings
  const isUnknown = filter !== undefined && event.payload === undefined
  const mismatch = mismatchOf(isUnknown ? { ...webhook, settings } : webhook, event, lineage, event.payload)
  if (mismatch !== undefined) return mismatch
  if (webhook.modifiedMs > knownMs) return 'changed_later'
  // All else matches, and it did not get the event.
  return isUnknown ? 'filter' : 'no_record'
}

/** The reasons of webhooks that have no delivery of an event, most webhooks first. */
export function unmatchedOf(
  webhooks: readonly Webhook[],
  event: WhyMatchable,
  lineage: readonly Account[],
): readonly Unmatched[] {
  const byReason = new Map<UnmatchedReason, Webhook[]>()
  for (const webhook of webhooks) {
    const why = unmatchedReason(webhook, event, lineage)
    const others = byReason.get(why)
    if (others) others.push(webhook)
    else byReason.set(why, [webhook])
  }
  return [...byReason]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([why, found]) => ({
      why,
      count: found.length,
      webhooks: found
        .slice(0, MAX_NAMED)
        .map(({ id, accountId, settings }) => ({ id, name: settings.name, accountId })),
    }))
}

/** A reason in English. */
export function unmatchedSentence(why: UnmatchedReason): string {
  switch (why) {
    case 'hook':
      return 'It is for other kinds of events.'
    case 'only':
      return 'Its setting `only` leaves out this kind of event.'
    case 'document':
      return '`type` or `action` of its custom data differs.'
    case 'internal_leg':
      return 'The leg is internal, and `include_internal_legs` is false.'
    case 'account':
      return 'The event is of an account below, and `include_subaccounts` is false.'
    case 'filter':
      return 'Its filter did not pass.'
    case 'disabled':
      return 'It is disabled.'
    case 'account_disabled':
      return 'Its account is disabled.'
    case 'created_later':
      return 'It was created after the event.'
    case 'changed_later':
      return 'It was changed after the event, and would get such an event now.'
    case 'no_record':
      return 'It would get such an event now: its delivery was removed, or its account was changed.'
  }
}
