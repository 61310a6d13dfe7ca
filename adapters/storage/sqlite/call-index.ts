/** Stores the call index: events that no webhook wanted, and the calls of numbers. */
import type { CallIndexStore, IndexedCall, UnwantedEvent } from 'hookswitch/store'
import type { EngineContext } from './context.js'
import { hashKey, idHashKey } from './hash-key.js'
import type { Synchronous } from './synchronous.js'

type EventRow = Omit<UnwantedEvent, 'accountId' | 'isInternalLeg'> & {
  readonly account: number
  readonly isInternalLeg: number
}
type CallRow = Omit<IndexedCall, 'accountId'> & { readonly account: number }

const EVENT = `id, account, call_id as "callId", hook, sequence, timestamp_ms as "timestampMs", accepted_ms as "acceptedMs",
  source, internal as "isInternalLeg"`
const CALL = 'account, call_id as "callId", source, accepted_ms as "acceptedMs"'

const TABLES = ['hookswitch_unwanted', 'hookswitch_call_number'] as const

/** @param noteErased called when rows were erased, so that they are scrubbed from the file */
export function createCallIndexStore(
  { prepareQuery, prepareChange, accounts, eventBodies }: EngineContext,
  noteErased: () => void,
): Synchronous<CallIndexStore> {
  const putEvent = prepareChange(`insert into hookswitch_unwanted
      (id_key, id, account, call_key, call_id, hook, sequence, timestamp_ms, accepted_ms, source, internal)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const putNumber =
    prepareChange(`insert into hookswitch_call_number (number, account, call_key, call_id, accepted_ms, source)
    values (?, ?, ?, ?, ?, ?)`)
  const eventById = prepareQuery<EventRow>(
    `select ${EVENT} from hookswitch_unwanted where id_key = ? and id = ?`,
  )
  const eventsOfCall = prepareQuery<EventRow>(`select ${EVENT} from hookswitch_unwanted
    where call_key = ? and call_id = ? and (? is null or account = ?) order by key desc limit ? + 0`)
  const eventsOfAccount = prepareQuery<EventRow>(
    `select ${EVENT} from hookswitch_unwanted where account = ? order by key desc limit ? + 0`,
  )
  const callsOfNumber = prepareQuery<CallRow>(`select ${CALL} from hookswitch_call_number
    where number = ? order by account desc, key desc limit ? + 0`)
  const callsOfNumberAndAccount = prepareQuery<CallRow>(`select ${CALL} from hookswitch_call_number
    where number = ? and account = ? order by key desc limit ? + 0`)
  const callsOfId = prepareQuery<CallRow>(`select ${CALL} from hookswitch_call_number
    where call_key = ? and call_id = ? and (? is null or account = ?) order by key desc limit ? + 0`)
  // Not every build of SQLite supports `delete … limit`.
  const prepareRemovals = (where: string) =>
    TABLES.map((table) =>
      prepareChange(
        `delete from ${table} where key in (select key from ${table} where ${where} order by key limit ? + 0)`,
      ),
    )
  const eraseCall = prepareRemovals('call_key = ? and call_id = ? and +account = ?')
  const eraseAccount = prepareRemovals('account = ?')
  /** The oldest rows have the lowest keys. Trimmed accounts leave gaps in them. */
  const pruneEvents = prepareChange(`delete from hookswitch_unwanted where key in (
      select key from (select key, accepted_ms from hookswitch_unwanted order by key limit ? + 0)
      where accepted_ms < ? or key <= case
        when (select max(key) from hookswitch_unwanted) - (select min(key) from hookswitch_unwanted) >= ?
        then (select key from hookswitch_unwanted order by key desc limit 1 offset ? + 0) end
    )`)
  const pruneNumbers = prepareChange(`delete from hookswitch_call_number where key in (
      select key from (select key, accepted_ms from hookswitch_call_number order by key limit ? + 0)
      where accepted_ms < ? or key <= (select max(key) from hookswitch_call_number) - ?
    )`)
  const trim = prepareChange(`delete from hookswitch_unwanted where key in (
      select key from hookswitch_unwanted where account = ? and key <= (
        select key from hookswitch_unwanted where account = ? order by key desc limit 1 offset ?
      ) order by key limit ? + 0
    )`)

  const eventOf = ({ account, isInternalLeg, ...event }: EventRow): UnwantedEvent => ({
    ...event,
    accountId: accounts.idOf(account),
    isInternalLeg: isInternalLeg === 1,
  })
  const callOf = ({ account, ...call }: CallRow): IndexedCall => ({
    ...call,
    accountId: accounts.idOf(account),
  })

  return {
    write({ events, numbers }) {
      for (const event of events) {
        const { id, callId, hook, sequence, timestampMs, acceptedMs, source } = event
        if (!eventBodies.find(id) || eventById.get(idHashKey(id), id)) continue
        const account = accounts.findOrCreate(event.accountId)
        const internal = Number(event.isInternalLeg)
        const [idKey, callKey] = [idHashKey(id), hashKey(callId)]
        putEvent(
          idKey,
          id,
          account,
          callKey,
          callId,
          hook,
          sequence,
          timestampMs,
          acceptedMs,
          source,
          internal,
        )
      }
      for (const { number, accountId, callId, acceptedMs, source, eventId } of numbers) {
        if (!eventBodies.find(eventId)) continue
        putNumber(number, accounts.findOrCreate(accountId), hashKey(callId), callId, acceptedMs, source)
      }
    },
    events({ accountId, callIds, eventId, limit }) {
      const account = accountId === undefined ? undefined : accounts.find(accountId)
      if (accountId !== undefined && account === undefined) return []
      const rows =
        eventId !== undefined
          ? [eventById.get(idHashKey(eventId), eventId)].flatMap((row) => row ?? [])
          : callIds !== undefined
            ? callIds.flatMap((callId) =>
                eventsOfCall.all(hashKey(callId), callId, account ?? null, account ?? null, limit),
              )
            : eventsOfAccount.all(account!, limit)
      return rows
        .filter((row) => account === undefined || row.account === account)
        .sort((a, b) => b.acceptedMs - a.acceptedMs)
        .slice(0, limit)
        .map(eventOf)
    },
    calls({ accountId, numbers = [], callId, limit }) {
      const account = accountId === undefined ? undefined : accounts.find(accountId)
      if (accountId !== undefined && account === undefined) return []
      const rows = numbers.flatMap((number) =>
        account === undefined
          ? callsOfNumber.all(number, limit)
          : callsOfNumberAndAccount.all(number, account, limit),
      )
      if (callId !== undefined)
        rows.push(...callsOfId.all(hashKey(callId), callId, account ?? null, account ?? null, limit))
      return rows
        .sort((a, b) => b.acceptedMs - a.acceptedMs)
        .slice(0, limit)
        .map(callOf)
    },
    erase({ accountId, callIds }, limit) {
      const account = accounts.find(accountId)
      if (account === undefined) return 0
      let left = limit
      for (const remove of callIds ? [] : eraseAccount) left -= remove(account, left)
      for (const callId of callIds ?? [])
        for (const remove of eraseCall) left -= remove(hashKey(callId), callId, account, left)
      if (left < limit) noteErased()
      return limit - left
    },
    trim(accountId, keep, limit) {
      const account = accounts.find(accountId)
      return account === undefined ? 0 : trim(account, account, keep, limit)
    },
    prune: ({ events, numbers }, limit) =>
      pruneEvents(limit, events.beforeMs, events.max, events.max) +
      pruneNumbers(limit, numbers.beforeMs, numbers.max),
  }
}
