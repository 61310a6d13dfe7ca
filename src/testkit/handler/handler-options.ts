/** Options of `scriptedDeliveries` and `deliverTo`, and their validation. */
import type { Clock, CustomHook, EventOf } from 'hookswitch'
import type { CheckedEvent } from '../../delivery/event.js'
import { invalidOption, objectWithMethods, type Validator, wholeNumber } from '../../options/validators.js'
import { aFunction, anArray, aSeed, badOption, checkOptions, fraction } from '../check-options.js'
import { DEFECTS, type Defect } from './defects.js'
import type { WebhookUnderTest } from './webhook-under-test.js'

/** Options of `scriptedDeliveries`. */
export interface ScriptedDeliveriesOptions {
  /** The same seed makes the same requests, except for their time. Default is 1. */
  readonly seed?: number | string | undefined
  /** Number of generated calls in the webhook's account, 1 to 100,000. Default is 10. Not allowed with `events`. */
  readonly calls?: number | undefined
  /** Used instead of generated calls, in this order: events, or the results of `recordedCalls` or `takeCalls`. */
  readonly events?:
    | readonly (EventOf<CustomHook> | { readonly event: EventOf<CustomHook> | CheckedEvent })[]
    | undefined
  /** Settings of the webhook: `uri`, `httpVerb`, `format`, `customData`, `retries`, … Default hook is `all`. */
  readonly webhook?: WebhookUnderTest | undefined
  /** Signing secret `whsec_…`, or several as during a rotation. Default is one derived from the seed. */
  readonly secret?: string | readonly string[] | undefined
  /** Share of deliveries that are sent again although they were accepted, 0 to 1. Default is 0.2. */
  readonly duplicates?: number | undefined
  /** Share of deliveries whose second attempt is sent while the first is being handled, 0 to 1. Default is 0. */
  readonly overlaps?: number | undefined
  /** Share of deliveries before which an invalid request is sent, 0 to 1. Default is 0.2. */
  readonly defective?: number | undefined
  /** Defects of those invalid requests. Default is every defect that is possible. */
  readonly defects?: readonly Defect[] | undefined
  /** How far a timestamp may be from the handler's time, seconds, 0 to 86,400. Default is 300. */
  readonly toleranceSeconds?: number | undefined
  /** Clock of the requests; the handler must use the same. Default is the system clock. */
  readonly clock?: Pick<Clock, 'now'> | undefined
  /** The host's own event kinds, as in the option `hooks` of `createHookswitch`. */
  readonly hooks?: readonly CustomHook[] | undefined
}

/** Options of `deliverTo`. */
export interface DeliverOptions {
  /**
   * Returns what the host has processed, in order: the `webhook-id` or the `event_id` of each event. Called once,
   * after the last response. If absent, only responses are checked.
   */
  readonly stored?: (() => readonly string[] | Promise<readonly string[]>) | undefined
  /**
   * Calls whose requests are in flight at once, 1 to 1,000. Above 1, their order also depends on the handler. Default
   * is 1.
   */
  readonly concurrency?: number | undefined
}

const VALIDATORS: Readonly<Record<keyof ScriptedDeliveriesOptions, Validator>> = {
  seed: aSeed,
  calls: wholeNumber(1, 100_000),
  events: anArray,
  webhook: (field, value) => {
    if (typeof value !== 'object' || value === null) throw invalidOption(field, 'must be an object')
  },
  secret: (field, value) => {
    if (typeof value !== 'string' && !(Array.isArray(value) && value.length > 0)) {
      throw invalidOption(field, 'must be a string or a non-empty array of strings')
    }
  },
  duplicates: fraction,
  overlaps: fraction,
  defective: fraction,
  defects: (field, value) => {
    anArray(field, value)
    const unknown = (value as readonly unknown[]).find((defect) => !DEFECTS.includes(defect as Defect))
    if (unknown !== undefined)
      throw invalidOption(field, `has the unknown defect '${String(unknown)}' (known: ${DEFECTS.join(', ')})`)
  },
  toleranceSeconds: wholeNumber(0, 86_400),
  clock: objectWithMethods('now'),
  hooks: anArray,
}

/** @throws `InvalidOption` naming the option */
export function checkScriptOptions(options: ScriptedDeliveriesOptions): void {
  checkOptions('scriptedDeliveries', options, VALIDATORS)
  if (options.events === undefined || options.calls === undefined) return
  throw badOption('scriptedDeliveries', 'calls', 'must be absent if events is present')
}

const DELIVER_VALIDATORS: Readonly<Record<keyof DeliverOptions, Validator>> = {
  stored: aFunction,
  concurrency: wholeNumber(1, 1_000),
}

/** @throws `InvalidOption` naming the option */
export function checkDeliverOptions(options: DeliverOptions): void {
  checkOptions('deliverTo', options, DELIVER_VALIDATORS)
}
