/** Records of the API with the fields that a service may leave out. */
import type { Attempt, Call, CallEvent, Delivery } from 'hookswitch/client'
import type { Parties } from './parties.js'

/** Whose call an event was about: absent where the event is no longer kept, or is not about a call. */
interface OfCall {
  readonly call?: Parties
  readonly caller_name?: string
}

export type AttemptRecord = Attempt & OfCall
export type DeliveryRecord = Delivery & OfCall

type CallDelivery = CallEvent['deliveries'][number] & {
  readonly hook_name?: string
  readonly next_attempt_at?: string
  readonly last_status?: string
}
export type CallEventRecord = Omit<CallEvent, 'deliveries'> & { readonly deliveries: readonly CallDelivery[] }
export type CallRecord = Omit<Call, 'events'> & {
  readonly events: readonly CallEventRecord[]
  /** How much of the call is kept: `none` also where there never was anything. */
  readonly records?: 'none' | 'part' | 'all'
}
