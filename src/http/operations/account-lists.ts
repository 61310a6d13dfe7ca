/** Lists of accounts: all, children, descendants, siblings, ancestors; and the search. */
import { type Account, normalizeAccountName, normalizeRealmForSearch } from '../../accounts/account.js'
import type { AccountQuery } from '../../accounts/account-store.js'
import { type Failure, HookswitchError, invalidInput, notFound } from '../../errors.js'
import {
  accountJson,
  accountSummaryJson,
  ancestorJson,
  anyAccountJson,
  childJson,
  descendantJson,
} from '../../wire/account-json.js'
import { getQueryValue } from '../../wire/query.js'
import type { JsonObject } from '../../wire/webhook-json.js'
import { sortedRows } from '../paginate.js'
import {
  accountIdOf,
  callerRights,
  listResult,
  type Operation,
  type OperationContext,
  type OperationResult,
  readListRequest,
} from './context.js'

/** `descendants_count` does not count further. */
const MAX_COUNT = 1_000

/** One page of accounts; filters apply to the whole documents. */
async function listAccountsOf(
  context: OperationContext,
  scope: Pick<AccountQuery, 'childrenOf' | 'descendantsOf' | 'prefix'>,
  toItems: (accounts: readonly Account[]) => Promise<readonly JsonObject[]>,
): Promise<OperationResult> {
  const { core, options } = context.deps
  const request = readListRequest(context)
  const { defaultTimezone, operators } = options
  const source = sortedRows<Account>(request, {
    read: (page) => core().admin.page({ ...scope, ...page }),
    keyOf: ({ name, id }) => [name, id],
    createdMs: ({ createdMs }) => createdMs,
    toFilterJson: (account) =>
      accountJson(account, { isOperator: operators.includes(account.id), defaultTimezone }),
    toItems,
  })
  return listResult(request, source)
}

/** Converts accounts with the number of accounts below each. */
const withCounts =
  ({ deps }: OperationContext, toJson: (account: Account, count: number) => JsonObject) =>
  async (accounts: readonly Account[]): Promise<readonly JsonObject[]> => {
    const counts = await deps.core().admin.countDescendants(
      accounts.map(({ id }) => id),
      MAX_COUNT,
    )
    return accounts.map((account, index) => toJson(account, counts[index]!))
  }

/** Ids from the token's account, or from the root for an operator outside its own tree, down to the parent. */
const treeOf = (lineageOfParent: readonly Account[], from: string): readonly string[] => {
  const ids = lineageOfParent.map(({ id }) => id).reverse()
  const start = ids.indexOf(from)
  return start < 0 ? ids : ids.slice(start)
}

/** Converts accounts with their trees. Reads the lineage of each parent once. */
const withTrees =
  ({ deps, caller }: OperationContext, from: string | undefined, toJson: typeof descendantJson) =>
  async (accounts: readonly Account[]): Promise<readonly JsonObject[]> => {
    const parents = [...new Set(accounts.flatMap(({ parentId }) => parentId ?? []))]
    const trees = new Map(
      await Promise.all(
        parents.map(async (id) => {
          const lineage = await deps.core().auth.lineages.lineage(id)
          return [id, treeOf(lineage, from ?? caller!.accountId)] as const
        }),
      ),
    )
    return accounts.map((account) => toJson(account, trees.get(account.parentId ?? '') ?? []))
  }

/** No account has this id: the tree begins at the root. */
const ROOT = ''

export const listAccounts: Operation = (context) =>
  listAccountsOf(context, {}, withTrees(context, ROOT, anyAccountJson))

export const listChildren: Operation = (context) =>
  listAccountsOf(context, { childrenOf: accountIdOf(context) }, withCounts(context, childJson))

export const listDescendants: Operation = (context) =>
  listAccountsOf(
    context,
    { descendantsOf: accountIdOf(context) },
    withTrees(context, undefined, descendantJson),
  )

