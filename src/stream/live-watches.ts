/** Which accounts an instance watches, and which items the others want. Pure. */
import type { LiveKind, LiveWatch } from '../delivery/live-store.js'

/** Accounts that one instance names. Above it, it watches every account. @internal */
export const MAX_WATCHES = 1_000

/** Combines watches: one for each account, sorted, so that equal ones are written alike. */
export function combineWatches(watches: Iterable<LiveWatch>): readonly LiveWatch[] {
  const byAccount = new Map<string, { descendants: boolean; kinds: Set<LiveKind> }>()
  for (const { accountId, descendants, kinds } of watches) {
    const combined = byAccount.get(accountId) ?? { descendants: false, kinds: new Set<LiveKind>() }
    if (descendants) combined.descendants = true
    for (const kind of kinds) combined.kinds.add(kind)
    byAccount.set(accountId, combined)
  }
  if (byAccount.size > MAX_WATCHES) {
    const kinds = new Set([...byAccount.values()].flatMap((watch) => [...watch.kinds]))
    return [{ accountId: '', descendants: true, kinds: [...kinds].sort() }]
  }
  return [...byAccount]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([accountId, { descendants, kinds }]) => ({ accountId, descendants, kinds: [...kinds].sort() }))
}

/** What is wanted of one kind. */
interface Wanted {
  isAll: boolean
  readonly accounts: Set<string>
  /** Accounts whose descendants are included. */
  readonly trees: Set<string>
}

/** Decides which items somebody watches. */
export class LiveFilter {
  private readonly byKind = new Map<LiveKind, Wanted>()

  constructor(watches: readonly LiveWatch[]) {
    for (const { accountId, descendants, kinds } of watches) {
      for (const kind of kinds) {
        const wanted = this.byKind.get(kind) ?? { isAll: false, accounts: new Set(), trees: new Set() }
        this.byKind.set(kind, wanted)
        if (accountId === '') wanted.isAll = true
        else wanted.accounts.add(accountId)
        if (descendants) wanted.trees.add(accountId)
      }
    }
  }

  /** Whether nobody watches anything. */
  get isEmpty(): boolean {
    return this.byKind.size === 0
  }

  /** Whether an item of an account is wanted; `lineage`: that depends on the accounts above it. */
  wants(kind: LiveKind, accountId: string): boolean | 'lineage' {
    const wanted = this.byKind.get(kind)
    if (!wanted) return false
    if (wanted.isAll || wanted.accounts.has(accountId)) return true
    return wanted.trees.size > 0 ? 'lineage' : false
  }

  /** Whether an item is wanted because of the accounts above its own. */
  wantsBelow(kind: LiveKind, lineage: readonly { readonly id: string }[]): boolean {
    const wanted = this.byKind.get(kind)
    return wanted !== undefined && lineage.some(({ id }) => wanted.trees.has(id))
  }
}
