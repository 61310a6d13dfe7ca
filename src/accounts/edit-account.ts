/** Creating and changing accounts as documents of the HTTP API, with every violated rule in one error. */
import { type Failure, HookswitchError, invalidInput, notFound } from '../errors.js'
import { isId } from '../values/ids.js'
import { type Account, accountRevision, normalizeAccountName } from './account.js'
import {
  type AccountFields,
  type CheckedAccount,
  changedAccount,
  checkAccount,
  MAX_DEPTH,
  mergeAccount,
  nameTaken,
  newAccountOf,
  realmTaken,
  replacementOf,
  subaccountsForbidden,
  tooDeep,
} from './account-document.js'
import { changeAccount, conflictField, MAX_TRIES } from './change-account.js'
import { requiredFailure, type UncheckedDocument } from './document.js'
import { type AccountDeps, buildApiKey } from './manage.js'

/** Options about accounts of the HTTP API. */
export interface AccountRules {
  /** Names of accounts must differ in their letters and digits. */
  readonly uniqueAccountNames: boolean
  /** Realms that a client leaves out are `<6 hex digits>.` and this suffix. */
  readonly accountRealmSuffix: string
  /** Time zone of accounts that have none. */
  readonly defaultTimezone: string
  /** Whether every admin may create accounts; false: operators alone. */
  readonly subaccounts: boolean
}

export interface EditAccountDeps extends AccountDeps {
  readonly accountRules: AccountRules
}

/** A new account, with its id if the client may choose it. */
export interface NewAccountDocument extends UncheckedDocument {
  readonly id?: unknown
}

/** How a document changes a stored one. */
export interface EditOptions {
  /** `replace`: the document is complete. `merge`: it is a merge patch (RFC 7396). */
  readonly mode: 'replace' | 'merge'
  /** Expected revision of the stored document. Default: any. */
  readonly revision?: number
}

const REALM_BYTES = 3

/**
 * Creates an account below another one, with an API key.
 *
 * @param isOperator whether the caller may create accounts although `subaccounts` is off, and choose the id
 * @throws `InvalidInput` with every violated rule, `NotFound` (the parent), `Conflict` (field `id`) for an id that is
 *   taken or was used before
 */
export async function createChildAccount(
  deps: EditAccountDeps,
  parentId: string,
  input: NewAccountDocument,
  isOperator: boolean,
): Promise<Account> {
  const { subaccounts, accountRealmSuffix, defaultTimezone, uniqueAccountNames } = deps.accountRules
  if (!subaccounts && !isOperator) throw invalidInput([subaccountsForbidden(parentId)])
  const { checked, failures } = checkAccount(input)
  const lineage = await deps.accounts.lineage(parentId)
  const [parent] = lineage
  if (!parent) throw notFound(parentId, 'account')
  const givenId = isOperator ? input.id : undefined
  const all = [
    ...failures,
    ...(givenId === undefined || (typeof givenId === 'string' && isId(givenId)) ? [] : [invalidId]),
    ...(lineage.length >= MAX_DEPTH ? [tooDeep] : []),
    ...(await takenFailures(deps, checked)),
  ]
  if (all.length > 0) throw invalidInput(all)
  const id = (givenId as string | undefined) ?? deps.newId()
  const { row } = buildApiKey(deps, id)
  for (let tries = 1; ; tries += 1) {
    const account = newAccountOf(checked, {
      id,
      parent,
      generatedRealm: `${Buffer.from(deps.random.bytes(REALM_BYTES)).toString('hex')}.${accountRealmSuffix}`,
      defaultTimezone,
      nowMs: deps.clock.now(),
    })
    try {
      const conditions = { requireParent: true, uniqueName: uniqueAccountNames, maxDepth: MAX_DEPTH }
      await deps.accounts.insert(account, row, [], conditions)
      return account
    } catch (thrown) {
      const isGeneratedRealm = checked.fields.realm === undefined && conflictField(thrown) === 'realm'
      if (!isGeneratedRealm || tries === MAX_TRIES) throw asFailure(thrown, account)
    }
  }
}

