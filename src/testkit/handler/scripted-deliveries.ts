import { HookswitchError } from '../../errors.js'
import { catalogueOf } from '../../webhooks/catalogue.js'
import { secretText } from '../../webhooks/signing-secret.js'
import { seededRandom } from '../random.js'
import { deliverAll, type HandlerExchange } from './deliver.js'
import { FLAWS, type Flaw, flawedRequest, goodRequest } from './flaws.js'
import {
  checkDeliver,
  checkScript,
  type DeliverOptions,
  type ScriptedDeliveriesOptions,
} from './handler-options.js'
import { type HandlerProblem, judgeAnswers, judgeStored } from './judge.js'
import { planDeliveries, possibleFlaws } from './plan.js'
import type { PreparedDelivery, ScriptedDelivery } from './prepared-delivery.js'
import { type FetchTarget, openTarget, type WebhookHandler } from './target.js'
import type { WebhookRequest } from './webhook-request.js'
import { openWebhook } from './webhook-under-test.js'

/** What a handler did with scripted deliveries. */
export interface HandlerReport {
  /** Print it when a test fails. */
  readonly seed: string
  /** Empty: everything was answered, and processed, as it should be. */
  readonly problems: readonly HandlerProblem[]
  /** Every request with its answer, in the order in which they were sent. */
  readonly exchanges: readonly HandlerExchange[]
}

/** A course of deliveries to one webhook, with the requests that make it. */
export interface ScriptedDeliveries {
  readonly seed: string
  /** The webhook's signing secrets, `whsec_…`: what the handler verifies with. */
  readonly secrets: readonly string[]
  /** In order of acceptance. */
  readonly deliveries: readonly ScriptedDelivery[]
  /**
   * One request as hookswitch would send it now, or with something wrong.
   *
   * @param options.delivery one of `deliveries`, default the first
   * @param options.attempt 1, 2, …; default 1
   */
  request(options?: {
    readonly delivery?: ScriptedDelivery
    readonly attempt?: number
    readonly flaw?: Flaw
  }): WebhookRequest
  /**
   * Plays all deliveries against a handler and judges what came of it. Calls overtake each other in an order that
   * the seed decides; the deliveries of a call never do. What is refused comes again, at once, as often as the
   * webhook's `retries` allow.
   *
   * @throws `InvalidOption`; `InvalidInput` where the handler answers something that is no status
   */
  deliverTo(target: WebhookHandler | FetchTarget, options?: DeliverOptions): Promise<HandlerReport>
}

/**
 * Requests as hookswitch sends them, for a receiver under test: of whole calls, with duplicates, attempts that
 * overlap, and requests that are not to be trusted.
 *
 * @throws `InvalidOption` naming the option
 * @example
 * const script = scriptedDeliveries({ seed: 7, calls: 20 })
 * const report = await script.deliverTo((request) => myHandler(request), { stored: () => myIds })
 * assert.deepEqual(report.problems, [])
 */
export function scriptedDeliveries(options: ScriptedDeliveriesOptions = {}): ScriptedDeliveries {
  checkScript(options)
  const { toleranceSeconds = 300, clock = { now: () => Date.now() } } = options
  const random = seededRandom(options.seed ?? 1)
  const given = options.secret ?? secretText(random.stream('secret').bytes(32))
  const secrets = typeof given === 'string' ? [given] : given
  const catalogue = catalogueOf(options.hooks)
  const setting = { ...openWebhook(options.webhook ?? {}, secrets, catalogue), toleranceSeconds }
  const { webhook } = setting
  const planned = planDeliveries(options, { webhook, catalogue, random, nowMs: clock.now() })
  const prepared = new Map(planned.map(({ delivery }) => [delivery.id, delivery]))
  const requestOf = (delivery: PreparedDelivery, attempt: number, flaw?: Flaw) =>
    flaw === undefined
      ? goodRequest(setting, delivery, attempt, clock.now())
      : flawedRequest(setting, delivery, attempt, clock.now(), flaw)

  return {
    seed: random.seed,
    secrets,
    deliveries: planned.map(({ delivery: { claim: _, ...shown } }) => shown),
    request({ delivery, attempt = 1, flaw } = {}) {
      const wanted = prepared.get((delivery ?? planned[0]!.delivery).id)
      if (!wanted) throw fault('delivery', 'must be one of these deliveries')
      if (!(Number.isSafeInteger(attempt) && attempt >= 1)) {
        throw fault('attempt', 'must be a whole number from 1 up')
      }
      if (flaw !== undefined && !FLAWS.includes(flaw))
        throw fault('flaw', `must be one of ${FLAWS.join(', ')}`)
      if (flaw !== undefined) possibleFlaws([flaw], webhook)
      return requestOf(wanted, attempt, flaw)
    },
    async deliverTo(target, deliverOptions = {}) {
      checkDeliver(deliverOptions)
      const { stored, concurrency = 1 } = deliverOptions
      const order = seededRandom(`${random.seed}/order`)
      const mostAttempts = 1 + webhook.settings.retries
      const doors = { ask: openTarget(target), request: requestOf }
      const exchanges = await deliverAll(planned, doors, { mostAttempts, concurrency, order })
      const answers = judgeAnswers(planned, exchanges)
      const processed = stored ? judgeStored(planned, exchanges, checkStored(await stored())) : []
      return { seed: random.seed, problems: [...answers, ...processed], exchanges }
    },
  }
}

function checkStored(stored: unknown): readonly string[] {
  if (Array.isArray(stored) && stored.every((id) => typeof id === 'string')) return stored
  throw new HookswitchError(
    'InvalidInput',
    'deliverTo: stored must answer with a list of ids, which are texts',
    {
      field: 'stored',
    },
  )
}

function fault(field: string, message: string): HookswitchError {
  return new HookswitchError('InvalidOption', `scriptedDeliveries: ${field} ${message}`, { field })
}
