/** Where a leg leads: a phone of Asterisk, or a trunk to a carrier. Asterisk itself makes no difference between them. Pure. */
import type { Endpoint } from '../source/endpoint.js'
import type { Leg } from './leg.js'

/** Contexts into which FreePBX lets its trunks call. */
const TRUNK_CONTEXT = /^from-(?:trunk|pstn|did)\b/
const EXTENSION = /^\d+$/

/**
 * Returns the endpoint of a leg; `undefined`: it has none.
 *
 * @param trunks names of all endpoints that are trunks. Default: trunks are recognized by FreePBX's contexts and by a number
 *   that was dialled beside the endpoint, extensions by a name that is a number
 */
export function endpointOf(leg: Leg, trunks: readonly string[] | undefined): Endpoint | undefined {
  const { endpoint: name, isInternal } = leg
  if (isInternal || name === '') return undefined
  const kind = trunks ? (trunks.includes(name) ? 'trunk' : 'extension') : guessKind(leg)
  return kind === undefined ? { name } : { kind, name }
}

function guessKind({ direction, endpoint, channel, ownNumber, dialledNumber }: Leg) {
  const isTrunk =
    direction === 'inbound' ? TRUNK_CONTEXT.test(channel.context ?? '') : dialledNumber !== undefined
  if (isTrunk) return 'trunk'
  return EXTENSION.test(endpoint) || endpoint === ownNumber ? 'extension' : undefined
}
