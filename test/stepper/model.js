// @ts-check
/**
 * What must have become of everything, told from what calls were asked and answered alone. Time is the number of the
 * step: what was answered before another call began is earlier, what overlaps may be either.
 */

/**
 * @typedef {import('hookswitch/store').Delivery} Delivery
 * @typedef {import('hookswitch/store').NewDelivery} NewDelivery
 * @typedef {import('hookswitch/store').Settlement} Settlement
 *
 * @typedef {{ began: number, ended: number, last?: number }} Span `last`: when its last statement went to the server
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
  const findings = []
  /** Who was told last that it owns a shard. @type {Map<number, { node: string, ended: number }>} */
  const owners = new Map()
  /** When a node asked for shards last, and when it may have lost some. @type {Map<string, number>} */
  const asked = new Map()
  /** @type {Map<string, number>} */
  const unsettled = new Map()

  /**
   * Whether the shard was told to another node before the last statement went, and this one has not asked since.
   *
   * @param {string} node @param {number} shard @param {Span} span
   */
  function isStranger(node, shard, { began, last = began }) {
    const owner = owners.get(shard)
    if (owner === undefined || owner.node === node) return false
    return owner.ended < last && (asked.get(node) ?? 0) < owner.ended
  }

  return {
    rows,
    findings,
    /** Whether something may be there to be claimed. */
    waits: () => [...rows.values()].some((row) => row.accepted && isWaiting(row)),
    /** @param {readonly NewDelivery[]} deliveries */
    asks(deliveries) {
      for (const delivery of deliveries)
        rows.set(delivery.id, { delivery, accepted: undefined, sequence: 0, claims: [], settled: [] })
    },
    /** @param {readonly NewDelivery[]} deliveries @param {ReadonlyMap<string, number>} sequences by event @param {Span} span */
    accepted(deliveries, sequences, span) {
      for (const { id, eventId } of deliveries)
        Object.assign(rows.get(id) ?? {}, { accepted: span, sequence: sequences.get(eventId) })
    },
    /** @param {string} node @param {number} began */
    asksForShards(node, began) {
      asked.set(node, began)
    },
    /** @param {string} node @param {readonly number[]} shards @param {number} ended */
    owns(node, shards, ended) {
      for (const shard of shards) {
        const before = owners.get(shard)
        if (before !== undefined && before.node !== node) unsettled.set(before.node, ended)
        owners.set(shard, { node, ended })
      }
    },
    /** @param {string} node @param {number} step from now on it may have lost what it owned */
    mayLose(node, step) {
      unsettled.set(node, step)
    },
    /** @param {string} node @param {readonly Delivery[]} claims @param {Span} span @param {(webhookId: string) => number} shardOf */
    claimed(node, claims, span, shardOf) {
      for (const { id, fence, webhookId } of claims) {
        const row = rows.get(id)
        if (!row) findings.push(`${id} was claimed and never accepted`)
        else row.claims.push({ ...span, fence, node })
        if (isStranger(node, shardOf(webhookId), span))
          findings.push(`${node} claimed ${id} of a shard that was another node's`)
      }
    },
    /**
     * @param {string} node @param {Settlement} settlement @param {boolean} isSettled @param {Span} span
     * @param {number} since when the node was told of it
     * @param {(webhookId: string) => number} shardOf
     */
    settles(node, { deliveryId, webhookId, expect, next }, isSettled, span, since, shardOf) {
      if (isSettled) {
        const { fence, state: from } = expect
        rows.get(deliveryId)?.settled.push({ ...span, fence, from, to: next.state })
        if (isStranger(node, shardOf(webhookId), span))
          findings.push(`${node} settled ${deliveryId} of a shard that was another node's`)
      } else if ((unsettled.get(node) ?? -1) < since)
        findings.push(`${node} could not settle ${deliveryId}, which was its own since step ${since}`)
    },
    /** @param {ReadonlyMap<string, string>} states as they are in the store in the end, by delivery */
    judge(states) {
      for (const [id, row] of rows) findings.push(...judged(id, row, states.get(id)))
      findings.push(...ordered([...rows.values()]), ...numbered([...rows.values()]))
      return findings
    },
  }
}

/** @param {Row} row */
function isWaiting({ claims, settled }) {
  const flown = settled.filter(({ from }) => from === 'in_flight')
  return claims.length === flown.length && settled.every(({ to }) => to === 'waiting')
}

/** @param {string} id @param {Row} row @param {string | undefined} state */
function* judged(id, { accepted, claims, settled }, state) {
  if (!accepted) {
    if (state !== undefined) yield `${id} was refused, and is there as ${state}`
    return
  }
  const ends = settled.filter(({ to }) => to !== 'waiting')
  if (state === undefined) yield `${id} was accepted and is not there`
  if (ends.length !== 1) yield `${id} ended ${ends.length} times`
  else if (state !== ends[0]?.to) yield `${id} ended as ${ends[0]?.to} and is ${state}`
  const fences = claims.map(({ fence }) => fence).sort((a, b) => a - b)
  if (fences.some((fence, index) => fence !== index + 1)) yield `${id} was claimed with the fences ${fences}`
  const flown = settled.filter(({ from }) => from === 'in_flight').map(({ fence }) => fence)
  if (new Set(flown).size < flown.length) yield `${id} was settled twice with one fence: ${flown}`
}

/** In a lane the next one is claimed for the first time after the one before has ended. @param {readonly Row[]} rows */
function* ordered(rows) {
  const accepted = rows.filter((row) => row.accepted).sort((a, b) => a.sequence - b.sequence)
  /** @type {Map<string, Row>} */
  const before = new Map()
  for (const row of accepted) {
    const { webhookId, lane, id } = row.delivery
    const name = `${webhookId} ${lane}`
    const last = before.get(name)
    before.set(name, row)
    const end = last?.settled.find(({ to }) => to !== 'waiting')
    const first = Math.min(...row.claims.map(({ ended }) => ended))
    if (last && first < (end?.began ?? Number.POSITIVE_INFINITY) && Number.isFinite(first))
      yield `${id} was claimed before ${last.delivery.id} ahead of it had ended`
  }
}

/** Numbers of a call are 1, 2, … in the order of acceptance. @param {readonly Row[]} rows */
function* numbered(rows) {
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
      if (ended < latest) yield `an event of ${call} has a number above one that was accepted after it`
      latest = Math.max(latest, began)
    }
  }
}
