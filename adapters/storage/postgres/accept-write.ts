import { fillIn } from 'hookswitch/store'
import type { Counted } from './accept-count.js'
import { isPlanned, type Plan, type PlannedDelivery, type PlannedEvent } from './accept-decide.js'

/** Values of the statement `count`. */
export function countValues({ calls, lanes }: Counted): readonly unknown[] {
  return [
    calls.map(({ accountId }) => accountId),
    calls.map(({ callId }) => callId),
    calls.map(({ numbered }) => numbered),
    calls.map(({ lastMs }) => lastMs),
    lanes.map(({ key }) => key),
    lanes.map(({ lane }) => lane),
    lanes.map(({ deliveries }) => deliveries.length),
  ]
}

/**
 * Values of the statement `write`.
 *
 * @param nudged webhooks whose owners may be other nodes
 */
export function writeValues(
  plan: Plan,
  heads: ReadonlySet<PlannedDelivery>,
  { legs }: Counted,
  slot: number,
  nudged: readonly { readonly key: number; readonly shard: number }[],
): readonly unknown[] {
  const stored = new Map<PlannedEvent, number>()
  for (const event of plan.events) if (event.deliveries > 0) stored.set(event, stored.size + 1)
  return [
    stored.size,
    ...bodyColumns(stored),
    ...deliveryColumns(plan.deliveries, heads, stored),
    slot,
    plan.deliveries.length,
    legs.map(([accountId]) => accountId),
    legs.map(([, callId]) => callId),
    legs.map(([, , other]) => other),
    nudged.map(({ key }) => key),
    nudged.map(({ shard }) => shard),
  ]
}

function bodyColumns(stored: ReadonlyMap<PlannedEvent, number>): readonly unknown[][] {
  const columns: unknown[][] = Array.from({ length: 9 }, () => [])
  const [places, variants, timestamps, ids, accounts, calls, hooks, traces, bodies] = columns as [
    unknown[],
    unknown[],
    unknown[],
    unknown[],
    unknown[],
    unknown[],
    unknown[],
    unknown[],
    unknown[],
  ]
  for (const [{ event, sequence }, place] of stored) {
    for (const [variant, body] of event.bodies.entries()) {
      places.push(place)
      variants.push(variant)
      timestamps.push(event.timestampMs)
      ids.push(event.id)
      accounts.push(event.accountId)
      calls.push(event.callId ?? null)
      hooks.push(event.hook)
      traces.push(event.traceparent ?? null)
      bodies.push(fillIn(body, sequence))
    }
  }
  return columns
}

function deliveryColumns(
  planned: readonly PlannedDelivery[],
  heads: ReadonlySet<PlannedDelivery>,
  stored: ReadonlyMap<PlannedEvent, number>,
): readonly unknown[][] {
  return [
    planned.map(({ of }) => (isPlanned(of) ? stored.get(of) : null)),
    planned.map(({ of }) => (isPlanned(of) ? null : of.position)),
    planned.map(({ now }) => now),
    planned.map((one) => heads.has(one)),
    planned.map(({ webhook }) => webhook.key),
    planned.map(({ webhook }) => webhook.shard),
    planned.map(({ delivery }) => delivery.variant),
    planned.map(({ delivery }) => delivery.epoch),
    planned.map(({ delivery }) => delivery.id),
    planned.map(({ delivery }) => delivery.lane),
    planned.map(({ delivery }) => delivery.encoding),
    planned.map(({ delivery }) => delivery.httpVerb),
    planned.map(({ delivery }) => delivery.replayOf ?? null),
  ]
}
