import type { Erasure } from '../delivery/erasure-store.js'
import {
  fromStoredReplay,
  hasEnded,
  type ReplayJob,
  toStoredReplay,
  withState,
} from '../delivery/replay-job.js'
import type { StoredReplay } from '../delivery/replay-store.js'
import { type Failure, invalidInput, unknownFields } from '../errors.js'
import type { Store } from '../store/contract.js'
import { NUMBER_RULE, normalizeNumber, searchedNumber } from '../values/phone-number.js'
import { yieldingOf } from '../values/yielding.js'
import type { Core } from './core.js'
import { isWebhookJob } from './webhook-job.js'

/** What to erase: one call, all calls of a number, or, with neither, everything recorded about an account's calls. */
export type EraseRequest = {
  readonly accountId: string
  readonly callId?: string | undefined
  readonly number?: string | undefined
}
export type EraseResult = { readonly callIds?: readonly string[]; readonly rows: number }

/** Rows removed, or bodies searched, per statement: a larger batch would delay calls of the store that wait behind it. */
const BATCH = 200

/** Calls of a number that are read from the call index: more than there are unwanted events of one account. */
const MAX_INDEXED = 100_000

/** Stands for a call or number in the request of a replay. */
const ERASED = '[erased]'

const KEYS = ['accountId', 'callId', 'number']

/**
 * Erases the records of calls permanently: events, deliveries (pending ones too), attempts, numbers, legs, keys, and what
 * sources keep of open legs, the call index; replay jobs no longer name them. For a whole account also its deleted webhooks and replay jobs; its live webhooks, tokens and users have their own operations.
 *
 * @throws `InvalidInput` naming the field, `StoreUnavailable`
 */
export async function erase(
  { store, clock, auth, callIndex }: Core,
  request: EraseRequest,
): Promise<EraseResult> {
  const failures = validate(request)
  if (failures.length > 0) throw invalidInput(failures)
  const { deliveries, openLegs } = store
  const { accountId, callId, number } = request
  // What this node has noted is written now, and erased with the rest.
  await callIndex.flush()

  async function findCallsMentioning(text: string): Promise<string[]> {
    const found = new Set(await openLegs.mentions(accountId, text))
    // Events that no webhook wanted have no body.
    const numbers = callIndex.hashesOf(text)
    const indexed = await store.callIndex.calls({ accountId, numbers, limit: MAX_INDEXED })
    for (const call of indexed) found.add(call.callId)
    let cursor: number | undefined
    do {
      const page = await deliveries.mentions(accountId, text, cursor, BATCH)
      for (const id of page.callIds) found.add(id)
      cursor = page.cursor
      await clock.yield()
    } while (cursor !== undefined)
    return [...found]
  }

  async function eraseInBatches(erasure: Erasure): Promise<number> {
    let rows = 0
    // The call index last: what is written to it afterwards finds no event.
    for (const port of [deliveries, openLegs, store.callIndex]) {
      for (;;) {
        const count = await port.erase(erasure, BATCH)
        if (count === 0) break
        rows += count
        await clock.yield()
      }
    }
    return rows
  }

  /** The jobs, which may name calls and numbers. Their replays are erased with the events. */
  async function eraseReplays(): Promise<number> {
    for (let rows = 0; ; ) {
      const count = await store.replays.erase(accountId, BATCH)
      if (count === 0) return rows
      rows += count
    }
  }

  if (callId === undefined && number === undefined) {
    const rows = (await eraseInBatches({ accountId })) + (await eraseReplays())
    await deliveries.scrub()
    return { rows }
  }
  const calls = callId === undefined ? await findCallsMentioning(searchedNumber(number)!) : [callId]
  const legs = new Set(calls)
  for (const call of calls) {
    for (const leg of await deliveries.legs(accountId, call)) legs.add(leg)
    await yieldingOf(clock).whenDue(accountId)
  }
  const callIds = [...legs]
  const accounts = (await auth.lineages.lineage(accountId)).map(({ id }) => id)
  await eraseFromReplays(store, { accounts, callIds, number }, Math.floor(clock.now()))
  let rows = 0
  for (let from = 0; from < callIds.length; from += BATCH) {
    rows += await eraseInBatches({ accountId, callIds: callIds.slice(from, from + BATCH) })
  }
  await deliveries.scrub()
  return { callIds, rows }
}

/** What jobs must not name any more. */
interface NamedCalls {
  /** Of these accounts and of operators: the one that is erased, and those above it. Empty: of any account. */
  readonly accounts: readonly string[]
  readonly callIds: readonly string[]
  readonly number: string | undefined
}

const isSameNumber = (first: string | undefined, second: string | undefined) =>
  first !== undefined && second !== undefined && normalizeNumber(first) === normalizeNumber(second)

/** The job without the call or number that it names, ended; `undefined`: it names none of them. */
function withoutCalls(job: ReplayJob, { accounts, callIds, number }: NamedCalls, now: number) {
  const { callId, number: named, ...request } = job.request
  const { accountId } = request
  if (accountId !== undefined && accounts.length > 0 && !accounts.includes(accountId)) return undefined
  const isNamed = callId !== undefined && callIds.includes(callId)
  if (!isNamed && !isSameNumber(named, number)) return undefined
  const ended = hasEnded(job) ? job : withState(job, 'cancelled', now)
  const erased = {
    ...request,
    ...(callId !== undefined && { callId: ERASED }),
    ...(named !== undefined && { number: ERASED }),
  }
  return { ...ended, request: erased, revision: job.revision + 1 }
}

/** Jobs that name an erased call or number end, and no longer name it. */
async function eraseFromReplays(
  { replays }: Pick<Store, 'replays'>,
  calls: NamedCalls,
  now: number,
): Promise<void> {
  for (let after: StoredReplay | undefined; ; ) {
    const page = await replays.list({ limit: BATCH, ...(after && { after }) })
    for (let stored of page) {
      // Those that change webhooks name no call.
      for (; !isWebhookJob(stored); ) {
        const erased = withoutCalls(fromStoredReplay(stored), calls, now)
        if (!erased || (await replays.replace(toStoredReplay(erased)))) break
        // Its progress was written meanwhile, or it was pruned.
        const changed = await replays.read(stored.id)
        if (!changed) break
        stored = changed
      }
    }
    after = page.at(-1)
    if (page.length < BATCH) return
  }
}

function validate(request: unknown): Failure[] {
  if (typeof request !== 'object' || request === null) {
    return [{ path: '', rule: 'type', message: 'must be an object', target: 'object' }]
  }
  const { accountId, callId, number } = request as Record<string, unknown>
  const failures: Failure[] = [...unknownFields(request, 'an erase request', KEYS)]
  const add = (path: string, message: string) => failures.push({ path, rule: 'error', message })
  if (typeof accountId !== 'string' || accountId === '') add('accountId', 'must be an id')
  if (callId !== undefined && (typeof callId !== 'string' || callId === '')) add('callId', 'must be an id')
  if (number !== undefined && searchedNumber(number) === undefined) add('number', NUMBER_RULE)
  if (callId !== undefined && number !== undefined) add('number', 'must not be combined with a call')
  return failures
}
