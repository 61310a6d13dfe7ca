/** Changes one account: reads it, decides and writes, again if another node changed it in between. */
import { errorCode, HookswitchError, notFound } from '../errors.js'
import { type Account, accountRevision } from './account.js'
import type { AccountConditions, AccountStore } from './account-store.js'

/** How often a change is repeated after concurrent changes by others. */
export const MAX_TRIES = 20

/** What a change makes of an account, and what must hold in the transaction that writes it. */
interface AccountDecision {
  readonly after: Account
  /** Besides the revision. Default: none. */
  readonly conditions?: Omit<AccountConditions, 'revision'>
}

/** An account before and after its change. */
interface ChangedAccount {
  readonly before: Account
  readonly after: Account
}

/**
 * @param expected revision of the stored account; default: any
 * @param decide from the account and its lineage, which begins with it; called again for each try
 * @param asError the error to throw when the store refuses the changed account
 * @throws `NotFound`, `RevisionConflict`, and what `decide` and the conditions throw
 */
export async function changeAccount(
  { accounts }: { readonly accounts: Pick<AccountStore, 'lineage' | 'update'> },
  accountId: string,
  expected: number | undefined,
  decide: (before: Account, lineage: readonly Account[]) => Promise<AccountDecision>,
  asError: (thrown: unknown, after: Account) => unknown,
): Promise<ChangedAccount> {
  for (let tries = 1; ; tries += 1) {
    const lineage = await accounts.lineage(accountId)
    const [before] = lineage
    if (!before) throw notFound(accountId, 'account')
    const revision = accountRevision(before)
    if (expected !== undefined && expected !== revision) throw changedConcurrently(accountId)
    const { after, conditions } = await decide(before, lineage)
    try {
      await accounts.update(after, { ...conditions, revision })
      return { before, after }
    } catch (thrown) {
      const isRepeatable = errorCode(thrown) === 'RevisionConflict' && expected === undefined
      if (!isRepeatable || tries === MAX_TRIES) throw asError(thrown, after)
    }
  }
}

export function changedConcurrently(id: string): HookswitchError {
  return new HookswitchError('RevisionConflict', `${id} was changed concurrently`, { id })
}

/** The field of a `Conflict`; `undefined`: another error. */
export function conflictField(thrown: unknown): string | undefined {
  return errorCode(thrown) === 'Conflict' ? (thrown as HookswitchError).field : undefined
}
