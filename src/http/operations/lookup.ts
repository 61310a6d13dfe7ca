/** What an id or a name belongs to. */
import { type Account, normalizeAccountName } from '../../accounts/account.js'
import type { StoredDelivery } from '../../delivery/delivery-queries.js'
import { errorCode, invalidInput } from '../../errors.js'
import type { Core } from '../../runtime/core.js'
import { isId } from '../../values/ids.js'
import { type LookedUp, lookedUpJson } from '../../wire/lookup-json.js'
import { getQueryValue } from '../../wire/query.js'
import {
  accountIdOf,
  accountNames,
  isCallId,
  type Operation,
  type OperationContext,
  type OperationResult,
} from './context.js'

/** Accounts that are found by name. */
const MAX_ACCOUNTS = 10
/** Deliveries of a call among which its accounts are looked for. */
const MAX_DELIVERIES = 200

/** `q` of the query. Throws `InvalidInput`. */
function soughtOf({ query }: OperationContext): string {
  const sought = getQueryValue(query, 'q')
  if (!sought) throw invalidInput([{ path: 'q', rule: 'required', message: 'Field is required but missing' }])
  return sought
}

/** @param found what exists of all that can have the id; nothing is an empty list, not an error */
async function resultOf(
  { deps }: OperationContext,
  found: readonly (LookedUp | undefined)[],
): Promise<OperationResult> {
  const all = found.flatMap((item) => item ?? [])
  const names = await accountNames(
    deps,
    all.map(({ accountId }) => accountId),
  )
  return { data: all.map((item) => lookedUpJson({ ...item, accountName: names.get(item.accountId) })) }
}

const deliveryFound = ({ id, accountId, hook }: StoredDelivery): LookedUp => ({
  type: 'delivery',
  id,
  accountId,
  label: hook,
})

/** @param accountId of its webhook; `undefined`: of any */
async function findDelivery({ store }: Core, id: string, accountId?: string): Promise<LookedUp | undefined> {
  const delivery = await store.deliveries.delivery(accountId, id)
  return delivery && deliveryFound(delivery)
}

/** An event of which a delivery is stored. @param accountId of a webhook that it was for; `undefined`: of any */
async function findEvent({ store }: Core, id: string, accountId?: string): Promise<LookedUp | undefined> {
  const event = await store.deliveries.eventOf(accountId, id)
  return event && { type: 'event', id, accountId: accountId ?? event.accountId, label: event.hook }
}

/** @param accountId `undefined`: of any */
async function findWebhook({ store }: Core, id: string, accountId?: string): Promise<LookedUp | undefined> {
  const webhook = await store.deliveries.webhookOf(id)
  if (!webhook || webhook.deletedMs !== undefined) return undefined
  if (accountId !== undefined && webhook.accountId !== accountId) return undefined
  return { type: 'webhook', id, accountId: webhook.accountId, label: webhook.settings.name }
}

/** Names everything of the account that has this id. */
export const lookUp: Operation = async (context) => {
  const sought = soughtOf(context)
  const accountId = accountIdOf(context)
  const core = context.deps.core()
  const [legs, ...others] = await Promise.all([
    isCallId(sought) ? core.store.deliveries.legs(accountId, sought) : [],
    ...(isId(sought)
      ? [findWebhook, findDelivery, findEvent].map((find) => find(core, sought, accountId))
      : []),
  ])
  const call: LookedUp | undefined = legs.length > 0 ? { type: 'call', id: sought, accountId } : undefined
  return resultOf(context, [...others, call])
}

/** The call in each account that has a delivery of it. */
async function findCalls({ store }: Core, callId: string): Promise<readonly LookedUp[]> {
  const { deliveries } = await store.deliveries.search({ callId, limit: MAX_DELIVERIES })
  const accountIds = new Set(deliveries.map(({ accountId }) => accountId))
  return [...accountIds].slice(0, MAX_ACCOUNTS).map((accountId) => ({ type: 'call', id: callId, accountId }))
}

/** The accounts with this id, or whose name begins with this text; of a host's directory those that have this name. */
async function findAccounts({ admin, auth }: Core, sought: string): Promise<readonly LookedUp[]> {
  const text = normalizeAccountName(sought)
  const [[byId], byName] = await Promise.all([
    isId(sought) ? auth.lineages.lineage(sought) : [],
    text === '' ? [] : accountsByName({ admin, auth }, text),
  ])
  const found = new Map([...(byId ? [byId] : []), ...byName].map((account) => [account.id, account]))
  return [...found.values()].map(({ id, realm }) => ({ type: 'account', id, accountId: id, label: realm }))
}

async function accountsByName(
  { admin, auth }: Pick<Core, 'admin' | 'auth'>,
  text: string,
): Promise<readonly Account[]> {
  try {
    return await admin.page({ prefix: { of: 'name', text }, ascending: true, limit: MAX_ACCOUNTS })
  } catch (thrown) {
    if (errorCode(thrown) !== 'Unsupported') throw thrown
    return (await auth.directory.accountsByName(text)).slice(0, MAX_ACCOUNTS)
  }
}

/** Names everything that has this id, and the accounts whose name begins like that. */
export const lookUpAnywhere: Operation = async (context) => {
  const sought = soughtOf(context)
  const core = context.deps.core()
  const [accounts, calls, ...others] = await Promise.all([
    findAccounts(core, sought),
    isCallId(sought) ? findCalls(core, sought) : [],
    ...(isId(sought) ? [findWebhook, findDelivery, findEvent].map((find) => find(core, sought)) : []),
  ])
  return resultOf(context, [...others, ...calls, ...accounts])
}
