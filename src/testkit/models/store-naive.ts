import type { EventCall, HookRow, SettlementCall, StoreCall } from './store-calls.js'
import { naiveRows } from './store-naive-rows.js'
import { before, isPending, type NaiveRow, type NaiveStore, promote } from './store-naive-state.js'

/**
 * What a store has to answer, decided by looking through everything. `seen` is what it did answer: only a claim needs
 * it, since among heads that are due equally long any may be taken.
 */
export function answer(m: NaiveStore, call: StoreCall, seen: unknown): unknown {
  const { now } = call
  const hookOf = (id: string) => m.hooks.find((hook) => hook.id === id)
  const alive = m.lease.owner !== '' && (!m.shared || now < m.lease.untilMs)
  const holds = (owner: string) => alive && m.lease.owner === owner
  const isStale = (row: NaiveRow) => row.state === 'waiting' && row.epoch < hookOf(row.webhookId)!.epoch
  const waiting = ({ id, epoch, deleted }: HookRow) =>
    m.rows.filter((row) => !deleted && row.webhookId === id && row.epoch === epoch && row.due !== undefined)
  switch (call.do) {
    case 'own':
      m.lease = {
        owner: call.owner,
        untilMs: now + m.leaseMs,
        term: m.lease.term + (holds(call.owner) ? 0 : 1),
      }
      return 'all shards'
    case 'renew':
      if (m.shared) return answer(m, { ...call, do: 'own' }, seen)
      return holds(call.owner) ? 'all shards' : 'no shard'
    case 'ask too early':
      return 'no shard'
    case 'release':
      if (m.lease.owner === call.owner) m.lease.owner = ''
      return null
    case 'accept': {
      const old = <E extends EventCall>({ key }: EventCall, among: readonly E[]) =>
        among.find((one) => key !== undefined && one.key === key && now < one.untilMs!)
      const known = call.events.map((event, at) => old(event, m.keys) ?? old(event, call.events.slice(0, at)))
      if (known.some((one, at) => one && one.hash !== call.events[at]!.hash)) return 'Conflict'
      const added = call.deliveries.filter(
        ({ eventId }) => !known[call.events.findIndex(({ id }) => id === eventId)],
      )
      if (added.length > 0 && m.rows.filter(isPending).length + added.length > call.most) return 'QueueFull'
      for (const { eventId: _, ...row } of added) {
        m.rows.push({ ...row, state: 'waiting', fence: 0, attempts: 0 })
      }
      promote(m, now)
      return call.events.map((event) => {
        const first = old(event, m.keys)
        if (first) return { id: first.id, number: first.sequence, duplicate: true }
        const sequence = (m.numbers[event.callId] ?? 0) + 1
        m.numbers[event.callId] = sequence
        if (event.key) m.keys = [...m.keys.filter(({ key }) => key !== event.key), { ...event, sequence }]
        return { id: event.id, number: sequence, duplicate: false }
      })
    }
    case 'claim': {
      const taken = Array.isArray(seen) ? (seen as { id: string }[]).map(({ id }) => id) : []
      let left = call.limit
      const wanted = call.endpoints.flatMap(({ webhookId, room, retriesFirst }) => {
        const hook = holds(call.owner) ? hookOf(webhookId) : undefined
        const { pausedUntilMs = 0, openings = 0 } = hook?.health ?? {}
        const due = hook && pausedUntilMs <= now ? waiting(hook).filter((row) => row.due! <= now) : []
        // Of those that are due equally long, the ones that were taken come first.
        due.sort((a, b) => a.due! - b.due! || +taken.includes(b.id) - +taken.includes(a.id))
        const places = Math.min(room, left, openings > 0 ? 1 : room)
        const first = openings > 0 ? due : due.filter(({ attempts }) => attempts === 0)
        const again = openings > 0 ? [] : due.filter(({ attempts }) => attempts > 0)
        const half = Math.min(first.length, retriesFirst ? Math.floor(places / 2) : Math.ceil(places / 2))
        const retries = Math.min(again.length, places - half)
        const chosen = [...first.slice(0, places - retries), ...again.slice(0, retries)]
        left -= chosen.length
        for (const row of chosen) {
          Object.assign(row, { state: 'in_flight', fence: row.fence + 1, due: undefined, term: m.lease.term })
        }
        return chosen.map(({ id, fence, attempts }) => ({ id, fence, attempts }))
      })
      return wanted.sort((a, b) => taken.indexOf(a.id) - taken.indexOf(b.id))
    }
    case 'settle':
      return call.settlements.map((one) => (holds(call.owner) ? settled(m, one, now) : 'fenced'))
    case 'replace': {
      const hook = hookOf(call.hook.id)
      if (!hook || hook.deleted || hook.revision !== call.revision) return false
      const keeps = hook.uri === call.hook.uri && (hook.enabled || !call.hook.enabled)
      m.hooks[m.hooks.indexOf(hook)] =
        keeps && hook.health ? { ...call.hook, health: hook.health } : call.hook
      return true
    }
    case 'pending':
      return m.rows.filter(isPending).length
    case 'ready':
      return (holds(call.owner) ? m.hooks : []).flatMap((hook) => {
        const dueMs = Math.min(...waiting(hook).map((row) => row.due!))
        const inMs = Math.max(dueMs, hook.health?.pausedUntilMs ?? now, now) - now
        return dueMs < Infinity ? [{ id: hook.id, inMs }] : []
      })
    case 'stale':
      return m.rows
        .filter((row) => holds(call.owner) && isStale(row))
        .map(({ id }) => id)
        .sort()
    case 'orphans': {
      const lost = ({ state, term }: NaiveRow) => state === 'in_flight' && term !== m.lease.term
      return m.rows
        .filter((row) => holds(call.owner) && lost(row))
        .map(({ id }) => id)
        .sort()
    }
    case 'deliveries': {
      const rows = m.rows.filter(({ webhookId }) => webhookId === call.webhookId)
      const read = rows.map((row) => {
        const { id, attempts, fence, state, reason } = row
        if (isStale(row)) return { id, state: 'cancelled', reason: 'cancelled', attempts, fence, ahead: 0 }
        const ahead = isPending(row) ? before(m, row).filter((one) => !isStale(one)).length : 0
        return { id, state, reason, attempts, fence, ahead }
      })
      return call.ascending ? read : read.reverse()
    }
    default:
      return naiveRows(m, call)
  }
}

function settled(m: NaiveStore, s: SettlementCall, now: number): string {
  const row = m.rows.find((one) => one.id === s.id && one.webhookId === s.webhookId)
  if (row?.state !== s.from || row.fence !== s.fence) return 'fenced'
  Object.assign(row, { state: s.to, attempts: s.attempts, reason: s.reason, due: undefined, endedMs: now })
  if (s.to === 'waiting' && before(m, row).length === 0) row.due = s.dueMs
  promote(m, now)
  if (s.record) {
    m.records.push({ id: s.record, webhookId: s.webhookId, callId: s.callId, atMs: now })
    m.recorded.push(s.record)
  }
  const at = m.hooks.findIndex(({ id }) => id === s.webhookId)
  const { health, ...hook } = m.hooks[at]!
  if (hook.epoch !== s.epoch) return 'settled'
  const kept = s.health === undefined ? health : (s.health ?? undefined)
  const next: HookRow = kept === undefined ? hook : { ...hook, health: kept }
  const disables = s.disable === true && hook.enabled
  const { epoch, revision } = hook
  m.hooks[at] = disables ? { ...next, enabled: false, epoch: epoch + 1, revision: revision + 1 } : next
  return disables ? 'settled, and disabled' : 'settled'
}
