/** What each account has recorded of phone calls: the number of events, and the other legs. */
import { linkedLeg } from 'hookswitch/store'
import { LRUCache } from 'lru-cache'
import { detached } from './account-keys.js'
import { hashKey } from './hash-key.js'
import type { Statements } from './query.js'

export interface PhoneCall {
  /** 0: it has no row yet. */
  key: number
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
  /** All accounts that have recorded a call with this id. */
  withId(callId: string): readonly (PhoneCall & { readonly account: number })[]
  /** The call; one without a row if the account has not recorded it. `save` must follow. */
  open(account: number, callId: string): PhoneCall
  /**
   * Writes the call after an event or a delivery of it. The call and the other leg become legs of each other.
   *
   * @returns the key of its row
   */
  save(account: number, call: PhoneCall, otherLegCallId: string | undefined, now: number): number
  legs(account: number, callId: string): readonly string[]
  /** Deletes the call, also from the legs of other calls. */
  remove(account: number, call: PhoneCall): void
  /**
   * Deletes what an account has recorded of a call because of another account's events: its legs, and the calls that have
   * no data of the account itself.
   */
  removeForeign(account: number, call: PhoneCall): void
  /** Deletes a call, also from the legs of other calls, if the account has no events of it and no row refers to it. */
  removeUnused(account: number, call: PhoneCall): void
  /** Clears the cache: rows have changed in another way. */
  invalidate(): void
}

/** Whether an idempotency key belongs to a call `c`, or any account has an event of it. */
export const IS_REFERENCED_SQL = `exists (select 1 from hookswitch_idempotency where call = c.key)
  or exists (
    select 1 from hookswitch_call o join hookswitch_event e on e.call = o.key where o.call_key = c.call_key
  )`

const COLUMNS = 'key, call_id as "callId", sequence, last_ms as "lastMs", others'

/** Active calls: the next event of a cached call does not read its row. About 350 bytes each. */
const MAX_CACHED = 20_000

export function createPhoneCalls({ prepareQuery, prepareChange, prepareInsert }: Statements): PhoneCalls {
  const find = prepareQuery<PhoneCall>(
    `select ${COLUMNS} from hookswitch_call where call_key = ? and account = ? and call_id = ?`,
  )
  const withId = prepareQuery<PhoneCall & { readonly account: number }>(
    `select ${COLUMNS}, account from hookswitch_call where call_key = ? and call_id = ?`,
  )
  const ofAccount = prepareQuery<PhoneCall>(
    `select ${COLUMNS} from hookswitch_call where account = ? limit ? + 0`,
  )
  const insert = prepareInsert(
    'insert into hookswitch_call (account, call_key, sequence, last_ms, call_id) values (?, ?, ?, ?, ?)',
  )
  const update = prepareChange('update hookswitch_call set sequence = ?, last_ms = ? where key = ?')
  const setOthers = prepareChange('update hookswitch_call set others = ? where key = ?')
  const remove = prepareChange('delete from hookswitch_call where key = ?')
  const referenced = prepareQuery<{ readonly referenced: number }>(
    `select ${IS_REFERENCED_SQL} as referenced from hookswitch_call c where key = ?`,
  )
  // Bounded by size: `max` would allocate the memory of all entries at once.
  const cache = new LRUCache<string, PhoneCall>({ maxSize: MAX_CACHED, sizeCalculation: () => 1 })
  const cacheKey = (account: number, callId: string) => `${account}/${callId}`

  function read(account: number, callId: string): PhoneCall | undefined {
    const key = cacheKey(account, callId)
    const cached = cache.get(key)
    if (cached) return cached
    const call = find.get(hashKey(callId), account, callId)
    if (call) cache.set(key, call)
    return call
  }

  function open(account: number, callId: string): PhoneCall {
    const found = read(account, callId)
    if (found) return found
    const created: PhoneCall = { key: 0, callId: detached(callId), sequence: 0, lastMs: 0, others: null }
    cache.set(cacheKey(account, created.callId), created)
    return created
  }

  function write(account: number, call: PhoneCall, now: number): void {
    call.lastMs = Math.max(call.lastMs, now)
    const { key, callId, sequence, lastMs } = call
    if (key > 0) update(sequence, lastMs, key)
    else call.key = insert(account, hashKey(callId), sequence, lastMs, callId)
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

  return {
    find: read,
    list: (account, limit) => ofAccount.all(account, limit),
    withId: (callId) => withId.all(hashKey(callId), callId),
    open,
    save(account, call, otherLegCallId, now) {
      write(account, call, now)
      const other = linkedLeg(call.callId, otherLegCallId)
      if (other !== undefined) {
        addLeg(call, other)
        const leg = open(account, other)
        write(account, leg, now)
        addLeg(leg, call.callId)
      }
      return call.key
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
    removeForeign(account, call) {
      removeFromLegs(account, call)
      for (const other of legsIn(call.others)) {
        const leg = read(account, other)
        if (leg?.others === null) removeUnreferenced(account, leg)
      }
      if (!removeUnreferenced(account, call)) setLegs(read(account, call.callId)!, [])
    },
    removeUnused(account, call) {
      if (removeUnreferenced(account, call)) removeFromLegs(account, call)
    },
    invalidate: () => cache.clear(),
  }
}

function legsIn(others: string | null): readonly string[] {
  return others === null ? [] : (JSON.parse(others) as string[])
}
