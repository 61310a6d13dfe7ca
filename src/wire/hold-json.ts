/** What is held, as operators see it. */
import type { JsonObject } from './webhook-json.js'

/** A valid body that holds or releases deliveries. */
export function parseHold(data: unknown): {
  readonly isHeld: boolean
  readonly accountId: string | undefined
  /** Only the counts of what is concerned are wanted. */
  readonly isDryRun: boolean
} {
  const {
    held,
    account_id: accountId,
    dry_run: isDryRun = false,
  } = data as { held: boolean; account_id?: string; dry_run?: boolean }
  return { isHeld: held, accountId, isDryRun }
}

/** @param held ids of accounts that are held by themselves */
export const holdsJson = (held: {
  readonly all: boolean
  readonly accountIds: readonly string[]
}): JsonObject => ({
  all: held.all,
  accounts: held.accountIds,
})
