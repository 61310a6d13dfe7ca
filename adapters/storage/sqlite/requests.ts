/** The part of a webhook's requests that most of its attempts have in common (`attempt-doc.ts`), stored once each. */
import { LRUCache } from 'lru-cache'
import { detached } from './account-keys.js'
import type { Statements } from './query.js'

export interface Requests {
  /** Stores the request if it is new, and returns its key. @param webhook key of the webhook */
  keyOf(webhook: number, request: string): number
  invalidate(): void
}

interface RequestRow {
  readonly key: number
  readonly request: string
}

/** Webhooks whose last request is cached: about 500 bytes each. */
const MAX_CACHED = 10_000

export function createRequests({ prepareQuery, prepareInsert }: Statements): Requests {
  const find = prepareQuery<RequestRow>(
    'select key, request from hookswitch_request where webhook = ? and request = ?',
  )
  const insert = prepareInsert('insert into hookswitch_request (webhook, request) values (?, ?)')
  const last = new LRUCache<number, RequestRow>({ maxSize: MAX_CACHED, sizeCalculation: () => 1 })

  return {
    keyOf(webhook, request) {
      const cached = last.get(webhook)
      if (cached?.request === request) return cached.key
      const key = find.get(webhook, request)?.key ?? insert(webhook, request)
      last.set(webhook, { key, request: detached(request) })
      return key
    },
    invalidate: () => last.clear(),
  }
}
