/**
 * Limits how many parts of lists and searches for what became of a call are read and built at once: each is in memory until
 * it is handed over for writing. The accounts that wait take turns.
 */

/** Parts of lists and searches that are built at once, in all and for one account: others wait for the store behind them. */
const MAX_AT_ONCE = 4
const MAX_PER_ACCOUNT = 1

/** Runs work when it is the account's turn. */
export type ReadGate = <Result>(accountId: string, work: () => Promise<Result>) => Promise<Result>

interface Turn {
  running: number
  readonly waiting: (() => void)[]
}

export function createReadGate(maxAtOnce = MAX_AT_ONCE, maxPerAccount = MAX_PER_ACCOUNT): ReadGate {
  /** Accounts that read or wait; the one that was served last is last. */
  const accounts = new Map<string, Turn>()
  let running = 0

  function start(accountId: string, turn: Turn): void {
    running += 1
    turn.running += 1
    accounts.delete(accountId)
    accounts.set(accountId, turn)
  }

  function finish(accountId: string, turn: Turn): void {
    running -= 1
    turn.running -= 1
    if (turn.running === 0 && turn.waiting.length === 0) accounts.delete(accountId)
    for (const [nextId, next] of accounts) {
      if (next.waiting.length === 0 || next.running >= maxPerAccount) continue
      start(nextId, next)
      next.waiting.shift()!()
      return
    }
  }

  return async (accountId, work) => {
    let turn = accounts.get(accountId)
    if (!turn) {
      turn = { running: 0, waiting: [] }
      accounts.set(accountId, turn)
    }
    const { waiting } = turn
    if (running < maxAtOnce && turn.running < maxPerAccount) start(accountId, turn)
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      finish(accountId, turn)
    }
  }
}
