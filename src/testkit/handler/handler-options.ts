import type { ChannelEvent } from '../../delivery/event.js'
import { HookswitchError } from '../../errors.js'
import { type Check, door, invalid, whole } from '../../option-checks.js'
import type { Clock } from '../../ports.js'
import type { CustomHook } from '../../webhooks/catalogue.js'
import { FLAWS, type Flaw } from './flaws.js'
import { callable, checkGiven, seed, share } from './given-options.js'
import type { WebhookUnderTest } from './webhook-under-test.js'

/** Options of `scriptedDeliveries`. */
export interface ScriptedDeliveriesOptions {
  /** Same seed, same requests but for their time. Default 1. */
  readonly seed?: number | string
  /** So many generated calls in the webhook's account; default 10. */
  readonly calls?: number
  /** These events instead, in this order: also those of a recording or of `takeCalls`. */
  readonly events?: readonly (ChannelEvent | { readonly event: ChannelEvent })[]
  /** The webhook as its owner set it up: `uri`, `httpVerb`, `format`, `customData`, `retries`, … */
  readonly webhook?: WebhookUnderTest
  /** `whsec_…`, or several as while one is rotated; default one made from the seed. */
  readonly secret?: string | readonly string[]
  /** Part of the deliveries that come once more though they were taken; default 0.2. */
  readonly duplicates?: number
  /** Part of the deliveries whose second attempt comes while the first is still being handled; default 0. */
  readonly overlaps?: number
  /** Part of the deliveries before which a request comes that is not to be trusted; default 0.2. */
  readonly flawed?: number
  /** What is wrong with those; default everything that can be. */
  readonly flaws?: readonly Flaw[]
  /** How far from now the receiver accepts a timestamp, seconds; default 300. */
  readonly toleranceSeconds?: number
  /** The time of requests: the receiver must know the same; default the machine's. */
  readonly clock?: Pick<Clock, 'now'>
  /** Kinds of event of the host's own, as `createHookswitch` takes them. */
  readonly hooks?: readonly CustomHook[]
}

/** Options of `deliverTo`. */
export interface DeliverOptions {
  /**
   * What the host has processed, in that order: the `webhook-id` or the `event_id` of each event. Asked once, after
   * the last answer. Without it only the answers are judged.
   */
  readonly stored?: () => readonly string[] | Promise<readonly string[]>
  /** Calls whose requests are under way at once; default 1. With more, their order is the handler's doing too. */
  readonly concurrency?: number
}

const list: Check = (field, value) => {
  if (!Array.isArray(value)) throw invalid(field, 'must be a list')
}
const object: Check = (field, value) => {
  if (typeof value !== 'object' || value === null) throw invalid(field, 'must be an object')
}
const CHECKS: Readonly<Record<keyof ScriptedDeliveriesOptions, Check>> = {
  seed,
  calls: whole(1, 100_000),
  events: list,
  webhook: object,
  secret: (field, value) => {
    if (typeof value !== 'string' && !(Array.isArray(value) && value.length > 0)) {
      throw invalid(field, 'must be a text or a list of texts')
    }
  },
  duplicates: share,
  overlaps: share,
  flawed: share,
  flaws: (field, value) => {
    list(field, value)
    const strange = (value as readonly unknown[]).find((flaw) => !FLAWS.includes(flaw as Flaw))
    if (strange !== undefined)
      throw invalid(field, `knows no '${String(strange)}' (known: ${FLAWS.join(', ')})`)
  },
  toleranceSeconds: whole(0, 86_400),
  clock: door('now'),
  hooks: list,
}

/** @throws `InvalidOption` naming the option */
export function checkScript(options: ScriptedDeliveriesOptions): void {
  checkGiven('scriptedDeliveries', options, CHECKS)
  if (options.events === undefined || options.calls === undefined) return
  throw new HookswitchError('InvalidOption', 'scriptedDeliveries: calls is not for given events', {
    field: 'calls',
  })
}

const DELIVER_CHECKS: Readonly<Record<keyof DeliverOptions, Check>> = {
  stored: callable,
  concurrency: whole(1, 1_000),
}

/** @throws `InvalidOption` naming the option */
export function checkDeliver(options: DeliverOptions): void {
  checkGiven('deliverTo', options, DELIVER_CHECKS)
}
