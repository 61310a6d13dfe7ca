/** Tests a webhook handler with the requests of whole calls: duplicates, overlapping attempts and invalid requests. */

import { HookswitchError } from '../../errors.js'
import { catalogueOf } from '../../webhooks/catalogue.js'
import { formatSigningSecret } from '../../webhooks/signing-secret.js'
import { badOption } from '../check-options.js'
import { seededRandom } from '../random.js'
import { checkProcessed, checkResponses, type HandlerProblem } from './check.js'
import { buildDefectiveRequest, buildValidRequest, DEFECTS, type Defect } from './defects.js'
import { deliverAll, type HandlerExchange } from './deliver.js'
import {
  checkDeliverOptions,
  checkScriptOptions,
  type DeliverOptions,
  type ScriptedDeliveriesOptions,
} from './handler-options.js'
import { planDeliveries, possibleDefects } from './plan.js'
import type { PreparedDelivery, ScriptedDelivery } from './prepared-delivery.js'
import { createSender, type FetchTarget, type WebhookHandler } from './target.js'
import type { WebhookRequest } from './webhook-request.js'
import { createWebhookUnderTest } from './webhook-under-test.js'

/** What a handler did with scripted deliveries. */
export interface HandlerReport {
  /** The seed of the requests: print it when a test fails. */
  readonly seed: string
  /** Errors of the handler; empty if it answered and processed everything correctly. */
  readonly problems: readonly HandlerProblem[]
  /** Every request with its response, in the order in which they were sent. */
  readonly exchanges: readonly HandlerExchange[]
}

/** Deliveries to one webhook and their requests. */
export interface ScriptedDeliveries {
  /** The seed of the requests. */
  readonly seed: string
  /** The webhook's signing secrets `whsec_…`, with which the handler verifies requests. */
  readonly secrets: readonly string[]
  /** Deliveries in order of acceptance. */
  readonly deliveries: readonly ScriptedDelivery[]
  /**
   * Builds one request as hookswitch would send it now, or an invalid one.
   *
   * @param options.delivery one of `deliveries`. Default is the first.
   * @param options.attempt attempt number, 1, 2, … Default is 1.
   * @param options.defect makes the request invalid. Default is a valid request.
   * @throws `InvalidOption` naming the option
   */
  request(options?: {
    readonly delivery?: ScriptedDelivery | undefined
    readonly attempt?: number | undefined
    readonly defect?: Defect | undefined
  }): WebhookRequest
  /**
   * Sends all deliveries to a handler, and checks its responses and what it processed. The seed decides in which
   * order calls overtake each other; deliveries of one call stay in order. A refused request is sent again at once,
   * as often as the webhook's `retries` allow.
   *
   * @throws `InvalidOption` for options or target; `InvalidInput` if the handler returns no status, or `stored` no ids
   */
  deliverTo(target: WebhookHandler | FetchTarget, options?: DeliverOptions): Promise<HandlerReport>
}

/**
 * Makes the requests that hookswitch sends for whole calls, to test the host's handler: with duplicates, overlapping
 * attempts and invalid requests.
 *
 * @throws `InvalidOption` naming the option
 * @example
 * const script = scriptedDeliveries({ seed: 7, calls: 20 })
 * const report = await script.deliverTo((request) => myHandler(request), { stored: () => myIds })
 * assert.deepEqual(report.problems, [])
 */
export function scriptedDeliveries(options: ScriptedDeliveriesOptions = {}): ScriptedDeliveries {
  checkScriptOptions(options)
  const { toleranceSeconds = 300, clock = { now: () => Date.now() } } = options
  const random = seededRandom(options.seed ?? 1)
  const secret = options.secret ?? formatSigningSecret(random.stream('secret').bytes(32))
  const secrets = typeof secret === 'string' ? [secret] : secret
  const catalogue = catalogueOf(options.hooks)
  const context = {
    ...createWebhookUnderTest(options.webhook ?? {}, secrets, catalogue),
    toleranceSeconds,
  }
  const { webhook } = context
  const planned = planDeliveries(options, { webhook, catalogue, random, nowMs: clock.now() })
  const prepared = new Map(planned.map(({ delivery }) => [delivery.id, delivery]))
  const buildRequest = (delivery: PreparedDelivery, attempt: number, defect?: Defect) =>
    defect === undefined
      ? buildValidRequest(context, delivery, attempt, clock.now())
      : buildDefectiveRequest(context, delivery, attempt, clock.now(), defect)

  return {
    seed: random.seed,
    secrets,
    deliveries: planned.map(({ delivery: { delivery: _, ...visible } }) => visible),
    request({ delivery, attempt = 1, defect } = {}) {
      const chosen = prepared.get((delivery ?? planned[0]!.delivery).id)
      if (!chosen) throw badOption('scriptedDeliveries', 'delivery', 'must be one of these deliveries')
      if (!(Number.isSafeInteger(attempt) && attempt >= 1)) {
        throw badOption('scriptedDeliveries', 'attempt', 'must be a whole number of at least 1')
      }
      if (defect !== undefined && !DEFECTS.includes(defect))
        throw badOption('scriptedDeliveries', 'defect', `must be one of ${DEFECTS.join(', ')}`)
      if (defect !== undefined) possibleDefects([defect], webhook)
      return buildRequest(chosen, attempt, defect)
    },
    async deliverTo(target, deliverOptions = {}) {
      checkDeliverOptions(deliverOptions)
      const { stored, concurrency = 1 } = deliverOptions
      const order = seededRandom(`${random.seed}/order`)
      const maxAttempts = 1 + webhook.settings.retries
      const deps = { send: createSender(target), buildRequest }
      const exchanges = await deliverAll(planned, deps, { maxAttempts, concurrency, order })
      const problems = [
        ...checkResponses(planned, exchanges),
        ...(stored ? checkProcessed(planned, exchanges, checkIds(await stored())) : []),
      ]
      return { seed: random.seed, problems, exchanges }
    },
  }
}

function checkIds(stored: unknown): readonly string[] {
  if (Array.isArray(stored) && stored.every((id) => typeof id === 'string')) return stored
  throw new HookswitchError('InvalidInput', 'deliverTo: stored must return an array of ids (strings)', {
    field: 'stored',
  })
}
