/** Finds the webhooks and deliveries that a replay is over. */
import type { StoredDelivery } from '../delivery/delivery-queries.js'
import { type ReplayRequest, statesOf } from '../delivery/replay-selection.js'
import { invalidInput } from '../errors.js'
import { searchedNumber } from '../values/phone-number.js'
import { hasHost } from '../webhooks/manage.js'
import type { Core } from './core.js'

/** A webhook of a replay. */
export interface ReplayTarget {
  readonly webhookId: string
  readonly accountId: string
}

/** The deliveries of some calls to one webhook, oldest first. */
interface ReplayedCalls extends ReplayTarget {
  rows: StoredDelivery[]
}

type Deps = Pick<Core, 'store' | 'accounts' | 'clock'> & {
  /** Aborts the search. */
  readonly stopping?: AbortSignal | undefined
}

/** Rows read at a time. */
const PAGE = 500
/** Events of which one call of the store searches the bodies, as in an erasure. */
const NUMBERS_PAGE = 200
/** Most calls in which a number may occur: their deliveries are in memory. */
const MAX_CALLS = 10_000

/**
 * The webhooks of a replay: one, those of an account and of all below it, or all.
 *
 * @param isAlone without the accounts below
 */
export async function replayTargets(
  { store, accounts, clock, stopping }: Deps,
  { accountId, webhookId, host }: ReplayRequest,
  isAlone = false,
): Promise<ReplayTarget[]> {
  if (accountId !== undefined && webhookId !== undefined) return [{ accountId, webhookId }]
  const all = accountId === undefined ? await allTargets({ store, clock, stopping }) : []
  if (accountId === undefined && host === undefined) return all
  const ids =
    accountId === undefined
      ? [...new Set(all.map((target) => target.accountId))]
      : [accountId, ...(isAlone ? [] : await accounts.descendants(accountId))]
  const targets: ReplayTarget[] = []
  for (let from = 0; from < ids.length; from += PAGE) {
    stopping?.throwIfAborted()
    for (const webhook of await store.webhooks.list(ids.slice(from, from + PAGE)))
      if (host === undefined || hasHost(webhook, host))
        targets.push({ webhookId: webhook.id, accountId: webhook.accountId })
    await clock.yield()
  }
  return targets
}

async function allTargets({ store, clock, stopping }: Omit<Deps, 'accounts'>): Promise<ReplayTarget[]> {
  const targets: ReplayTarget[] = []
  for (let after: string | undefined; ; await clock.yield()) {
    stopping?.throwIfAborted()
    const page = await store.webhooks.ids(PAGE, after)
    for (const { id, accountId } of page) targets.push({ webhookId: id, accountId })
    after = page.at(-1)?.id
    if (page.length < PAGE) return targets
  }
}

/**
 * The deliveries of the calls that a request names by id or number, by webhook. `undefined`: it names none, and is over
 * all deliveries of its webhooks.
 */
export async function findDeliveriesOfCalls(
  deps: Deps,
  request: ReplayRequest,
  targets: readonly ReplayTarget[],
): Promise<ReplayedCalls[] | undefined> {
  const { store, clock, stopping } = deps
  const { callId, number, createdFromMs, createdToMs, webhookId } = request
  if (callId === undefined && number === undefined) return undefined
  const ofNumber = number === undefined ? undefined : await callsOf(deps, request)
  const callIds = callId === undefined ? ofNumber! : [callId].filter((id) => ofNumber?.includes(id) ?? true)
  const found = new Map(
    targets.map((target): [string, ReplayedCalls] => [target.webhookId, { ...target, rows: [] }]),
  )
  for (const callId of callIds) {
    for (let cursor: number | undefined; ; await clock.yield()) {
      stopping?.throwIfAborted()
      const page = await store.deliveries.search({
        callId: callId,
        states: statesOf(request),
        limit: PAGE,
        ...(webhookId !== undefined && { webhookId }),
        ...(createdFromMs !== undefined && { fromMs: createdFromMs }),
        ...(createdToMs !== undefined && { toMs: createdToMs }),
        ...(cursor !== undefined && { cursor }),
      })
      for (const row of page.deliveries)
        if (row.replayOf === undefined) found.get(row.webhookId)?.rows.push(row)
      cursor = page.cursor
      if (cursor === undefined) break
    }
  }
  const calls = [...found.values()].filter(({ rows }) => rows.length > 0)
  for (const { rows } of calls) rows.sort((a, b) => a.position - b.position)
  return calls
}

/** The calls of the accounts in which a number occurs. */
async function callsOf(
  { store, accounts, clock, stopping }: Deps,
  { accountId, number }: ReplayRequest,
): Promise<string[]> {
  const ids = accountId === undefined ? [] : [accountId, ...(await accounts.descendants(accountId))]
  const found = new Set<string>()
  for (const id of ids) {
    for (let cursor: number | undefined; ; await clock.yield()) {
      stopping?.throwIfAborted()
      const page = await store.deliveries.mentions(id, searchedNumber(number)!, cursor, NUMBERS_PAGE)
      for (const callId of page.callIds) found.add(callId)
      if (found.size > MAX_CALLS) throw tooManyCalls()
      cursor = page.cursor
      if (cursor === undefined) break
    }
  }
  return [...found]
}

function tooManyCalls() {
  const message = `occurs in more than ${MAX_CALLS} calls`
  return invalidInput([{ path: 'number', rule: 'error', message }])
}
