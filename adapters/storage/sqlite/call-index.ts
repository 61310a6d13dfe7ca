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

/** Removes the oldest rows of one kind. They have the lowest keys; trimmed accounts leave gaps in them. */
function prepareTrimming({ prepareQuery, prepareChange }: EngineContext, table: (typeof TABLES)[number]) {
  /** 0: there are surely no more than so many. Counting reads fewer pages than skipping rows. */
  const countAbove = prepareQuery<{ readonly rows: number }>(`select case
      when (select max(key) from ${table}) - (select min(key) from ${table}) >= ?
      then (select count(*) from ${table}) else 0 end as rows`)
  const nth = prepareQuery<{ readonly key: number }>(
    `select key from ${table} order by key limit 1 offset ? + 0`,
  )
  const nthOfAccount = prepareQuery<{ readonly key: number }>(
    `select key from ${table} where account = ? order by key desc limit 1 offset ? + 0`,
  )
  return {
    excess(keep: number): number {
      const { rows } = countAbove.get(keep)!
      return rows <= keep ? 0 : (nth.get(rows - keep - 1)?.key ?? 0)
    },
    excessOfAccount: (account: number, keep: number) => nthOfAccount.get(account, keep)?.key ?? 0,
    trim: prepareChange(`delete from ${table} where key in (
      select key from ${table} where account = ? and key <= ? order by key limit ? + 0
    )`),
    prune: prepareChange(`delete from ${table} where key in (
      select key from (select key, accepted_ms from ${table} order by key limit ? + 0)
      where accepted_ms < ? or key <= ?
    )`),
  }
}

/** @param noteErased called when rows were erased, so that they are scrubbed from the file */
export function createCallIndexStore(
  context: EngineContext,
  noteErased: () => void,
): Synchronous<CallIndexStore> {
  const { prepareQuery, prepareChange, accounts, eventBodies } = context
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
  const trimming = {
    events: prepareTrimming(context, 'hookswitch_unwanted'),
    numbers: prepareTrimming(context, 'hookswitch_call_number'),
  }

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
    excess(kind, keep, accountId) {
      if (accountId === undefined) return trimming[kind].excess(keep)
      const account = accounts.find(accountId)
      return account === undefined ? 0 : trimming[kind].excessOfAccount(account, keep)
    },
    trim(kind, accountId, upTo, limit) {
      const account = accounts.find(accountId)
      return account === undefined ? 0 : trimming[kind].trim(account, upTo, limit)
    },
    prune: ({ events, numbers }, limit) =>
      trimming.events.prune(limit, events.beforeMs, events.upTo) +
      trimming.numbers.prune(limit, numbers.beforeMs, numbers.upTo),
  }
}
