// @ts-check
/**
 * Checks a run from its calls and their results alone. Time is the number of the step: a call that ended before another
 * began is earlier; overlapping calls may have been executed in either order.
 */

/**
 * @typedef {import('hookswitch/store').Delivery} Delivery
 * @typedef {import('hookswitch/store').NewDelivery} NewDelivery
 * @typedef {import('hookswitch/store').Settlement} Settlement
 *
 * @typedef {{ began: number, ended: number, last?: number }} Span `last`: when its last statement was sent
 *
 * @typedef {object} Row
 * @property {NewDelivery} delivery
 * @property {Span | undefined} accepted
 * @property {number} sequence
 * @property {(Span & { fence: number, node: string })[]} claims
 * @property {(Span & { fence: number, from: string, to: string })[]} settled
 */

export function createModel() {
  /** @type {Map<string, Row>} */
  const rows = new Map()
  /** @type {string[]} */
  const violations = []
  /** The node that got each shard last. @type {Map<number, { node: string, ended: number }>} */
  const owners = new Map()
  /** When each node last requested shards. @type {Map<string, number>} */
  const requested = new Map()
  /** When each node may have lost shards last. @type {Map<string, number>} */
  const lost = new Map()

  /**
   * Whether another node got the shard before the last statement was sent, and this node has not requested it since.
   *
   * @param {string} node @param {number} shard @param {Span} span
   */
  function isFormerOwner(node, shard, { began, last = began }) {
    const owner = owners.get(shard)
    if (owner === undefined || owner.node === node) return false
    return owner.ended < last && (requested.get(node) ?? 0) < owner.ended
  }

  return {
    rows,
    violations,
    /** Whether a delivery may be waiting. */
    hasWaiting: () => [...rows.values()].some((row) => row.accepted && isWaiting(row)),
    /** An acceptance begins. @param {readonly NewDelivery[]} deliveries */
    accepting(deliveries) {
      for (const delivery of deliveries)
        rows.set(delivery.id, { delivery, accepted: undefined, sequence: 0, claims: [], settled: [] })
    },
    /** @param {readonly NewDelivery[]} deliveries @param {ReadonlyMap<string, number>} sequences by event @param {Span} span */
    accepted(deliveries, sequences, span) {
      for (const { id, eventId } of deliveries)
        Object.assign(rows.get(id) ?? {}, { accepted: span, sequence: sequences.get(eventId) })
    },
    /** A node requests shards. @param {string} node @param {number} began */
    requestsShards(node, began) {
      requested.set(node, began)
    },
    /** A node got shards. @param {string} node @param {readonly number[]} shards @param {number} ended */
    gotShards(node, shards, ended) {
      for (const shard of shards) {
        const before = owners.get(shard)
        if (before !== undefined && before.node !== node) lost.set(before.node, ended)
        owners.set(shard, { node, ended })
      }
    },
    /** From this step on a node may have lost its shards. @param {string} node @param {number} step */
    mayLoseShards(node, step) {
      lost.set(node, step)
    },
    /** @param {string} node @param {readonly Delivery[]} claims @param {Span} span @param {(webhookId: string) => number} shardOf */
    claimed(node, claims, span, shardOf) {
      for (const { id, fence, webhookId } of claims) {
        const row = rows.get(id)
        if (!row) violations.push(`${id} was claimed but never accepted`)
        else row.claims.push({ ...span, fence, node })
        if (isFormerOwner(node, shardOf(webhookId), span))
          violations.push(`${node} claimed ${id}, whose shard another node owned`)
      }
    },
    /**
     * @param {string} node @param {Settlement} settlement @param {boolean} isSettled @param {Span} span
     * @param {number} since when the node got the delivery
     * @param {(webhookId: string) => number} shardOf
     */
    settled(node, { deliveryId, webhookId, expect, next }, isSettled, span, since, shardOf) {
      if (isSettled) {
        const { fence, state: from } = expect
        rows.get(deliveryId)?.settled.push({ ...span, fence, from, to: next.state })
        if (isFormerOwner(node, shardOf(webhookId), span))
          violations.push(`${node} settled ${deliveryId}, whose shard another node owned`)
      } else if ((lost.get(node) ?? -1) < since)
        violations.push(`${node} could not settle ${deliveryId}, which it had since step ${since}`)
    },
    /** @param {ReadonlyMap<string, string>} states final states in the store, by delivery */
    check(states) {
      for (const [id, row] of rows) violations.push(...checkDelivery(id, row, states.get(id)))
      violations.push(...checkOrder([...rows.values()]), ...checkNumbers([...rows.values()]))
      return violations
    },
  }
}

/** @param {Row} row */
function isWaiting({ claims, settled }) {
  const settledClaims = settled.filter(({ from }) => from === 'in_flight')
  return claims.length === settledClaims.length && settled.every(({ to }) => to === 'waiting')
}

/** @param {string} id @param {Row} row @param {string | undefined} state */
function* checkDelivery(id, { accepted, claims, settled }, state) {
  if (!accepted) {
    if (state !== undefined) yield `${id} was rejected but is stored as ${state}`
    return
  }
  const ends = settled.filter(({ to }) => to !== 'waiting')
  if (state === undefined) yield `${id} was accepted but is not stored`
  if (ends.length !== 1) yield `${id} ended ${ends.length} times`
  else if (state !== ends[0]?.to) yield `${id} ended as ${ends[0]?.to} but is ${state}`
  const fences = claims.map(({ fence }) => fence).sort((a, b) => a - b)
  if (fences.some((fence, index) => fence !== index + 1)) yield `${id} was claimed with the fences ${fences}`
  const used = settled.filter(({ from }) => from === 'in_flight').map(({ fence }) => fence)
  if (new Set(used).size < used.length) yield `${id} was settled twice with one fence: ${used}`
}

/** A delivery of a lane is first claimed when the one ahead of it has ended. @param {readonly Row[]} rows */
function* checkOrder(rows) {
  const accepted = rows.filter((row) => row.accepted).sort((a, b) => a.sequence - b.sequence)
  /** @type {Map<string, Row>} */
  const lastOfLane = new Map()
  for (const row of accepted) {
    const { webhookId, lane, id } = row.delivery
    const name = `${webhookId} ${lane}`
    const last = lastOfLane.get(name)
    lastOfLane.set(name, row)
    const end = last?.settled.find(({ to }) => to !== 'waiting')
    const first = Math.min(...row.claims.map(({ ended }) => ended))
    if (last && first < (end?.began ?? Number.POSITIVE_INFINITY) && Number.isFinite(first))
      yield `${id} was claimed before ${last.delivery.id} ahead of it had ended`
  }
}

/** Events of a call are numbered 1, 2, … in order of acceptance. @param {readonly Row[]} rows */
function* checkNumbers(rows) {
  /** @type {Map<string, Map<string, { sequence: number } & Span>>} */
  const calls = new Map()
  for (const { delivery, accepted, sequence } of rows) {
    if (!accepted) continue
    const call = `${delivery.eventAccountId}/${delivery.callId}`
    const events = calls.get(call) ?? new Map()
    calls.set(call, events.set(delivery.eventId, { sequence, ...accepted }))
  }
  for (const [call, events] of calls) {
    const sorted = [...events.values()].sort((a, b) => a.sequence - b.sequence)
    if (sorted.some(({ sequence }, index) => sequence !== index + 1))
      yield `events of ${call} were numbered ${sorted.map(({ sequence }) => sequence)}`
    let latest = -1
    for (const { began, ended } of sorted) {
      if (ended < latest) yield `an event of ${call} has a higher number than one accepted after it`
      latest = Math.max(latest, began)
    }
  }
}