export const listSiblings: Operation = async (context) => {
  const { deps, caller } = context
  const accountId = accountIdOf(context)
  const { isOperator } = callerRights(context)
  // The siblings of the token's account are outside its authority.
  if (accountId === caller!.accountId && !isOperator) throw new HookswitchError('Forbidden', 'forbidden')
  const [{ parentId }] = await deps.core().admin.lineage(accountId)
  if (parentId === undefined) throw notFound(accountId, 'account')
  return listAccountsOf(context, { childrenOf: parentId }, withCounts(context, childJson))
}

/** The accounts above an account, from the token's account down to its parent. */
export const listAncestors: Operation = async (context) => {
  const { deps, caller } = context
  const accountId = accountIdOf(context)
  const [, ...ancestors] = await deps.core().admin.lineage(accountId)
  const wanted = accountId === caller!.accountId ? [] : treeOf(ancestors, caller!.accountId)
  const items = wanted.map((id) => ancestorJson(ancestors.find((ancestor) => ancestor.id === id)!))
  return { data: items, page: { items } }
}

type SearchField = 'name' | 'realm' | 'id'
const FIELDS: readonly SearchField[] = ['name', 'realm', 'id']
const isField = (text: string): text is SearchField => (FIELDS as readonly string[]).includes(text)

const NORMALIZE: Readonly<Record<SearchField, (text: string) => string>> = {
  name: normalizeAccountName,
  realm: normalizeRealmForSearch,
  id: (text) => text,
}

/** KAZOO's words (`cb_search`). */
const missing = (path: string, message: string, target?: unknown): Failure => ({
  path,
  rule: 'required',
  message,
  ...(target !== undefined && { target }),
})
const outsideList = (path: string, target: readonly string[], value: string): Failure => ({
  path,
  rule: 'enum',
  message: 'Value not found in enumerated list of values',
  target,
  value,
})

const TYPES = ['account']

function typeFailures({ query }: OperationContext): readonly Failure[] {
  const type = getQueryValue(query, 't')
  if (!type) return [missing('t', 'search needs a document type to search on', TYPES)]
  return TYPES.includes(type) ? [] : [outsideList('t', TYPES, type)]
}

const scopeOf = (accountId: string, of: SearchField, value: string) => ({
  descendantsOf: accountId,
  prefix: { of, text: NORMALIZE[of](value) },
})

/** Searches the accounts below this one. */
async function searchBelow(accountId: string, context: OperationContext): Promise<OperationResult> {
  const of = getQueryValue(context.query, 'q')
  const value = getQueryValue(context.query, 'v')
  const failures = [...typeFailures(context)]
  if (!of) failures.push(missing('q', 'search needs a view to search in'))
  else if (!isField(of)) failures.push(outsideList('q', FIELDS, of))
  if (!value) failures.push(missing('v', 'search needs a value to search for'))
  if (failures.length > 0) throw invalidInput(failures)
  return listAccountsOf(
    context,
    scopeOf(accountId, of as SearchField, value!),
    withCounts(context, accountSummaryJson),
  )
}

export const search: Operation = (context) => searchBelow(context.caller!.accountId, context)

export const searchAccount: Operation = (context) => searchBelow(accountIdOf(context), context)

/** Most results of each field of a search by several. */
const MULTI_LIMIT = 50

export const searchMany: Operation = async (context) => {
  const failures = typeFailures(context)
  if (failures.length > 0) throw invalidInput(failures)
  const found: [SearchField, readonly JsonObject[]][] = []
  for (const of of FIELDS) {
    const value = getQueryValue(context.query, `by_${of}`)
    if (!value) continue
    const page = { ascending: true, limit: MULTI_LIMIT }
    const accounts = await context.deps.core().admin.page({
      ...scopeOf(context.caller!.accountId, of, value),
      ...page,
    })
    found.push([of, await withCounts(context, accountSummaryJson)(accounts)])
  }
  return { data: Object.fromEntries(found) }
}
