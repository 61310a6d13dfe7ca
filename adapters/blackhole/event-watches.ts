/** Passes the events of an account to the sessions that want them: one watch per account, however many sessions. */
import type { PublishedEvent } from 'hookswitch'
import { callEventOf } from './call-event.js'
import type { Session } from './session.js'

/** Calls back with the accepted events of accounts. */
interface EventSource {
  watchEvents(accountId: string, listener: (event: PublishedEvent) => unknown): () => void
}

interface EventWatches {
  bind(session: Session, accountId: string): void
  unbind(session: Session, accountId: string): void
}

/** @param node the id of this process, part of each event */
export function createEventWatches(hs: EventSource, node: string): EventWatches {
  const watches = new Map<string, { readonly sessions: Set<Session>; readonly unwatch: () => void }>()
  return {
    bind(session, accountId) {
      const watch = watches.get(accountId)
      if (watch) {
        watch.sessions.add(session)
        return
      }
      const sessions = new Set([session])
      const unwatch = hs.watchEvents(accountId, (event) => {
        const callEvent = callEventOf(event, node)
        if (callEvent) for (const session of sessions) session.deliver(callEvent)
      })
      watches.set(accountId, { sessions, unwatch })
    },

    unbind(session, accountId) {
      const watch = watches.get(accountId)
      watch?.sessions.delete(session)
      if (watch?.sessions.size !== 0) return
      watches.delete(accountId)
      watch.unwatch()
    },
  }
}
