import type { SqliteHandle } from './driver.js'
import { change, query } from './query.js'
import { recent } from './recent.js'
import { textKey } from './text-key.js'

export interface Call {
  readonly key: number
  readonly callId: string
  /** The number of its newest event. */
  sequence: number
  /** Store time of that, ms. */
  lastMs: number
  /** Other legs, in the order in which they were seen: JSON; null: none. */
  others: string | null
}

/** What each account knows of calls: how many events there were, and which other legs. */
export interface Calls {
  find(account: number, callId: string): Call | undefined
  /** Calls of an account, some of them. */
  some(account: number, limit: number): readonly Call[]
  /**
   * The call as this account knows it from now on. It and the other leg are legs of each other.
   *
   * @param numbered whether this is an event that takes the next number
   */
  note(account: number, callId: string, other: string | undefined, now: number, numbered: boolean): Call
  legs(account: number, callId: string): readonly string[]
  /** Forgets the call, and that it was a leg of others. */
  remove(account: number, call: Call): void
  /**
   * Forgets what an account learned of a call from events of another one: its legs, and the calls themselves where it
   * has nothing of its own.
   */
  removeLearned(account: number, key: number): void
  /** Rows may have changed without our doing. */
  forget(): void
}

/** What refers to a call `c` by its key. */
export const USES = `exists (select 1 from hookswitch_attempt where call = c.key)
  or exists (select 1 from hookswitch_event where call = c.key)
  or exists (select 1 from hookswitch_delivery where call = c.key)
  or exists (select 1 from hookswitch_idempotency where call = c.key)`

const COLUMNS = 'key, call_id as "callId", sequence, last_ms as "lastMs", others'

/** Calls under way, whose next event need not read them. */
const REMEMBERED = 10_000

export function calls(db: SqliteHandle): Calls {
  const find = query<Call>(
    db,
    `select ${COLUMNS} from hookswitch_call where account = ? and call_key = ? and call_id = ?`,
  )
  const some = query<Call>(db, `select ${COLUMNS} from hookswitch_call where account = ? limit ? + 0`)
  const insert = db.prepare(
    'insert into hookswitch_call (account, call_key, sequence, last_ms, call_id) values (?, ?, ?, ?, ?)',
  )
  const update = change(db, 'update hookswitch_call set sequence = ?, last_ms = ? where key = ?')
  const setOthers = change(db, 'update hookswitch_call set others = ? where key = ?')
  const remove = change(db, 'delete from hookswitch_call where key = ?')
  const used = query<Call & { readonly used: number }>(
    db,
    `select ${COLUMNS}, ${USES} as used from hookswitch_call c where key = ?`,
  )
  const known = recent<string, Call>(REMEMBERED)
  const nameOf = (account: number, callId: string) => `${account}/${callId}`

  function read(account: number, callId: string): Call | undefined {
    const name = nameOf(account, callId)
    const call = known.get(name) ?? find.get(account, textKey(callId), callId)
    if (call) known.set(name, call)
    return call
  }

  function touch(account: number, callId: string, now: number, numbered: boolean): Call {
    const call = read(account, callId)
    if (call) {
      if (numbered) call.sequence += 1
      call.lastMs = Math.max(call.lastMs, now)
      update(call.sequence, call.lastMs, call.key)
      return call
    }
    const sequence = numbered ? 1 : 0
    const key = Number(insert.run(account, textKey(callId), sequence, now, callId).lastInsertRowid)
    const made: Call = { key, callId, sequence, lastMs: now, others: null }
    known.set(nameOf(account, callId), made)
    return made
  }

  function writeLegs(call: Call, legs: readonly string[]): void {
    call.others = legs.length === 0 ? null : JSON.stringify(legs)
    setOthers(call.others, call.key)
  }

  function addLeg(call: Call, callId: string): void {
    const legs = legsIn(call.others)
    if (!legs.includes(callId)) writeLegs(call, [...legs, callId])
  }

  function leaveOthers(account: number, { callId, others }: Call): void {
    for (const other of legsIn(others)) {
      const leg = read(account, other)
      if (leg)
        writeLegs(
          leg,
          legsIn(leg.others).filter((one) => one !== callId),
        )
    }
  }

  /** False: it had events of this account, or something is kept of it. */
  function removeUnused(account: number, call: Call): boolean {
    if (call.sequence > 0 || used.get(call.key)?.used !== 0) return false
    remove(call.key)
    known.delete(nameOf(account, call.callId))
    return true
  }

  const all: Calls = {
    find: read,
    some: (account, limit) => some.all(account, limit),
    note(account, callId, other, now, numbered) {
      const call = touch(account, callId, now, numbered)
      if (other !== undefined && other !== callId) {
        addLeg(call, other)
        addLeg(touch(account, other, now, false), callId)
      }
      return call
    },
    legs(account, callId) {
      const call = read(account, callId)
      return call ? [callId, ...legsIn(call.others)] : []
    },
    remove(account, call) {
      leaveOthers(account, call)
      remove(call.key)
      known.delete(nameOf(account, call.callId))
    },
    removeLearned(account, key) {
      const call = used.get(key)
      if (!call) return
      leaveOthers(account, call)
      for (const other of legsIn(call.others)) {
        const leg = read(account, other)
        if (leg?.others === null) removeUnused(account, leg)
      }
      if (!removeUnused(account, call)) writeLegs(read(account, call.callId)!, [])
    },
    forget: known.clear,
  }
  return all
}

function legsIn(others: string | null): readonly string[] {
  return others === null ? [] : (JSON.parse(others) as string[])
}
