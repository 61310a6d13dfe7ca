/** Idempotency keys: detects events that were published before. */
import { HookswitchError, type NewEvent } from 'hookswitch/store'
import type { AccountKeys } from './account-keys.js'
import type { SqliteHandle } from './driver.js'
import { prepareChange, prepareQuery } from './query.js'

/** The event that first used an idempotency key. */
export interface OriginalEvent {
  readonly id: string
  readonly sequence: number
}

export interface Idempotency {
  /**
   * Returns the ids of the events whose key is stored, or is used by an earlier event of the same acceptance.
   *
   * @throws HookswitchError `Conflict` (field `idempotencyKey`) for a key that was used for another event
   */
  duplicates(events: readonly NewEvent[], now: number): ReadonlySet<string>
  /** The event that a duplicate repeats. */
  originalOf(event: NewEvent): OriginalEvent
  store(event: NewEvent, account: number, call: number | null, sequence: number): void
}

interface KeyRow extends OriginalEvent {
  readonly bodyHash: string
  readonly untilMs: number
}

const NONE: ReadonlySet<string> = new Set()

export function createIdempotency(db: SqliteHandle, accounts: AccountKeys): Idempotency {
  const find = prepareQuery<KeyRow>(
    db,
    `select event_id as "id", sequence, body_hash as "bodyHash", until_ms as "untilMs"
    from hookswitch_idempotency where account = ? and key = ?`,
  )
  const put = prepareChange(
    db,
    `insert or replace into hookswitch_idempotency (account, key, event_id, sequence, body_hash, until_ms, call)
    values (?, ?, ?, ?, ?, ?, ?)`,
  )

  function storedRow({ accountId, idempotency }: NewEvent): KeyRow | undefined {
    const account = accounts.find(accountId)
    return account === undefined ? undefined : find.get(account, idempotency!.key)
  }

  return {
    duplicates(events, now) {
      if (!events.some(({ idempotency }) => idempotency)) return NONE
      const duplicates = new Set<string>()
      const hashesOfAcceptance = new Map<string, string>()
      for (const event of events) {
        const { id, accountId, idempotency } = event
        if (!idempotency) continue
        const row = storedRow(event)
        const mapKey = JSON.stringify([accountId, idempotency.key])
        const bodyHash = row && now < row.untilMs ? row.bodyHash : hashesOfAcceptance.get(mapKey)
        if (bodyHash === undefined) hashesOfAcceptance.set(mapKey, idempotency.bodyHash)
        else if (bodyHash === idempotency.bodyHash) duplicates.add(id)
        else {
          throw new HookswitchError('Conflict', 'this idempotency key was used for another event', {
            field: 'idempotencyKey',
          })
        }
      }
      return duplicates
    },
    originalOf: (event) => storedRow(event)!,
    store({ id, idempotency }, account, call, sequence) {
      const { key, bodyHash, untilMs } = idempotency!
      put(account, key, id, sequence, bodyHash, untilMs, call)
    },
  }
}
