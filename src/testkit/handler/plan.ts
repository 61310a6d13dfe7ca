import type { Account } from '../../accounts/account.js'
import { type ChannelEvent, type CheckedEvent, checkEvent } from '../../delivery/event.js'
import { matches } from '../../delivery/match.js'
import { isBodiless } from '../../delivery/request.js'
import { HookswitchError } from '../../errors.js'
import { idMaker } from '../../values/ids.js'
import { type CatalogueEntry, isKnownHook } from '../../webhooks/catalogue.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { callGenerator, takeCalls } from '../calls.js'
import type { SeededRandom } from '../random.js'
import type { PlannedDelivery } from './deliver.js'
import { FLAWS, type Flaw } from './flaws.js'
import type { ScriptedDeliveriesOptions } from './handler-options.js'
import { prepareDelivery } from './prepared-delivery.js'

/**
 * One delivery for each event that the webhook wants, and what happens to it.
 *
 * @throws `InvalidOption`, `InvalidInput` for an event that could not be published
 */
export function planDeliveries(
  options: ScriptedDeliveriesOptions,
  setting: {
    readonly webhook: Webhook
    readonly catalogue: readonly CatalogueEntry[]
    readonly random: SeededRandom
    readonly nowMs: number
  },
): readonly PlannedDelivery[] {
  const { webhook, random } = setting
  const { duplicates = 0.2, overlaps = 0, flawed = 0.2 } = options
  const flaws = possibleFlaws(options.flaws, webhook)
  const faults = random.stream('faults')
  const newId = idMaker((count) => random.stream('ids').bytes(count))
  const planned = numbered(eventsOf(options, setting))
    .filter(({ event }) => matches(webhook, event, [event.accountId, webhook.accountId].map(account)))
    .map(({ event, sequence }) => {
      const made = () => prepareDelivery({ id: newId(), eventId: newId() }, event, sequence, webhook)
      const delivery = made()
      const plan = { delivery, duplicated: faults.chance(duplicates), overlapped: faults.chance(overlaps) }
      return faults.chance(flawed)
        ? { ...plan, flawed: { delivery: made(), flaw: faults.pick(flaws) } }
        : plan
    })
  if (planned.length === 0) throw fault('events', 'has none that this webhook wants')
  return planned
}

/**
 * Those that can be in a request of this webhook.
 *
 * @throws `InvalidOption` for one that cannot
 */
export function possibleFlaws(wanted: readonly Flaw[] | undefined, webhook: Webhook): readonly Flaw[] {
  const unsigned = isBodiless(webhook.settings.httpVerb)
  if (unsigned && wanted?.includes('altered body')) {
    throw fault('flaws', "has 'altered body', but the query of GET and DELETE is not signed")
  }
  const flaws = wanted ?? FLAWS.filter((flaw) => !(unsigned && flaw === 'altered body'))
  if (flaws.length === 0) throw fault('flaws', 'must not be empty')
  return flaws
}

function eventsOf(
  { events, calls = 10 }: ScriptedDeliveriesOptions,
  { webhook, catalogue, random, nowMs }: Parameters<typeof planDeliveries>[1],
): readonly CheckedEvent[] {
  const given: readonly unknown[] =
    events ?? takeCalls(callGenerator({ random, accounts: [webhook.accountId] }), calls).events
  return given.map((one, index) => {
    const isTimed = typeof one === 'object' && one !== null && 'event' in one
    const event = isTimed ? (one as { event: ChannelEvent }).event : one
    try {
      return checkEvent(event, nowMs, (hook) => isKnownHook(catalogue, hook))
    } catch (thrown) {
      const { message, field } = thrown as HookswitchError
      throw fault(`events[${index}]${field === undefined ? '' : `.${field}`}`, `does not fit: ${message}`)
    }
  })
}

/** Each with its number in its call: those that the webhook does not want count as well. */
function numbered(events: readonly CheckedEvent[]) {
  const last = new Map<string, number>()
  return events.map((event) => {
    const call = `${event.accountId}/${event.callId}`
    const sequence = (last.get(call) ?? 0) + 1
    last.set(call, sequence)
    return { event, sequence }
  })
}

/** As far as matching asks: an event of another account is of one below the webhook's. */
function account(id: string): Account {
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

function fault(field: string, message: string): HookswitchError {
  return new HookswitchError('InvalidOption', `scriptedDeliveries: ${field} ${message}`, { field })
}
