/** Values of the statements that count and write a group of `accept` calls: one array per column. */
import { fillIn } from 'hookswitch/store'
import type { Counters } from './accept-counters.js'
import { isPlanned, type Plan, type PlannedDelivery, type PlannedEvent } from './accept-plan.js'
import { boolArray, float8Array, int2Array, int4Array, int8Array, textArray } from './binary-arrays.js'

/** Values of the statement `count`. */
export function countValues({ calls, lanes }: Counters): readonly unknown[] {
  return [
    textArray(calls.map(({ accountId }) => accountId)),
    textArray(calls.map(({ callId }) => callId)),
    int4Array(calls.map(({ numbered }) => numbered)),
    float8Array(calls.map(({ lastMs }) => lastMs)),
    int4Array(lanes.map(({ key }) => key)),
    textArray(lanes.map(({ lane }) => lane)),
    int4Array(lanes.map(({ deliveries }) => deliveries.length)),
  ]
}

/**
 * Values of the statement `write`.
 *
 * @param toNotify webhooks that another node may own: the statement writes a `nudge` row for each
 */
export function writeValues(
  plan: Plan,
  heads: ReadonlySet<PlannedDelivery>,
  { legs }: Counters,
  slot: number,
  toNotify: readonly { readonly key: number; readonly shard: number }[],
): readonly unknown[] {
  /** Events to store, with their place among them, from 1. */
  const stored = new Map<PlannedEvent, number>()
  for (const event of plan.events) if (event.deliveryCount > 0) stored.set(event, stored.size + 1)
  return [
    stored.size,
    ...bodyColumns(stored),
    ...deliveryColumns(plan.deliveries, heads, stored),
    slot,
    plan.deliveries.length,
    textArray(legs.map(([accountId]) => accountId)),
    textArray(legs.map(([, callId]) => callId)),
    textArray(legs.map(([, , other]) => other)),
    int4Array(toNotify.map(({ key }) => key)),
    int2Array(toNotify.map(({ shard }) => shard)),
  ]
}

interface Body {
  readonly source: PlannedEvent
  readonly place: number
  readonly variant: number
  readonly text: string
}

function bodyColumns(stored: ReadonlyMap<PlannedEvent, number>): readonly Buffer[] {
  const bodies: Body[] = []
  for (const [source, place] of stored) {
    for (const [variant, body] of source.event.bodies.entries()) {
      bodies.push({ source, place, variant, text: fillIn(body, source.sequence) })
    }
  }
  return [
    int4Array(bodies.map(({ place }) => place)),
    int4Array(bodies.map(({ variant }) => variant)),
    float8Array(bodies.map(({ source }) => source.event.timestampMs)),
    textArray(bodies.map(({ source }) => source.event.id)),
    textArray(bodies.map(({ source }) => source.event.accountId)),
    textArray(bodies.map(({ source }) => source.event.callId ?? null)),
    textArray(bodies.map(({ source }) => source.event.hook)),
    textArray(bodies.map(({ source }) => source.event.traceparent ?? null)),
    textArray(bodies.map(({ text }) => text)),
  ]
}

function deliveryColumns(
  planned: readonly PlannedDelivery[],
  heads: ReadonlySet<PlannedDelivery>,
  stored: ReadonlyMap<PlannedEvent, number>,
): readonly Buffer[] {
  return [
    int4Array(planned.map(({ source }) => (isPlanned(source) ? stored.get(source)! : null))),
    int8Array(planned.map(({ source }) => (isPlanned(source) ? null : source.position))),
    float8Array(planned.map(({ now }) => now)),
    boolArray(planned.map((one) => heads.has(one))),
    int4Array(planned.map(({ webhook }) => webhook.key)),
    int2Array(planned.map(({ webhook }) => webhook.shard)),
    int4Array(planned.map(({ delivery }) => delivery.variant)),
    int4Array(planned.map(({ delivery }) => delivery.epoch)),
    textArray(planned.map(({ delivery }) => delivery.id)),
    textArray(planned.map(({ delivery }) => delivery.lane)),
    textArray(planned.map(({ delivery }) => delivery.encoding)),
    textArray(planned.map(({ delivery }) => delivery.httpVerb)),
    textArray(planned.map(({ delivery }) => delivery.replayOf ?? null)),
  ]
}
