import { HookswitchError } from 'hookswitch/store'
import type { Call, Outcome } from './call.js'
import type { WakeUp } from './wake-ups.js'

/**
 * What goes between the store's thread and the host's. Structured clones, which keep `undefined`, `Infinity` and maps:
 * a claim of 100 with its bodies measured 0.2 ms there and back, as JSON in one text 0.5 ms; settlements cost the same
 * either way.
 */

/** Calls of one message, and about as many of one transaction: more only make the first of them wait. */
export const MOST_CALLS = 200

/** A call under a number of the host's side. */
export interface NumberedCall extends Call {
  readonly id: number
}

/** To the thread. */
export type Order =
  | { readonly kind: 'calls'; readonly calls: readonly NumberedCall[] }
  | { readonly kind: 'secret'; readonly id: number }
  | { readonly kind: 'close' }

/** From the thread. */
export type Answer =
  | { readonly kind: 'opened' }
  /** It could not be opened; the thread ends. */
  | { readonly kind: 'refused'; readonly failure: FailureLetter }
  | {
      readonly kind: 'ended'
      readonly outcomes: readonly OutcomeLetter[]
      readonly wakeUps: readonly WakeUp[]
      readonly webhookChanges: number
    }
  | { readonly kind: 'warning'; readonly sentence: string }

/** How the call of this number ended. */
export type OutcomeLetter =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: FailureLetter }

/** A HookswitchError as plain data: a clone of an error loses its fields. */
export interface FailureLetter {
  readonly code: HookswitchError['code']
  readonly message: string
  readonly details: Pick<HookswitchError, 'field' | 'failures' | 'id' | 'retryAfterSeconds'>
  readonly cause: { readonly message: string; readonly errcode?: number } | undefined
}

export function outcomeLetter(id: number, outcome: Outcome): OutcomeLetter {
  return 'failure' in outcome ? { id, failure: failureLetter(outcome.failure) } : { id, value: outcome.value }
}

export function failureLetter(error: HookswitchError): FailureLetter {
  const { code, message, cause, field, failures, id, retryAfterSeconds } = error
  const details = Object.fromEntries(
    Object.entries({ field, failures, id, retryAfterSeconds }).filter(([, value]) => value !== undefined),
  )
  return { code, message, details, cause: causeLetter(cause) }
}

export function failureOf({ code, message, details, cause }: FailureLetter): HookswitchError {
  const { message: reason, ...rest } = cause ?? { message: '' }
  return new HookswitchError(code, message, {
    ...details,
    ...(cause ? { cause: Object.assign(new Error(reason), rest) } : {}),
  })
}

function causeLetter(cause: unknown): FailureLetter['cause'] {
  if (cause === undefined) return undefined
  const { errcode } = Object(cause) as { errcode?: unknown }
  const message = cause instanceof Error ? cause.message : String(cause)
  return typeof errcode === 'number' ? { message, errcode } : { message }
}
