/** Writes a group: acceptances, settlements, starts. */
import type { Settlement } from '../../delivery/delivery-store.js'
import { isTerminal } from '../../delivery/lifecycle.js'
import type {
  AcceptanceResult,
  EndedResult,
  Group,
  GroupResult,
  Start,
  Starts,
} from '../../delivery/queue-store.js'
import { applyEndpointChange } from '../engine/endpoint-change.js'
import { canStart, decideSettlement, disabledByRepeat } from '../engine/settlement.js'
import { accept, factsOf } from './accept.js'
import { recordChange } from './changes.js'
import { addAttempt, addEnd, limitHistory } from './history.js'
import { leaveLane } from './lanes.js'
import { nodeOf } from './leases.js'
import { notifyListeners } from './notify.js'
import { insert, removeAt, valueAt, walk } from './position-log.js'
import type { Endpoint, Moment, Node, Row, State } from './state.js'

const SETTLED: EndedResult = Object.freeze({ kind: 'settled' })
const FENCED: EndedResult = Object.freeze({ kind: 'fenced' })
const NOTHING: readonly never[] = Object.freeze([])

export function commit(state: State, group: Group): GroupResult {
  const { lease, now, isRepeat } = group
  let node: Node | undefined
  if (lease) {
    node = nodeOf(state, lease, now)
    if (!node) return { kind: 'fenced' }
    if (node.version !== group.version) return { kind: 'outdated' }
  }
  const moment: Moment = { ms: now }
  const accepted = acceptAll(state, group, node, moment)
  const ended: readonly EndedResult[] =
    group.ended.length === 0
      ? NOTHING
      : group.ended.map((settlement) => (node ? settle(state, node, settlement, moment, isRepeat) : FENCED))
  const notStarted = group.starting ? start(state, node, group.starting) : NOTHING
  if (!node) return { kind: 'committed', accepted, ended, notStarted, version: group.version }
  for (const key of group.finished) removeAt(node.starts, key)
  node.pending = group.pending
  return { kind: 'committed', accepted, ended, notStarted, version: node.version }
}

function acceptAll(
  state: State,
  group: Group,
  node: Node | undefined,
  moment: Moment,
): readonly AcceptanceResult[] {
  const { accepted, isRepeat } = group
  if (accepted.length === 0) return NOTHING
  const facts = factsOf(state, moment.ms)
  const { handoffCount } = state
  const results = accepted.map((acceptance) => accept(state, facts, acceptance, node, moment, isRepeat))
  if (state.handoffCount !== handoffCount) notifyListeners(state)
  return results
}

/** The row that a settlement or a start names. */
function rowAt(state: State, webhookId: string, position: number): Row | undefined {
  const endpoint = state.endpoints.get(webhookId)
  return endpoint && valueAt(endpoint.deliveries, position)
}

function settle(
  state: State,
  node: Node,
  settlement: Settlement,
  moment: Moment,
  isRepeat: boolean,
): EndedResult {
  const { webhookId, position, deliveryId, next, record, endpoint: change } = settlement
  const row = position === undefined ? state.rows.get(deliveryId) : rowAt(state, webhookId, position)
  const endpoint = state.endpoints.get(webhookId)
  if (!endpoint || state.shards[endpoint.shard]!.owner !== node) return FENCED
  if (row && (row.endpoint !== endpoint || row.source.id !== deliveryId)) return FENCED
  const isKept = isRepeat && record !== undefined && hasRecord(endpoint, record.id)
  const decision = decideSettlement(row, settlement, isRepeat, isKept)
  if (decision === 'fenced') return FENCED
  if (decision === 'stored' || !row) {
    const disabled = disabledByRepeat(endpoint.webhook, settlement)
    return disabled ? { kind: 'settled', disabled } : SETTLED
  }

  row.attempts = next.attempts
  row.tries = next.tries
  row.interruptions = next.interruptions
  row.reason = next.reason
  row.failed = next.failedMs === undefined ? undefined : { ms: next.failedMs }
  if (record) addAttempt(state, row, record, moment.ms)
  if (isTerminal(next.state)) {
    leaveLane(row)
    endpoint.waitingCount -= 1
    row.state = next.state
    row.due = undefined
    row.ended = moment
    addEnd(state, row)
  } else row.due = { ms: next.dueMs ?? moment.ms }
  limitHistory(state, endpoint)
  if (!change) return SETTLED
  const before = endpoint.webhook
  endpoint.webhook = applyEndpointChange(before, change)
  if (endpoint.webhook.epoch === before.epoch) return SETTLED
  recordChange(state, endpoint.shard, { webhookId })
  return { kind: 'settled', disabled: endpoint.webhook }
}

function hasRecord({ attempts }: Endpoint, recordId: string): boolean {
  for (const [position, row] of walk(attempts, false)) if (row.recordAt(position).id === recordId) return true
  return false
}

/** Stores the starts that may begin; returns the indexes of the others. */
function start(state: State, node: Node | undefined, { key, deliveries }: Starts): readonly number[] {
  const refused: number[] = []
  const stored: Start[] = []
  for (let index = 0; index < deliveries.length; index += 1) {
    const delivery = deliveries[index]!
    const row = node && rowAt(state, delivery.webhookId, delivery.position)
    const isOwned = row && state.shards[row.endpoint.shard]!.owner === node
    const isWaiting = isOwned && row.state === 'waiting'
    if (isWaiting && canStart(row, delivery, row.endpoint.webhook.epoch)) stored.push(delivery)
    else refused.push(index)
  }
  if (node) {
    // A repeated group may have stored them before.
    removeAt(node.starts, key)
    if (stored.length > 0) insert(node.starts, key, refused.length === 0 ? deliveries : stored)
  }
  return refused
}
