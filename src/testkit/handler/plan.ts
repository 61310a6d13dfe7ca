/** Decides which deliveries are sent to a handler under test, and what happens to each. */

import type { Account } from '../../accounts/account.js'
import { type ChannelEvent, type CheckedEvent, checkEvent } from '../../delivery/event.js'
import { matches } from '../../delivery/match.js'
import { payloadOf } from '../../delivery/payload.js'
import { isBodiless } from '../../delivery/request.js'
import type { HookswitchError } from '../../errors.js'
import { createIdGenerator } from '../../values/ids.js'
import { type CatalogueEntry, isRegisteredHook } from '../../webhooks/catalogue.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { callGenerator, takeCalls } from '../calls.js'
import { badOption } from '../check-options.js'
import type { SeededRandom } from '../random.js'
import { DEFECTS, type Defect } from './defects.js'
import type { PlannedDelivery } from './deliver.js'
import type { ScriptedDeliveriesOptions } from './handler-options.js'
import { prepareDelivery } from './prepared-delivery.js'

/** What deliveries are planned for. */
interface PlanContext {
  readonly webhook: Webhook
  readonly catalogue: readonly CatalogueEntry[]
  readonly random: SeededRandom
  readonly nowMs: number
}

/**
 * Plans one delivery for each event that matches the webhook.
 *
 * @throws `InvalidOption`, also for an event that could not be published
 */
export function planDeliveries(
  options: ScriptedDeliveriesOptions,
  context: PlanContext,
): readonly PlannedDelivery[] {
  const { webhook, random } = context
  const { duplicates = 0.2, overlaps = 0, defective = 0.2 } = options
  const defects = possibleDefects(options.defects, webhook)
  const faults = random.stream('faults')
  const newId = createIdGenerator((count) => random.stream('ids').bytes(count))
  const planned = withSequences(eventsFrom(options, context))
    .filter(({ event }) => {
      const lineage = [event.accountId, webhook.accountId].map(accountFor)
      return matches(webhook, event, lineage, payloadOf(event, ''))
    })
    .map(({ event, sequence }) => {
      const prepare = () => prepareDelivery({ id: newId(), eventId: newId() }, event, sequence, webhook)
      const delivery = prepare()
      const plan = {
        delivery,
        isDuplicated: faults.chance(duplicates),
        isOverlapped: faults.chance(overlaps),
      }
      return faults.chance(defective)
        ? { ...plan, defective: { delivery: prepare(), defect: faults.pick(defects) } }
        : plan
    })
  if (planned.length === 0)
    throw badOption('scriptedDeliveries', 'events', 'has no event that matches the webhook')
  return planned
}

/**
 * The defects that are possible in requests of this webhook.
 *
 * @throws `InvalidOption` if `requested` has an impossible one, or is empty
 */
export function possibleDefects(
  requested: readonly Defect[] | undefined,
  webhook: Webhook,
): readonly Defect[] {
  const isUnsigned = isBodiless(webhook.settings.httpVerb)
  if (isUnsigned && requested?.includes('altered body')) {
    throw badOption(
      'scriptedDeliveries',
      'defects',
      "has 'altered body', but the query of GET and DELETE is not signed",
    )
  }
  const defects = requested ?? DEFECTS.filter((defect) => !(isUnsigned && defect === 'altered body'))
  if (defects.length === 0) throw badOption('scriptedDeliveries', 'defects', 'must not be empty')
  return defects
}

function eventsFrom(
  { events, calls = 10 }: ScriptedDeliveriesOptions,
  { webhook, catalogue, random, nowMs }: PlanContext,
): readonly CheckedEvent[] {
  const inputs: readonly unknown[] =
    events ?? takeCalls(callGenerator({ random, accounts: [webhook.accountId] }), calls).events
  return inputs.map((input, index) => {
    const isTimed = typeof input === 'object' && input !== null && 'event' in input
    const event = isTimed ? (input as { event: ChannelEvent }).event : input
    try {
      return checkEvent(event, nowMs, (hook) => isRegisteredHook(catalogue, hook))
    } catch (thrown) {
      const { message, field } = thrown as HookswitchError
      throw badOption(
        'scriptedDeliveries',
        `events[${index}]${field === undefined ? '' : `.${field}`}`,
        `is invalid: ${message}`,
      )
    }
  })
}

/** Adds each event's sequence number in its call. Events that do not match the webhook count too. */
function withSequences(events: readonly CheckedEvent[]) {
  const last = new Map<string, number>()
  return events.map((event) => {
    const call = `${event.accountId}/${event.callId}`
    const sequence = (last.get(call) ?? 0) + 1
    last.set(call, sequence)
    return { event, sequence }
  })
}

/** An account for `matches`. Any other account counts as a descendant of the webhook's account. */
function accountFor(id: string): Account {
  return {
    id,
    name: id,
    realm: id,
    enabled: true,
    language: 'en-us',
    isReseller: false,
    createdMs: 0,
    modifiedMs: 0,
  }
}
