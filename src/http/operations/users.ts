/** Create, read, replace, patch, delete and list the users of an account, with conditional requests. */
import { type User, userRevision, userSortKey } from '../../accounts/user.js'
import { changesOf } from '../../runtime/audit.js'
import { parseUserFields, toAccountFailure } from '../../wire/account-fields.js'
import { matchesRevision } from '../../wire/precondition.js'
import { getHeader } from '../../wire/request-head.js'
import { userJson, userSummaryJson } from '../../wire/user-json.js'
import { sortedRows } from '../paginate.js'
import {
  accountIdOf,
  callerRights,
  entityIdOf,
  expectedRevision,
  listResult,
  type Operation,
  type OperationContext,
  type OperationResult,
  readListRequest,
  translateFailures,
} from './context.js'

/** @param before the user before the change; absent: it was created, or is read */
const userResult = (user: User, before?: User, deleted?: true): OperationResult => ({
  data: userJson(user, deleted),
  revision: userRevision(user),
  audit: () => ({ userId: user.id, ...changesOf(before, deleted ? undefined : user) }),
})

const inWireNames = <T>(work: Promise<T>): Promise<T> => translateFailures(work, toAccountFailure)

const readStored = (context: OperationContext): Promise<User> =>
  context.deps.core().admin.user(accountIdOf(context), entityIdOf(context, 'userId'))

export const listUsers: Operation = async (context) => {
  const request = readListRequest(context)
  const accountId = accountIdOf(context)
  const source = sortedRows<User>(request, {
    read: (page) => context.deps.core().admin.users(accountId, page),
    keyOf: (user) => [userSortKey(user), user.id],
    createdMs: ({ createdMs }) => createdMs,
    toFilterJson: (user) => userJson(user),
    toItems: (users) => users.map(userSummaryJson),
  })
  return listResult(request, source)
}

export const createUser: Operation = async (context) => {
  const accountId = accountIdOf(context)
  const { id } = context.data as { id?: unknown }
  const input = { ...parseUserFields(context.data), ...(id !== undefined && { id }) }
  const { isOperator } = callerRights(context)
  const user = await inWireNames(context.deps.core().admin.createUser(accountId, input, isOperator))
  return { ...userResult(user), location: `${context.base}/accounts/${accountId}/users/${user.id}` }
}

export const readUser: Operation = async (context) => {
  const result = userResult(await readStored(context))
  const isNotModified = matchesRevision(getHeader(context.headers, 'if-none-match'), result.revision!)
  return isNotModified ? { ...result, isNotModified } : result
}

async function edit(context: OperationContext, mode: 'replace' | 'merge'): Promise<OperationResult> {
  const { admin } = context.deps.core()
  const userId = entityIdOf(context, 'userId')
  const input = parseUserFields(context.data)
  const revision = await expectedRevision(context, async () => userRevision(await readStored(context)))
  const isSelf = !callerRights(context).isAdmin
  const options = { mode, isSelf, ...(revision !== undefined && { revision }) }
  const edited = admin.editUser(accountIdOf(context), userId, input, options)
  const { before, after } = await inWireNames(edited)
  return userResult(after, before)
}

export const replaceUser: Operation = (context) => edit(context, 'replace')
export const patchUser: Operation = (context) => edit(context, 'merge')

export const deleteUser: Operation = async (context) => {
  const userId = entityIdOf(context, 'userId')
  const revision = await expectedRevision(context, async () => userRevision(await readStored(context)))
  const removed = await context.deps.core().admin.removeUser(accountIdOf(context), userId, revision)
  return userResult(removed, removed, true)
}
