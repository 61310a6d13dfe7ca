/** What an erasure covers, and in which order its steps run. */
import type { Erasure } from '../../delivery/erasure-store.js'

/**
 * The steps of an erasure, in order. `version`: each owner's version is raised and a change lists what goes, in the
 * transaction of the rows, so that no group of an older version brings erased data back. Deliveries go before attempts, so
 * that none is sent whose record cannot be written; webhooks last, because rows refer to them.
 */
export const ERASURE_STEPS = [
  'version',
  'deliveries',
  'attempts',
  'calls',
  'idempotencyKeys',
  'inbox',
  'deletedWebhooks',
] as const

/** One step of an erasure. */
export type ErasureStep = (typeof ERASURE_STEPS)[number]

/** The calls of an erasure, for many look-ups. */
export interface ErasedCalls {
  /** The account of the erasure. */
  readonly accountId: string
  /** Absent: all calls. */
  readonly callIds?: ReadonlySet<string>
}

/** The calls that an erasure covers. */
export function erasedCallsOf({ accountId, callIds }: Erasure): ErasedCalls {
  return callIds ? { accountId, callIds: new Set(callIds) } : { accountId }
}

/** Whether an erasure covers this call, or with `undefined` what belongs to no call. */
export function isCovered({ callIds }: ErasedCalls, callId: string | undefined): boolean {
  return !callIds || (callId !== undefined && callIds.has(callId))
}

/** Whether an erasure covers a delivery: to a webhook of its account, or of an event of its account. */
export function isDeliveryCovered(
  erasure: ErasedCalls,
  delivery: {
    readonly accountId: string
    readonly eventAccountId: string
    readonly callId?: string | undefined
  },
): boolean {
  const { accountId, eventAccountId, callId } = delivery
  if (accountId !== erasure.accountId && eventAccountId !== erasure.accountId) return false
  return isCovered(erasure, callId)
}

/** Whether a step of an erasure has anything to do: an erasure of calls leaves webhooks. */
export function hasStep({ callIds }: Erasure, step: ErasureStep): boolean {
  return step !== 'deletedWebhooks' || !callIds
}
