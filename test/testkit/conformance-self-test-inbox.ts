/** An inbox for the memory store, so that the rules of the inbox can be tested on defects. */
import type { InboxEntry } from '../../src/delivery/inbox-store.js'
import type { AcceptanceResult, Group, GroupResult } from '../../src/delivery/queue-store.js'
import { HookswitchError } from '../../src/errors.js'
import type { Store } from '../../src/store/contract.js'
import { isMentioned } from '../../src/store/effective-state.js'
import { inboxShard } from '../../src/store/shards.js'

/** A transaction of the host: entries that are put in it, until it commits. */
interface HostTransaction {
  readonly entries: InboxEntry[]
}

const isTransaction = (tx: unknown): tx is HostTransaction =>
  typeof tx === 'object' && tx !== null && 'entries' in tx

/** What the harness of a store with `supports.transactions` needs. */
export interface StoreWithInbox {
  readonly store: Store
  transaction(end: 'commit' | 'rollback', work: (tx: unknown) => Promise<void>): Promise<void>
}

/** Adds an inbox to a memory store. Entries are removed with the acceptance that relays them. */
export function addInbox(memory: Store): StoreWithInbox {
  let entries: InboxEntry[] = []
  const listeners = new Set<() => void>()
  /** Inbox entries that were relayed, with the event that each became. */
  const relayed = new Map<string, string | undefined>()
  const shards = new Map<string, readonly number[]>()
  const { deliveries } = memory

  /** Which acceptances are to be refused: they name an entry that is gone, or that an earlier one relays. */
  function findRefused({ accepted, isRepeat }: Group): Set<number> {
    const available = new Set(entries.map(({ id }) => id))
    const refused = new Set<number>()
    for (const [index, { inboxIds, events }] of accepted.entries()) {
      if (!inboxIds) continue
      if (isRepeat && inboxIds.every((id) => relayed.has(id) && relayed.get(id) === events[0]?.id)) continue
      if (inboxIds.every((id) => available.has(id))) for (const id of inboxIds) available.delete(id)
      else refused.add(index)
    }
    return refused
  }

  async function commitNow(group: Group): Promise<GroupResult> {
    const refused = findRefused(group)
    const kept = group.accepted.filter((_, index) => !refused.has(index))
    const result = await deliveries.commit({
      ...group,
      accepted: kept.map(({ inboxIds: _own, ...acceptance }) => acceptance),
    })
    if (result.kind !== 'committed') return result
    const results = [...result.accepted]
    const error = new HookswitchError('Conflict', 'the entry is gone', { field: 'inboxIds' })
    const accepted = group.accepted.map(({ inboxIds = [], events }, index): AcceptanceResult => {
      if (refused.has(index)) return { kind: 'refused', error }
      const result = results.shift()!
      if (result.kind === 'refused') return result
      entries = entries.filter(({ id }) => !inboxIds.includes(id))
      for (const id of inboxIds) relayed.set(id, events[0]?.id)
      return result
    })
    return { ...result, accepted }
  }

  let turn: Promise<unknown> = Promise.resolve()
  /** One after the other: the entries and the rows change together. */
  function commit(group: Group): Promise<GroupResult> {
    const result = turn.then(() => commitNow(group))
    turn = result.catch(() => {})
    return result
  }

  const store: Store = {
    ...memory,
    supports: { ...memory.supports, transactions: true },
    inbox: {
      put(tx, added) {
        if (!isTransaction(tx))
          throw new HookswitchError('InvalidOption', 'tx is not a connection to this store', { field: 'tx' })
        tx.entries.push(...added)
      },
      async staged(owner, limit) {
        const own = shards.get(owner) ?? []
        return entries.filter((entry) => own.includes(inboxShard(entry))).slice(0, limit)
      },
    },
    deliveries: {
      ...deliveries,
      commit,
      async own(owner, leaseMs) {
        const lease = await deliveries.own(owner, leaseMs)
        if (!memory.supports.sharedBetweenNodes) shards.clear()
        shards.set(owner, lease.shards)
        return lease
      },
      async renew(owner, leaseMs) {
        const lease = await deliveries.renew(owner, leaseMs)
        shards.set(owner, lease.shards)
        return lease
      },
      async release(owner) {
        await deliveries.release(owner)
        shards.delete(owner)
      },
      async erase(what, limit) {
        const before = entries.length
        entries = entries.filter(
          ({ accountId, callId }) =>
            accountId !== what.accountId || (what.callIds && !(callId && what.callIds.includes(callId))),
        )
        return before - entries.length + (await deliveries.erase(what, limit))
      },
      async mentions(accountId, text, cursor, limit) {
        const found = await deliveries.mentions(accountId, text, cursor, limit)
        const staged = entries.filter(
          (entry) => entry.accountId === accountId && isMentioned(entry.event, text),
        )
        return { ...found, callIds: [...found.callIds, ...staged.flatMap(({ callId }) => callId ?? [])] }
      },
      subscribe(listener) {
        const stop = deliveries.subscribe(listener)
        listeners.add(listener)
        return () => {
          stop()
          listeners.delete(listener)
        }
      },
    },
  }
  return {
    store,
    async transaction(end, work) {
      const tx: HostTransaction = { entries: [] }
      await work(tx)
      if (end === 'rollback') return
      entries.push(...tx.entries)
      for (const listener of listeners) listener()
    },
  }
}
