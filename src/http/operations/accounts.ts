/** Create, read, replace, patch, move and delete accounts, with conditional requests. */
import { type Account, accountRevision } from '../../accounts/account.js'
import { notFound } from '../../errors.js'
import { changesOf } from '../../runtime/audit.js'
import { parseAccountFields, toAccountFailure } from '../../wire/account-fields.js'
import { accountJson } from '../../wire/account-json.js'
import { eraseJson, parseErase, toEraseFailure } from '../../wire/command-json.js'
import { matchesRevision } from '../../wire/precondition.js'
import { getQueryValue } from '../../wire/query.js'
import { getHeader } from '../../wire/request-head.js'
import {
  accountIdOf,
  callerRights,
  expectedRevision,
  type Operation,
  type OperationContext,
  type OperationResult,
  translateFailures,
} from './context.js'

/** The whole account, with its API key for an admin who asks for it (KAZOO `leak_pvt_api_key`). */
async function accountResult(
  context: OperationContext,
  account: Account,
  options: { readonly lineage?: readonly Account[]; readonly deleted?: true } = {},
): Promise<OperationResult> {
  const { core, options: rules } = context.deps
  const lineage = options.lineage ?? (await core().admin.lineage(account.id))
  const wantsApiKey =
    getQueryValue(context.query, 'include_api_key') === 'true' && options.deleted === undefined
  const hasApiKey = wantsApiKey && callerRights(context).isAdmin
  const json = accountJson(account, {
    lineage,
    isOperator: rules.operators.includes(account.id),
    defaultTimezone: rules.defaultTimezone,
    ...(hasApiKey && { apiKey: await core().accounts.readApiKey(account.id) }),
    ...options,
  })
  return { data: json, revision: accountRevision(account), ...(hasApiKey && { hasSecret: true }) }
}

const inWireNames = <T>(work: Promise<T>): Promise<T> => translateFailures(work, toAccountFailure)

async function create(context: OperationContext, parentId: string): Promise<OperationResult> {
  const { isOperator } = callerRights(context)
  const { id } = context.data as { id?: unknown }
  const input = { ...parseAccountFields(context.data), ...(id !== undefined && { id }) }
  const account = await inWireNames(context.deps.core().admin.create(parentId, input, isOperator))
  return {
    ...(await accountResult(context, account)),
    location: `${context.base}/accounts/${account.id}`,
    audit: () => ({ accountId: account.id, ...changesOf(undefined, account) }),
  }
}

/** Creates an account below that of the token. */
export const createAccount: Operation = (context) => create(context, context.caller!.accountId)
export const createChildAccount: Operation = (context) => create(context, accountIdOf(context))

export const readAccount: Operation = async (context) => {
  const lineage = await context.deps.core().admin.lineage(accountIdOf(context))
  const result = await accountResult(context, lineage[0], { lineage })
  const ifNoneMatch = getHeader(context.headers, 'if-none-match')
  // A response with the key never counts as unchanged: the key has no revision.
  const isNotModified = result.hasSecret !== true && matchesRevision(ifNoneMatch, result.revision!)
  return isNotModified ? { ...result, isNotModified } : result
}

async function edit(context: OperationContext, mode: 'replace' | 'merge'): Promise<OperationResult> {
  const { caller, deps } = context
  const accountId = accountIdOf(context)
  const input = parseAccountFields(context.data)
  const revision = await expectedRevision(context, () => currentRevision(context))
  // From the account's own token the key is ignored (KAZOO `maybe_import_enabled`).
  const mayEnable = caller!.accountId !== accountId || callerRights(context).isOperator
  const options = { mode, mayEnable, ...(revision !== undefined && { revision }) }
  const { before, after } = await inWireNames(deps.core().admin.edit(accountId, input, options))
  return { ...(await accountResult(context, after)), audit: () => changesOf(before, after) }
}

const currentRevision = async (context: OperationContext) =>
  accountRevision((await context.deps.core().admin.lineage(accountIdOf(context)))[0])

export const replaceAccount: Operation = (context) => edit(context, 'replace')
export const patchAccount: Operation = (context) => edit(context, 'merge')

export const deleteAccount: Operation = async (context) => {
  const accountId = accountIdOf(context)
  const revision = await expectedRevision(context, () => currentRevision(context))
  const lineage = await context.deps.core().admin.remove(accountId, revision)
  const result = await accountResult(context, lineage[0]!, { lineage, deleted: true })
  return { ...result, audit: () => changesOf(lineage[0], undefined) }
}

export const moveAccount: Operation = async (context) => {
  const { to } = context.data as { to?: unknown }
  const account = await context.deps.core().admin.move(accountIdOf(context), to)
  const { parentId } = account
  return { ...(await accountResult(context, account)), audit: () => changesOf(undefined, { parentId }) }
}

/** Erases the records of a call, of a number, or of all calls of the account. */
export const eraseRecords: Operation = async (context) => {
  const { core, erase } = context.deps
  const accountId = accountIdOf(context)
  const selection = parseErase(context.data as Record<string, unknown>)
  const isKnown = (await core().auth.lineages.lineage(accountId)).length > 0
  if (!isKnown && !(await core().admin.wasRemoved(accountId))) throw notFound(accountId, 'account')
  const erased = await translateFailures(erase({ accountId, ...selection }), toEraseFailure)
  // Neither call nor number: nothing may name them any more.
  const [of = 'account'] = Object.keys(selection)
  return { data: eraseJson(erased), audit: () => ({ details: { of, rows: erased.rows } }) }
}

/** Monster UI asks for its applications in its login; there are none. */
export const listApps: Operation = async () => ({ data: [], page: { items: [] } })
