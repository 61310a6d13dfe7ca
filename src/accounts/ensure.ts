/** Creates or updates the accounts of a configuration list that is read at every start. */
import { errorCode, HookswitchError, invalidInput } from '../errors.js'
import { toCanonicalJson } from '../values/canonical-json.js'
import { type Account, normalizeRealm } from './account.js'
import { type AccountInput, applyAccountChange, parseAccountInput } from './account-input.js'
import { NO_ACCOUNTS, overlayAccounts } from './account-overlay.js'
import type { AccountStore } from './account-store.js'
import { ensureUsers } from './ensure-users.js'
import { type AccountDeps, insertAccount, updateAccount } from './manage.js'

/**
 * Creates the account or updates it. Omitted fields and users stay as they are and nothing is removed. `apiKey` counts
 * only at creation, so that a restart never restores a rotated key; a password only at creation and when it is another one
 * than the list named before. A user that was removed is not created again. Resolves to the account's id.
 *
 * @param input as for `createAccount`; an existing account is found by `id`, or by `realm` when no id is given
 * @throws `InvalidInput`, `Conflict`
 * @internal
 */
export async function ensureAccount(deps: AccountDeps, input: AccountInput): Promise<string> {
  return ensureOne(deps, input)
}

/** What is read once for a whole list. */
interface ListReads {
  /** Finds an account among those that were stored before, if the list is long. */
  readonly stored?: StoredAccounts | undefined
  /** The account with this id and its ancestors. */
  lineageOf(accountId: string): Promise<readonly Account[]>
}

