/** The endpoint of a leg: a phone, or a line to a carrier. Its form in events and in the store of open legs. Pure. */
import type { PendingEvent } from './mapped-events.js'
import type { readSaved, SavedValues } from './open-leg-state.js'

/** An endpoint in events. */
export type Endpoint = NonNullable<PendingEvent['endpoint']>

const KINDS = ['extension', 'trunk', 'gateway'] as const

/** Returns an endpoint as values of a stored leg. */
export function saveEndpoint(endpoint: Endpoint | undefined): SavedValues {
  return { endpointKind: endpoint?.kind, endpointName: endpoint?.name }
}

/** Returns the endpoint of a stored leg; `undefined`: it has none. */
export function readEndpoint({ text }: ReturnType<typeof readSaved>): Endpoint | undefined {
  const name = text('endpointName')
  const kind = KINDS.find((known) => known === text('endpointKind'))
  if (kind === undefined) return name === undefined ? undefined : { name }
  return name === undefined ? { kind } : { kind, name }
}
