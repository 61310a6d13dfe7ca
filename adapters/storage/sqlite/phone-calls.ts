/** What each account has recorded of phone calls: the number of events, and the other legs. */
import { LRUCache } from 'lru-cache'
import type { SqliteHandle } from './driver.js'
import { hashKey } from './hash-key.js'
import { prepareChange, prepareQuery } from './query.js'

export interface PhoneCall {
  readonly key: number
  readonly callId: string
  /** Sequence number of its newest event. */
  sequence: number
  /** Store time of its newest event, ms. */
  lastMs: number
  /** Call ids of the other legs in order of appearance, as JSON; null: none. */
  others: string | null
}

export interface PhoneCalls {
  find(account: number, callId: string): PhoneCall | undefined
  /** Up to `limit` calls of an account, in no particular order. */
  list(account: number, limit: number): readonly PhoneCall[]
  /**
   * Records an event of a call and returns the updated call. The call and the other leg become legs of each other.
   *
   * @param numbered whether the event takes the next sequence number
   */
  recordEvent(
    account: number,
    callId: string,
    other: string | undefined,
    now: number,
    numbered: boolean,
  ): PhoneCall
  legs(account: number, callId: string): readonly string[]
  /** Deletes the call, also from the legs of other calls. */
  remove(account: number, call: PhoneCall): void
  /**
   * Deletes what an account has recorded of a call because of another account's events: its legs, and the calls that have
   * no data of the account itself.
   */
  removeForeign(account: number, key: number): void
  /** Clears the cache: rows have changed in another way. */
  invalidate(): void
}

/** Whether any row refers to a call `c` by its key. */
export const IS_REFERENCED_SQL = `exists (select 1 from hookswitch_attempt where call = c.key)
  or exists (select 1 from hookswitch_event where call = c.key)
  or exists (select 1 from hookswitch_delivery where call = c.key)
  or exists (select 1 from hookswitch_idempotency where call = c.key)`

const COLUMNS = 'key, call_id as "callId", sequence, last_ms as "lastMs", others'

/** Active calls: the next event of a cached call does not read its row. About 350 bytes each. */
const MAX_CACHED = 20_000

export function createPhoneCalls(db: SqliteHandle): PhoneCalls {
  const find = prepareQuery<PhoneCall>(
    db,
    `select ${COLUMNS} from hookswitch_call where account = ? and call_key = ? and call_id = ?`,
  )
  const ofAccount = prepareQuery<PhoneCall>(
    db,
    `select ${COLUMNS} from hookswitch_call where account = ? limit ? + 0`,
  )
  const insert = db.prepare(
    'insert into hookswitch_call (account, call_key, sequence, last_ms, call_id) values (?, ?, ?, ?, ?)',
  )
  const update = prepareChange(db, 'update hookswitch_call set sequence = ?, last_ms = ? where key = ?')
  const setOthers = prepareChange(db, 'update hookswitch_call set others = ? where key = ?')
  const remove = prepareChange(db, 'delete from hookswitch_call where key = ?')
  const referenced = prepareQuery<PhoneCall & { readonly referenced: number }>(
    db,
    `select ${COLUMNS}, ${IS_REFERENCED_SQL} as referenced from hookswitch_call c where key = ?`,
  )
  // Bounded by size: `max` would allocate the memory of all entries at once.
  const cache = new LRUCache<string, PhoneCall>({ maxSize: MAX_CACHED, sizeCalculation: () => 1 })
  const cacheKey = (account: number, callId: string) => `${account}/${callId}`

  function read(account: number, callId: string): PhoneCall | undefined {
    const key = cacheKey(account, callId)
    const cached = cache.get(key)
    if (cached) return cached
    const call = find.get(account, hashKey(callId), callId)
    if (call) cache.set(key, call)
    return call
  }

  function upsert(account: number, callId: string, now: number, numbered: boolean): PhoneCall {
    const call = read(account, callId)
    if (call) {
      if (numbered) call.sequence += 1
      call.lastMs = Math.max(call.lastMs, now)
      update(call.sequence, call.lastMs, call.key)
      return call
    }
    const sequence = numbered ? 1 : 0
    const key = Number(insert.run(account, hashKey(callId), sequence, now, callId).lastInsertRowid)
    const created: PhoneCall = { key, callId, sequence, lastMs: now, others: null }
    cache.set(cacheKey(account, callId), created)
    return created
  }

  function setLegs(call: PhoneCall, legs: readonly string[]): void {
    call.others = legs.length === 0 ? null : JSON.stringify(legs)
    setOthers(call.others, call.key)
  }

  function addLeg(call: PhoneCall, callId: string): void {
    const legs = legsIn(call.others)
    if (!legs.includes(callId)) setLegs(call, [...legs, callId])
  }

  function removeFromLegs(account: number, { callId, others }: PhoneCall): void {
    for (const other of legsIn(others)) {
      const leg = read(account, other)
      if (leg)
        setLegs(
          leg,
          legsIn(leg.others).filter((legCallId) => legCallId !== callId),
        )
    }
  }

  /** Returns false if the call has events of this account, or a row refers to it. */
  function removeUnreferenced(account: number, call: PhoneCall): boolean {
    if (call.sequence > 0 || referenced.get(call.key)?.referenced !== 0) return false
    remove(call.key)
    cache.delete(cacheKey(account, call.callId))
    return true
  }

  const phoneCalls: PhoneCalls = {
    find: read,
    list: (account, limit) => ofAccount.all(account, limit),
    recordEvent(account, callId, other, now, numbered) {
      const call = upsert(account, callId, now, numbered)
      if (other !== undefined && other !== callId) {
        addLeg(call, other)
        addLeg(upsert(account, other, now, false), callId)
      }
      return call
    },
    legs(account, callId) {
      const call = read(account, callId)
      return call ? [callId, ...legsIn(call.others)] : []
    },
    remove(account, call) {
      removeFromLegs(account, call)
      remove(call.key)
      cache.delete(cacheKey(account, call.callId))
    },
    removeForeign(account, key) {
      const call = referenced.get(key)
      if (!call) return
      removeFromLegs(account, call)
      for (const other of legsIn(call.others)) {
        const leg = read(account, other)
        if (leg?.others === null) removeUnreferenced(account, leg)
      }
      if (!removeUnreferenced(account, call)) setLegs(read(account, call.callId)!, [])
    },
    invalidate: () => cache.clear(),
  }
  return phoneCalls
}

function legsIn(others: string | null): readonly string[] {
  return others === null ? [] : (JSON.parse(others) as string[])
}
