/**
 * Kinds of events about webhooks themselves (meta events): the service publishes them, and a webhook gets them only by
 * naming the kind. `all` does not include them.
 */

/** Example events, as the service publishes them; times in Unix milliseconds. */
export const META_SAMPLES = [
  {
    hook: 'webhook_paused',
    accountId: '91eb05e5c68d7ca05e7618b6821d2d16',
    timestampMs: 1_894_708_800_000,
    webhookId: '5e1b3f0c7a924d68b3c1f5d08e97a246',
    reason: 'certificate_expired',
    detail: 'The certificate of the server has expired.',
    failuresInRow: 3,
    pausedUntilMs: 1_894_708_805_000,
  },
  {
    hook: 'webhook_failing',
    accountId: '91eb05e5c68d7ca05e7618b6821d2d16',
    timestampMs: 1_894_795_205_000,
    webhookId: '5e1b3f0c7a924d68b3c1f5d08e97a246',
    reason: 'timeout_answer',
    detail: 'The server did not answer in time.',
    failuresInRow: 1_480,
    failingSinceMs: 1_894_708_800_000,
  },
  {
    hook: 'webhook_disabled',
    accountId: '91eb05e5c68d7ca05e7618b6821d2d16',
    timestampMs: 1_894_795_200_000,
    webhookId: '5e1b3f0c7a924d68b3c1f5d08e97a246',
    reason: 'too many failed attempts',
  },
  {
    hook: 'delivery_exhausted',
    accountId: '91eb05e5c68d7ca05e7618b6821d2d16',
    timestampMs: 1_894_708_808_000,
    webhookId: '5e1b3f0c7a924d68b3c1f5d08e97a246',
    reason: 'status 500',
    deliveryId: '0f8e6c2a4b7d49d1a35c9e71b6d2f084',
    deliveryHook: 'channel_destroy',
    callId: 'a-4f0c2b7e9d1a45c8',
    attempts: 3,
    suppressed: 12,
  },
  {
    hook: 'webhook_backlog_full',
    accountId: '91eb05e5c68d7ca05e7618b6821d2d16',
    timestampMs: 1_894_712_400_000,
    webhookId: '5e1b3f0c7a924d68b3c1f5d08e97a246',
    expired: 412,
    share: 'webhook',
    maxPending: 50_000,
  },
] as const

/** A kind of meta event. */
type MetaHook = (typeof META_SAMPLES)[number]['hook']

/** An event about a webhook. */
export interface MetaEvent {
  readonly hook: MetaHook
  /** Account of the webhook that the event is about. */
  readonly accountId: string
  /** When it happened: wall clock, Unix ms. */
  readonly timestampMs: number
  /** Id of the webhook that the event is about; it never gets the event itself. */
  readonly webhookId: string
  /** Why the last attempt failed, or why the webhook was disabled. */
  readonly reason?: string
  /** What was observed at the last attempt, in one line. */
  readonly detail?: string
  /** `webhook_paused`, `webhook_failing`: failures since the last success. */
  readonly failuresInRow?: number
  /** `webhook_failing`: time of the first failure since the last success, Unix ms. */
  readonly failingSinceMs?: number
  /** `webhook_paused`: when the first probe is sent, Unix ms. */
  readonly pausedUntilMs?: number
  /** `delivery_exhausted`: id of the delivery. */
  readonly deliveryId?: string
  /** `delivery_exhausted`: kind of its event. */
  readonly deliveryHook?: string
  /** `delivery_exhausted`: id of the call leg of its event. */
  readonly callId?: string
  /** `delivery_exhausted`: number of its attempts. */
  readonly attempts?: number
  /** `webhook_backlog_full`: deliveries that have expired unsent since the last event of this kind about the webhook. */
  readonly expired?: number
  /** `webhook_backlog_full`: whose share of the queue is used up. */
  readonly share?: 'webhook' | 'account' | 'all'
  /** `webhook_backlog_full`: deliveries that may wait in this share. */
  readonly maxPending?: number
  /** Events of this kind and account that were left out since the last one, because there were too many. */
  readonly suppressed?: number
}

/** Names and descriptions, for the catalogue. */
export const META_HOOKS: readonly {
  readonly id: MetaHook
  readonly name: string
  readonly description: string
}[] = [
  {
    id: 'webhook_paused',
    name: 'Webhook Paused',
    description: 'Another webhook keeps failing: its deliveries wait until its receiver takes them again.',
  },
  {
    id: 'webhook_failing',
    name: 'Webhook Failing',
    description: 'Another webhook has been failing for a day.',
  },
  {
    id: 'webhook_disabled',
    name: 'Webhook Disabled',
    description: 'The service has disabled another webhook.',
  },
  {
    id: 'delivery_exhausted',
    name: 'Delivery Exhausted',
    description: 'A delivery to another webhook was given up.',
  },
  {
    id: 'webhook_backlog_full',
    name: 'Webhook Backlog Full',
    description: 'Too many deliveries wait for another webhook: the oldest have expired unsent.',
  },
]

/** Whether a kind is one of meta events. */
export function isMetaHook(hook: string): hook is MetaHook {
  return META_HOOKS.some(({ id }) => id === hook)
}
