/** Which replays an original has. */
import type { DeliveryReplays } from '../../delivery/delivery-queries.js'
import { effectiveStateName } from './readers.js'
import type { Endpoint, Row } from './state.js'

export function noteReplay(endpoint: Endpoint, originalPosition: number, row: Row): void {
  endpoint.replays ??= new Map()
  const replays = endpoint.replays.get(originalPosition)
  if (!replays) endpoint.replays.set(originalPosition, [row])
  else replays.splice(replays.findLastIndex(({ position }) => position < row.position) + 1, 0, row)
}

export function forgetReplay(endpoint: Endpoint, originalPosition: number, row: Row): void {
  const others = endpoint.replays!.get(originalPosition)!.filter((replay) => replay !== row)
  if (others.length > 0) endpoint.replays!.set(originalPosition, others)
  else endpoint.replays!.delete(originalPosition)
}

/** The replays of a delivery; `undefined`: there are none. */
export function replaysOf({ endpoint, position, source }: Row): DeliveryReplays | undefined {
  if (source.replayOf !== undefined) return undefined
  const replays = endpoint.replays?.get(position)
  if (!replays) return undefined
  const last = replays.at(-1)!
  return {
    lastId: last.source.id,
    lastAcceptedMs: last.accepted.ms,
    hasRecovered: replays.some((row) => isRecovery(effectiveStateName(row))),
  }
}

const isRecovery = (state: Row['state']) =>
  state === 'waiting' || state === 'in_flight' || state === 'delivered'
