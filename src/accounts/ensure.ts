/** Creates or updates the accounts of a configuration list that is read at every start. */
import { errorCode, HookswitchError, invalidInput } from '../errors.js'
import { toCanonicalJson } from '../values/canonical-json.js'
import { type Account, normalizeRealm } from './account.js'
import { type AccountInput, applyAccountChange, parseAccountInput } from './account-input.js'
import { type AccountDeps, createAccount, updateAccount } from './manage.js'
import { ensureUser } from './users.js'

/**
 * Creates the account or updates it. Omitted fields and users stay as they are and nothing is removed. `apiKey` counts
 * only at creation, so that a restart never restores a rotated key. Resolves to the account's id.
 *
 * @param input as for `createAccount`; an existing account is found by `id`, or by `realm` when no id is given
 * @throws `InvalidInput`, `Conflict`
 */
export async function ensureAccount(deps: AccountDeps, input: AccountInput): Promise<string> {
  return ensureOne(deps, input)
}

/** @param stored the accounts that were stored before, if the list is long */
async function ensureOne(deps: AccountDeps, input: AccountInput, stored?: StoredAccounts): Promise<string> {
  const parsed = parseAccountInput(input)
  const found = stored ? stored(parsed) : await find(deps, parsed)
  if (found) return update(deps, found, parsed)
  try {
    return (await createAccount(deps, parsed, { isListed: true })).id
  } catch (thrown) {
    // Another node with the same list may have started at the same time and created it first.
    const created = errorCode(thrown) === 'Conflict' ? await find(deps, parsed) : undefined
    if (!created) throw thrown
    return update(deps, created, parsed)
  }
}

type ParsedInput = ReturnType<typeof parseAccountInput>

async function find({ accounts }: AccountDeps, { id, realm }: ParsedInput): Promise<Account | undefined> {
  const [found] =
    id === undefined ? await accounts.byRealm(normalizeRealm(realm)) : await accounts.lineage(id)
  return found
}

async function update(deps: AccountDeps, found: Account, parsed: ParsedInput): Promise<string> {
  const { id: _, apiKey: __, users = [], ...change } = parsed
  const { revision: _revision, ...changed } = applyAccountChange(found, change, found.modifiedMs)
  const isChanged = ([key, value]: [string, unknown]) =>
    toCanonicalJson(value) !== toCanonicalJson(found[key as keyof Account])
  if (!found.isListed || Object.entries(changed).some(isChanged)) {
    await updateAccount(deps, found.id, change, { isListed: true })
  }
  for (const user of users) {
    await ensureUser(deps, found.id, user).catch((thrown: unknown) => {
      if (errorCode(thrown) !== 'Conflict') throw thrown
      return ensureUser(deps, found.id, user)
    })
  }
  return found.id
}

/**
 * `ensureAccount` for a whole list, parents before children regardless of their order in the list. Resolves to the ids,
 * in the order of the list.
 *
 * @throws `InvalidInput`, `Conflict`; the field begins with the index in the list, from 0
 */
export async function ensureAccounts(
  deps: AccountDeps,
  inputs: readonly AccountInput[],
): Promise<readonly string[]> {
  if (!Array.isArray(inputs)) {
    throw invalidInput([
      { path: '', rule: 'type', message: 'Value did not match type(s): array', target: 'array' },
    ])
  }
  const canReadAll = inputs.length >= READ_ALL_FROM && !hasRepeated(inputs)
  const stored = canReadAll ? await readStored(deps) : undefined
  const ids: string[] = []
  const order = topologicalOrder(inputs)
  const batchSize = hasRepeated(inputs) ? 1 : BATCH_SIZE
  for (const level of levelsOf(inputs, order)) {
    for (let from = 0; from < level.length; from += batchSize) {
      const batch = level.slice(from, from + batchSize)
      const results = await Promise.allSettled(batch.map((index) => ensureOne(deps, inputs[index]!, stored)))
      results.forEach((result, place) => {
        const index = batch[place]!
        if (result.status === 'rejected') throw withIndex(index, result.reason)
        ids[index] = result.value
      })
    }
  }
  return ids
}

type StoredAccounts = (parsed: ParsedInput) => Account | undefined

/** Lists from this length on read all accounts at once, which costs less than a query for each. */
const READ_ALL_FROM = 100

async function readStored({ accounts }: AccountDeps): Promise<StoredAccounts> {
  const byId = new Map<string, Account>()
  const byRealm = new Map<string, Account>()
  for (const account of await accounts.list()) {
    byId.set(account.id, account)
    byRealm.set(account.realm, account)
  }
  return ({ id, realm }) => (id === undefined ? byRealm.get(normalizeRealm(realm)) : byId.get(id))
}

/** Accounts that are written at the same time: a durable store commits them together. */
const BATCH_SIZE = 500

/** Whether two accounts of the list have the same id or realm: the later one then counts. */
function hasRepeated(inputs: readonly AccountInput[]): boolean {
  const keys = inputs.flatMap((input) => [
    ...(typeof input?.id === 'string' ? [`id ${input.id}`] : []),
    ...(typeof input?.realm === 'string' ? [`realm ${normalizeRealm(input.realm)}`] : []),
  ])
  return new Set(keys).size < keys.length
}

/** The indexes by depth in the list, so that the accounts of one level do not depend on each other. */
function levelsOf(inputs: readonly AccountInput[], order: readonly number[]): readonly (readonly number[])[] {
  const depthOf = new Map<string, number>()
  const levels: number[][] = []
  for (const index of order) {
    const { id, parentId } = inputs[index] ?? {}
    const depth = parentId === undefined ? 0 : (depthOf.get(parentId) ?? -1) + 1
    if (typeof id === 'string') depthOf.set(id, depth)
    const level = levels[depth]
    if (level) level.push(index)
    else levels[depth] = [index]
  }
  return levels
}

/** Makes an error of one account name its index in the list; returns other errors unchanged. */
export function withIndex(index: number, thrown: unknown): unknown {
  if (errorCode(thrown) !== 'InvalidInput' && errorCode(thrown) !== 'Conflict') return thrown
  const { code, message, field, failures } = thrown as HookswitchError
  if (failures) {
    return invalidInput(
      failures.map((failure) => ({
        ...failure,
        path: failure.path === '' ? `${index}` : `${index}.${failure.path}`,
      })),
    )
  }
  return new HookswitchError(code, `account ${index} of the list: ${message}`, {
    field: `${index}.${field ?? ''}`,
    cause: thrown,
  })
}

/** Indexes of a list of accounts in an order in which every parent precedes its children. */
export function topologicalOrder(inputs: readonly AccountInput[]): readonly number[] {
  const indexOf = new Map(inputs.map((input, index) => [input?.id, index]))
  const order = new Set<number>()
  for (const start of inputs.keys()) {
    const ancestors = new Set<number>()
    let index: number | undefined = start
    // A cycle ends the walk; creating the account reports it.
    while (index !== undefined && !order.has(index) && !ancestors.has(index)) {
      ancestors.add(index)
      const parentId: string | undefined = inputs[index]?.parentId
      index = parentId === undefined ? undefined : indexOf.get(parentId)
    }
    for (const ancestor of [...ancestors].reverse()) order.add(ancestor)
  }
  return [...order]
}
