// @ts-check
/**
 * Checks a run from its calls and their results alone. Time is the number of the step: a call that ended before another
 * began is earlier; overlapping calls may have been executed in either order.
 */
import { ERASED_CALL } from './generators.js'

/**
 * @typedef {import('hookswitch/store').NewDelivery} NewDelivery
 * @typedef {import('hookswitch/store').Settlement} Settlement
 * @typedef {import('hookswitch/store').Start} Start
 * @typedef {import('hookswitch/store').Webhook} Webhook
 *
 * @typedef {Extract<import('hookswitch/store').GroupResult, { kind: 'committed' }>} Committed
 * @typedef {{ began: number, ended: number, last?: number }} Span `last`: when its last statement was sent
 *
 * @typedef {object} Row
 * @property {NewDelivery} delivery
 * @property {Span | undefined} accepted
 * @property {number} sequence
 * @property {(Span & { attempt: number, node: string })[]} sent requests
 * @property {(Span & { from: number, to: string })[]} settled
 */

export function createModel() {
  /** @type {Map<string, Row>} */
  const rows = new Map()
  /** Ids of deliveries, by webhook and position. @type {Map<string, string>} */
  const ids = new Map()
  /** @type {string[]} */
  const violations = []
  /** When each epoch of a webhook ended. @type {(Span & { webhookId: string, epoch: number })[]} */
  const ends = []
  /** @type {Span[]} */
  const erasures = []
  /** When each node lost its lease last. @type {Map<string, number>} */
  const lost = new Map()
  const nameOf = (
    /** @type {{ webhookId: string, position?: number | undefined }} */ { webhookId, position },
  ) => `${webhookId}/${position}`
  const rowAt = (/** @type {{ webhookId: string, position: number }} */ key) =>
    rows.get(ids.get(nameOf(key)) ?? '')
  /** @param {Row | undefined} row */
  const mayBeErased = (row) => row?.delivery.callId === ERASED_CALL

  return {
    rows,
    violations,
    /** The id of a delivery. @param {{ webhookId: string, position: number }} key */
    deliveryId: (key) => ids.get(nameOf(key)) ?? `unknown ${nameOf(key)}`,
    /** An acceptance begins. @param {readonly NewDelivery[]} deliveries */
    accepting(deliveries) {
      for (const delivery of deliveries) {
        rows.set(delivery.id, { delivery, accepted: undefined, sequence: 0, sent: [], settled: [] })
        ids.set(nameOf(delivery), delivery.id)
      }
    },
    /** @param {readonly NewDelivery[]} deliveries @param {ReadonlyMap<string, number>} sequences by event @param {Span} span */
    accepted(deliveries, sequences, span) {
      for (const { id, eventId } of deliveries)
        Object.assign(rows.get(id) ?? {}, { accepted: span, sequence: sequences.get(eventId) })
    },
    /** A webhook was edited, or disabled by a settlement. @param {Webhook} webhook @param {Span} span */
    edited({ id, epoch }, span) {
      ends.push({ webhookId: id, epoch: epoch - 1, ...span })
    },
    /** All of the erased call was erased. @param {Span} span */
    erased(span) {
      erasures.push(span)
    },
    /** A node has no lease any more. @param {string} node @param {number} step */
    lostLease(node, step) {
      lost.set(node, step)
    },
    /**
     * A group that was written was committed again.
     *
     * @param {Committed} first @param {Committed} again
     */
    repeated(first, again) {
      const numbersOf = (/** @type {Committed} */ { accepted }) =>
        accepted.map((acceptance) =>
          acceptance.kind === 'accepted'
            ? acceptance.events.map(({ sequence }) => sequence)
            : acceptance.kind,
        )
      const [numbers, numbersAgain] = [numbersOf(first).join(), numbersOf(again).join()]
      const hasErasable = [...rows.values()].some(mayBeErased)
      if (!hasErasable && numbers !== numbersAgain)
        violations.push(
          `events got the numbers ${numbers}, and ${numbersAgain} when they were committed again`,
        )
    },
    /** A node sends a request. @param {string} node @param {Start} start @param {Span} span */
    sent(node, start, span) {
      const row = rowAt(start)
      if (!row) {
        violations.push(`${nameOf(start)} was sent but never accepted`)
        return
      }
      const { id } = row.delivery
      const { attempt } = start
      const twin = row.sent.find((request) => request.attempt === attempt)
      if (twin) violations.push(`attempt ${attempt} of ${id} was sent by ${twin.node} and by ${node}`)
      const end = ends.find(({ webhookId, epoch }) => webhookId === start.webhookId && epoch >= start.epoch)
      if (end && end.ended < (span.last ?? span.began))
        violations.push(`${id} was sent by ${node} after its webhook was disabled at step ${end.ended}`)
      row.sent.push({ ...span, attempt, node })
    },
    /** A start was stored and nothing was sent. @param {Start} start */
    abandoned(start) {
      if (!rowAt(start)) violations.push(`${nameOf(start)} was started but never accepted`)
    },
    /** A start was refused. @param {string} node @param {Start} start @param {Span} span @param {number} [since] */
    notStarted(node, start, span, since = span.began) {
      const row = rowAt(start)
      const isDisabled = ends.some(
        ({ webhookId, epoch }) => webhookId === start.webhookId && epoch >= start.epoch,
      )
      if (!isDisabled && !mayBeErased(row) && (lost.get(node) ?? -1) < since)
        violations.push(`${node} could not start ${row?.delivery.id}`)
    },
    /** @param {string} node @param {Settlement} settlement @param {boolean} isSettled @param {Span} span */
    settled(node, { deliveryId, expect, next }, isSettled, span) {
      const row = rows.get(deliveryId)
      if (isSettled) row?.settled.push({ ...span, from: expect.attempts, to: next.state })
      else if (!mayBeErased(row)) violations.push(`${node} could not settle ${deliveryId}`)
    },
    /** @param {ReadonlyMap<string, string>} states final states in the store, by delivery */
    check(states) {
      const all = [...rows]
      for (const [id, row] of all) {
        if (mayBeErased(row)) violations.push(...checkErased(id, row, states.get(id), erasures))
        else violations.push(...checkDelivery(id, row, states.get(id)))
      }
      const lasting = all.map(([, row]) => row).filter((row) => !mayBeErased(row))
      violations.push(...checkOrder(lasting), ...checkNumbers(lasting))
      return violations
    },
  }
}

