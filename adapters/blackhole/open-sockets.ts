/** The sockets that are open: how many per address, their regular check, and their end. */
import type { Clock } from 'hookswitch'
import type { Session } from './session.js'

/** Time between two checks of all sockets, ms. */
const TICK_MS = 5_000

interface OpenSockets {
  readonly size: number
  /** How many sockets this address has. @param source what the address counts as */
  countOf(source: string): number
  /** Adds a socket. Returns a function that removes it. */
  add(session: Session, source: string): () => void
  /** Ends all sessions. Resolves when the last socket is removed. */
  endAll(): Promise<void>
}

export function createOpenSockets(clock: Clock): OpenSockets {
  const sessions = new Set<Session>()
  const countBySource = new Map<string, number>()
  let ticking: AbortController | undefined
  /** Called when the last socket is removed. */
  let onEmpty: (() => void) | undefined

  async function tick(signal: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(TICK_MS, signal)
      if (signal.aborted) return
      for (const session of sessions) session.tick()
    }
  }

  function remove(session: Session, source: string): void {
    sessions.delete(session)
    const left = countBySource.get(source)! - 1
    if (left === 0) countBySource.delete(source)
    else countBySource.set(source, left)
    if (sessions.size > 0) return
    ticking?.abort()
    ticking = undefined
    onEmpty?.()
  }

  return {
    get size() {
      return sessions.size
    },
    countOf: (source) => countBySource.get(source) ?? 0,
    add(session, source) {
      sessions.add(session)
      countBySource.set(source, (countBySource.get(source) ?? 0) + 1)
      if (!ticking) {
        ticking = new AbortController()
        void tick(ticking.signal)
      }
      return () => remove(session, source)
    },
    async endAll() {
      const emptied = sessions.size === 0 ? undefined : new Promise<void>((resolve) => (onEmpty = resolve))
      for (const session of sessions) session.end('closing')
      await emptied
    },
  }
}
