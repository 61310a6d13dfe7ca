import { HookswitchError, type NewEvent } from 'hookswitch/store'
import type { AccountKeys } from './account-keys.js'
import type { SqliteHandle } from './driver.js'
import { change, query } from './query.js'

/** What an idempotency key stands for. */
export interface KnownEvent {
  readonly id: string
  readonly sequence: number
}

export interface Idempotency {
  /**
   * The events whose key is known, or came earlier in this very acceptance, by their ids.
   *
   * @throws HookswitchError `Conflict` (field `idempotencyKey`) for a key that was used for another event
   */
  duplicates(events: readonly NewEvent[], now: number): ReadonlySet<string>
  /** What the key of a duplicate stands for. */
  known(event: NewEvent): KnownEvent
  remember(event: NewEvent, account: number, call: number | null, sequence: number): void
}

interface KeyRow extends KnownEvent {
  readonly bodyHash: string
  readonly untilMs: number
}

const NONE: ReadonlySet<string> = new Set()

export function idempotency(db: SqliteHandle, accounts: AccountKeys): Idempotency {
  const find = query<KeyRow>(
    db,
    `select event_id as "id", sequence, body_hash as "bodyHash", until_ms as "untilMs"
    from hookswitch_idempotency where account = ? and key = ?`,
  )
  const put = change(
    db,
    `insert or replace into hookswitch_idempotency (account, key, event_id, sequence, body_hash, until_ms, call)
    values (?, ?, ?, ?, ?, ?, ?)`,
  )

  function stored({ accountId, idempotency }: NewEvent): KeyRow | undefined {
    const account = accounts.find(accountId)
    return account === undefined ? undefined : find.get(account, idempotency!.key)
  }

  return {
    duplicates(events, now) {
      if (!events.some(({ idempotency }) => idempotency)) return NONE
      const duplicates = new Set<string>()
      const inThis = new Map<string, string>()
      for (const event of events) {
        const { id, accountId, idempotency } = event
        if (!idempotency) continue
        const row = stored(event)
        const name = JSON.stringify([accountId, idempotency.key])
        const known = row && now < row.untilMs ? row.bodyHash : inThis.get(name)
        if (known === undefined) inThis.set(name, idempotency.bodyHash)
        else if (known === idempotency.bodyHash) duplicates.add(id)
        else {
          throw new HookswitchError('Conflict', 'this idempotency key was used for another event', {
            field: 'idempotencyKey',
          })
        }
      }
      return duplicates
    },
    known: (event) => stored(event)!,
    remember({ id, idempotency }, account, call, sequence) {
      const { key, bodyHash, untilMs } = idempotency!
      put(account, key, id, sequence, bodyHash, untilMs, call)
    },
  }
}