/** @param {string} id @param {Row} row @param {string | undefined} state */
function* checkDelivery(id, { accepted, settled }, state) {
  if (!accepted) {
    if (state !== undefined) yield `${id} was rejected but is stored as ${state}`
    return
  }
  const ends = settled.filter(({ to }) => to !== 'waiting')
  if (state === undefined) yield `${id} was accepted but is not stored`
  if (ends.length !== 1) yield `${id} ended ${ends.length} times`
  else if (state !== ends[0]?.to) yield `${id} ended as ${ends[0]?.to} but is ${state}`
  const used = settled.map(({ from, to }) => (to === 'cancelled' ? -1 : from))
  if (new Set(used).size < used.length) yield `${id} was settled twice with the attempts ${used}`
}

/** What was accepted before an erasure began is gone after it. @param {string} id @param {Row} row @param {string | undefined} state @param {readonly Span[]} erasures */
function* checkErased(id, { accepted }, state, erasures) {
  const erasure = erasures.find(({ began }) => accepted && accepted.ended < began)
  if (erasure && state !== undefined)
    yield `${id} was erased at step ${erasure.ended} but is stored as ${state}`
}

/** A delivery of a lane is first sent when the one ahead of it has ended. @param {readonly Row[]} rows */
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
    const first = Math.min(...row.sent.map(({ ended }) => ended))
    if (last && first < (end?.began ?? Number.POSITIVE_INFINITY) && Number.isFinite(first))
      yield `${id} was sent before ${last.delivery.id} ahead of it had ended`
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