async function ensureOne(deps: AccountDeps, input: AccountInput, reads?: ListReads): Promise<string> {
  const parsed = parseAccountInput(input)
  const found = reads?.stored ? reads.stored(parsed) : await find(deps, parsed)
  if (found) return update(deps, found, parsed)
  try {
    return (await insertAccount(deps, parsed, { isListed: true }, reads?.lineageOf)).account.id
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
  const isChanged = ([key, value]: [string, unknown]) => {
    const old = found[key as keyof Account]
    return value !== old && toCanonicalJson(value) !== toCanonicalJson(old)
  }
  if (!found.isListed || Object.entries(changed).some(isChanged)) {
    await updateAccount(deps, found.id, change, { isListed: true })
  }
  await ensureUsers(deps, found.id, users)
  return found.id
}

/**
 * `ensureAccount` for a whole list, parents before children regardless of their order in the list. Resolves to the ids,
 * in the order of the list. A list with an account that is refused changes nothing; only a store that fails meanwhile, or
 * another node that takes a realm, ends it halfway, and then the same list continues it.
 *
 * @param onWritten called with the ids of the accounts that were created and changed, if there are any
 * @throws `InvalidInput`, `Conflict`; the field begins with the index in the list, from 0
 */
export async function ensureAccounts(
  deps: AccountDeps,
  inputs: readonly AccountInput[],
  onWritten?: (created: readonly string[], changed: readonly string[]) => void,
): Promise<readonly string[]> {
  const { ids, created, changed } = await previewAccounts(deps, inputs)
  if (created.length + changed.length === 0) return ids
  // The others are as the list says.
  const written = await writeAccounts(deps, inputs, { ids, indexes: new Set([...created, ...changed]) })
  const idsAt = (indexes: readonly number[]) => indexes.map((index) => written[index]!)
  onWritten?.(idsAt(created), idsAt(changed))
  return written
}

/** What a list of accounts would do. */
interface AccountListPreview {
  /** Indexes, in the list, of accounts that would be created. */
  readonly created: readonly number[]
  /** Indexes of accounts that would be changed, or their users. */
  readonly changed: readonly number[]
}

/**
 * Finds out what `ensureAccounts` would do, and writes nothing.
 *
 * @throws as `ensureAccounts`
 */
export async function previewAccounts(
  deps: AccountDeps,
  inputs: readonly AccountInput[],
): Promise<AccountListPreview & { readonly ids: readonly string[] }> {
  const [first] = await deps.accounts.accountPage({ ascending: true, limit: 1 })
  // A first start is not slowed down by a query for each account.
  const overlay = overlayAccounts(first ? deps.accounts : NO_ACCOUNTS)
  // A list uses no other method.
  const accounts = overlay.accounts as AccountStore
  const cipher = {
    ...deps.cipher,
    // Nothing reads what is encrypted; in an empty store there are no credentials to compare with.
    encrypt: () => '',
    ...(!first && { fingerprints: (text: string) => [text] }),
  }
  const ids = await writeAccounts({ ...deps, accounts, cipher }, inputs)
  const firstIndexOf = new Map([...ids.entries()].reverse().map(([index, id]) => [id, index]))
  const indexesOf = (changed: ReadonlySet<string>) =>
    [...changed].map((id) => firstIndexOf.get(id)!).sort((a, b) => a - b)
  return { ids, created: indexesOf(overlay.created), changed: indexesOf(overlay.changed) }
}

/** @param only the accounts to write, and the ids of all; ignored where an account is listed twice. Default: all */
async function writeAccounts(
  deps: AccountDeps,
  inputs: readonly AccountInput[],
  only?: { readonly ids: readonly string[]; readonly indexes: ReadonlySet<number> },
): Promise<readonly string[]> {
  if (!Array.isArray(inputs)) {
    throw invalidInput([
      { path: '', rule: 'type', message: 'the accounts must be an array', target: 'array' },
    ])
  }
  const isRepetitive = hasRepeated(inputs)
  const written = isRepetitive ? undefined : only
  const count = written?.indexes.size ?? inputs.length
  const stored = count >= READ_ALL_FROM && !isRepetitive ? await readStored(deps) : undefined
  const ids: string[] = [...(written?.ids ?? [])]
  for (const all of levelsOf(inputs, topologicalOrder(inputs))) {
    const level = written ? all.filter((index) => written.indexes.has(index)) : all
    const reads = isRepetitive ? undefined : { stored, lineageOf: cachedLineages(deps) }
    const start = async (indexes: readonly number[]): Promise<Batch> => {
      const ensured = indexes.map((index) => ensureOne(deps, inputs[index]!, reads))
      return { indexes, results: await Promise.allSettled(ensured) }
    }
    await ensureLevel(deps, level, isRepetitive ? ONE_BY_ONE : TOGETHER, { start, ids })
  }
  return ids
}

/** How many accounts of a list are ensured at the same time. */
interface Pace {
  readonly batchSize: number
  readonly maxBatches: number
}

/**
 * A durable store commits accounts together that are written at the same time. Small batches, so that the store's answers
 * are handled and its next transaction begins while this process prepares more.
 */
const TOGETHER: Pace = { batchSize: 100, maxBatches: 40 }
/** For lists in which a later entry changes the account of an earlier one. */
const ONE_BY_ONE: Pace = { batchSize: 1, maxBatches: 1 }

/** Ensures accounts of the list. */
interface Ensuring {
  start(indexes: readonly number[]): Promise<Batch>
  readonly ids: string[]
}

/**
 * Ensures the accounts of one level. Those whose realm is taken are tried again after the others, one of which may give it
 * up.
 *
 * @throws the first error in the order of the list, after everything that runs has ended
 */
async function ensureLevel(
  deps: Pick<AccountDeps, 'clock'>,
  level: readonly number[],
  pace: Pace,
  ensuring: Ensuring,
): Promise<void> {
  for (let left = level; left.length > 0; ) {
    const refused = await ensureOnce(deps, left, pace, ensuring)
    if (refused.length === left.length || (refused.length > 0 && pace === ONE_BY_ONE)) throw refused[0]!.error
    left = refused.map(({ index }) => index)
  }
}

/** @returns the accounts whose realm is taken. @throws any other error */
async function ensureOnce(
  { clock }: Pick<AccountDeps, 'clock'>,
  level: readonly number[],
  { batchSize, maxBatches }: Pace,
  { start, ids }: Ensuring,
): Promise<readonly RefusedAccount[]> {
  const running: Promise<Batch>[] = []
  const refused: RefusedAccount[] = []
  try {
    for (let from = 0; from < level.length; from += batchSize) {
      if (running.length === maxBatches) refused.push(...collect(await running.shift()!, ids))
      else if (from > 0) await clock.yield()
      running.push(start(level.slice(from, from + batchSize)))
    }
    while (running.length > 0) refused.push(...collect(await running.shift()!, ids))
    return refused
  } finally {
    await Promise.all(running)
  }
}

/** An account whose realm another one has. */
interface RefusedAccount {
  readonly index: number
  readonly error: unknown
}

/** Accounts of a list that were ensured together. */
interface Batch {
  readonly indexes: readonly number[]
  readonly results: readonly PromiseSettledResult<string>[]
}

/** @returns the accounts whose realm is taken. @throws the first other error, with the index of its account */
function collect({ indexes, results }: Batch, ids: string[]): readonly RefusedAccount[] {
  return results.flatMap((result, place) => {
    const index = indexes[place]!
    if (result.status === 'fulfilled') {
      ids[index] = result.value
      return []
    }
    const { reason } = result
    const error = withIndex(index, reason)
    if (errorCode(reason) !== 'Conflict' || (reason as HookswitchError).field !== 'realm') throw error
    return [{ index, error }]
  })
}

/** Reads each parent once: the accounts of one level do not change the levels above. */
function cachedLineages({ accounts }: AccountDeps): ListReads['lineageOf'] {
  const lineages = new Map<string, Promise<readonly Account[]>>()
  return (accountId) => {
    const cached = lineages.get(accountId) ?? accounts.lineage(accountId)
    lineages.set(accountId, cached)
    return cached
  }
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

/** Whether two accounts of the list have the same id or realm: the later one then counts. */
function hasRepeated(inputs: readonly AccountInput[]): boolean {
  const ids = new Set<string>()
  const realms = new Set<string>()
  const isRepeated = (seen: Set<string>, key: string) => seen.size === seen.add(key).size
  return inputs.some(
    (input) =>
      (typeof input?.id === 'string' && isRepeated(ids, input.id)) ||
      (typeof input?.realm === 'string' && isRepeated(realms, normalizeRealm(input.realm))),
  )
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

/** Indexes of a list of accounts in an order in which every parent precedes its children. @internal */
export function topologicalOrder(inputs: readonly AccountInput[]): readonly number[] {
  const indexOf = new Map(inputs.map((input, index) => [input?.id, index]))
  const order = new Set<number>()
  for (const start of inputs.keys()) {
    const parentId = inputs[start]?.parentId
    const parent = parentId === undefined ? undefined : indexOf.get(parentId)
    if (parent === undefined || order.has(parent)) {
      order.add(start)
      continue
    }
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
