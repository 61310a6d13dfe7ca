import type { ReadyEndpoint } from 'hookswitch/store'

/** What a listener of `subscribe` is called with. */
export type WakeUp = readonly ReadyEndpoint[] | undefined

/** Wake-ups of calls whose transaction is still open: told after its commit, forgotten when it is rolled back. */
export interface WakeUps {
  /** Something became ready or stale. */
  gather(wakeUp: WakeUp): void
  /** The transaction was committed. */
  keep(): void
  /** It was rolled back. */
  drop(): void
  /** Those of committed transactions, once. */
  take(): readonly WakeUp[]
}

export function gatheredWakeUps(): WakeUps {
  let open: WakeUp[] = []
  let kept: WakeUp[] = []
  return {
    gather(wakeUp) {
      if (wakeUp?.length !== 0) open.push(wakeUp)
    },
    keep() {
      if (open.length === 0) return
      kept = kept.length === 0 ? open : [...kept, ...open]
      open = []
    },
    drop() {
      open = []
    },
    take() {
      const told = kept
      if (told.length > 0) kept = []
      return told
    },
  }
}