/**
 * Replaces or merges an account's document.
 *
 * @param options `mayEnable`: whether `enabled` may change
 * @returns the account before and after the change
 * @throws `InvalidInput` with every violated rule, `NotFound`, `RevisionConflict`
 */
export function editAccount(
  deps: EditAccountDeps,
  accountId: string,
  input: UncheckedDocument,
  options: EditOptions & { readonly mayEnable: boolean },
): Promise<{ readonly before: Account; readonly after: Account }> {
  const { defaultTimezone, uniqueAccountNames } = deps.accountRules
  return changeAccount(
    deps,
    accountId,
    options.revision,
    async (before, [, parent]) => {
      const merged: ReturnType<typeof mergeAccount> =
        options.mode === 'merge'
          ? mergeAccount(before, input)
          : { document: replacementOf(before, input), failures: [] }
      const { checked, failures } = checkAccount(merged.document, before)
      const all = [...failures, ...merged.failures, ...(await takenFailures(deps, checked, before))]
      if (all.length > 0) throw invalidInput(all)
      const after = changedAccount(before, checked, {
        mayEnable: options.mayEnable,
        parentTimezone: parent?.timezone ?? defaultTimezone,
        nowMs: deps.clock.now(),
      })
      const uniqueName = uniqueAccountNames && after.name !== before.name
      return { after, conditions: { uniqueName, requireParent: true } }
    },
    asFailure,
  )
}

/**
 * Moves an account with everything below it.
 *
 * @param to id of the new parent
 * @throws `InvalidInput` (field `to`, or `account`: too deep), `NotFound` (either account), `Forbidden` for a parent at or
 *   below the account
 */
export async function moveAccount(deps: EditAccountDeps, accountId: string, to: unknown): Promise<Account> {
  if (to === undefined) throw invalidInput([{ ...requiredFailure('to'), message: "Field 'to' is required" }])
  if (typeof to !== 'string') throw invalidInput([mustBeText])
  if (!isId(to)) throw notFound(to, 'account')
  const conditions = { requireParent: true, acyclic: true, maxDepth: MAX_DEPTH }
  const { after } = await changeAccount(
    deps,
    accountId,
    undefined,
    async (before) => ({
      after: {
        ...before,
        parentId: to,
        modifiedMs: deps.clock.now(),
        revision: accountRevision(before) + 1,
      },
      conditions,
    }),
    asFailure,
  )
  return after
}

/** Names and realms that are taken now; the write checks again. */
async function takenFailures(
  { accounts, accountRules }: EditAccountDeps,
  { fields }: CheckedAccount,
  before?: Account,
): Promise<readonly Failure[]> {
  const { name, realm } = fields as { readonly [Field in keyof AccountFields]?: unknown }
  const isOther = ({ id }: Account) => id !== before?.id
  const failures: Failure[] = []
  if (accountRules.uniqueAccountNames && typeof name === 'string' && name !== before?.name) {
    const key = normalizeAccountName(name)
    if (key !== '' && (await accounts.byName(key)).some(isOther)) failures.push(nameTaken(name))
  }
  if (typeof realm === 'string' && realm !== before?.realm) {
    if ((await accounts.byRealm(realm)).some(isOther)) failures.push(realmTaken(realm))
  }
  return failures
}

/** What another node wrote meanwhile is a failure of the document, like what was stored before. */
function asFailure(thrown: unknown, { name, realm }: Account): unknown {
  const field = conflictField(thrown)
  if (field === 'name') return invalidInput([nameTaken(name)])
  if (field === 'realm') return invalidInput([realmTaken(realm)])
  if (field === 'depth') return invalidInput([tooDeep])
  // KAZOO `cb_accounts:validate_move`.
  return field === 'parentId' ? new HookswitchError('Forbidden', 'forbidden') : thrown
}

export const invalidId: Failure = {
  path: 'id',
  rule: 'pattern',
  message: "Failed to match pattern '^[A-Za-z0-9_-]{1,64}$'",
  target: '^[A-Za-z0-9_-]{1,64}$',
}

const mustBeText: Failure = {
  path: 'to',
  rule: 'type',
  message: 'Value did not match type(s): string',
  target: 'string',
}
