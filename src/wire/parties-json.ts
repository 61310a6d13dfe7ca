/** JSON of the parties of a call, as attempts and deliveries have it. */
import type { CallParties } from '../delivery/payload.js'
import type { JsonObject } from './webhook-json.js'

/** Returns the field `call`; `undefined` where the event names neither a party nor a direction. */
export function partiesJson(parties: CallParties | undefined): JsonObject | undefined {
  if (!parties) return undefined
  const { from, to, direction } = parties
  return (from ?? to ?? direction) === undefined ? undefined : { from, to, direction }
}
