/** Sends a stream that resumes what it has missed, from the log of attempts. */
import type { Account } from '../accounts/account.js'
import type { QueueStore } from '../delivery/queue-store.js'
import type { Clock } from '../ports.js'
import { streamAttemptJson } from '../wire/stream-json.js'
import type { OpenStream } from './open-stream.js'
import { contentOf } from './subscriber.js'

interface CatchUpDeps {
  readonly store: Pick<QueueStore, 'attemptLog'>
  readonly clock: Pick<Clock, 'yield'>
  /** Records that the store keeps for each webhook. */
  readonly attemptsPerWebhook: () => number
  /** The account and its ancestors; empty: it does not exist. */
  lineage(accountId: string): Promise<readonly Account[]>
  /** Whether the reader of a stream may see an account. */
  mayRead(stream: OpenStream, accountId: string, lineage: readonly Account[]): boolean
}

const PAGE_SIZE = 500
/** Ids that a stream remembers, so that it does not send a record twice. */
const MAX_SENT_IDS = 20_000
/** How often the log is read again because too much was recorded meanwhile. */
const MAX_ROUNDS = 10

/**
 * Reads the log from `stream.position` to its end, as fast as the reader takes it, then lets the stream go on with what was
 * held. Rejects with `StoreUnavailable`.
 */
export async function catchUp(deps: CatchUpDeps, stream: OpenStream): Promise<void> {
  const { store, clock, lineage, mayRead } = deps
  const counts = new Map<string, number>()
  const sentIds = new Set<string>()
  stream.sentIds = sentIds
  let isPruned = false
  for (let round = 0; ; round += 1) {
    stream.hasOverflowed = false
    stream.held = []
    for (;;) {
      const { accountIds, position: after } = stream
      const page = await store.attemptLog({ accountIds, after, limit: PAGE_SIZE })
      const readable = new Map<string, boolean>()
      for (const record of page.attempts) {
        const { id, accountId, webhookId, position } = record
        if (stream.isEnded) return
        const count = (counts.get(webhookId) ?? 0) + 1
        counts.set(webhookId, count)
        // The store has removed older records of the webhook, which may have been part of the stream.
        if (count >= deps.attemptsPerWebhook() && !isPruned) {
          isPruned = true
          stream.drop(null)
        }
        let mayBeRead = readable.get(accountId)
        if (mayBeRead === undefined) {
          const ancestors = await lineage(accountId)
          mayBeRead = stream.covers(accountId, ancestors) && mayRead(stream, accountId, ancestors)
          readable.set(accountId, mayBeRead)
        }
        stream.position = position
        if (!mayBeRead || !stream.wantsAttempt(record) || sentIds.has(id)) continue
        await stream.whenRoom()
        if (sentIds.size < MAX_SENT_IDS) sentIds.add(id)
        stream.pushPast(contentOf('attempt', streamAttemptJson(record, record.call)), stream.id)
      }
      stream.position = Math.max(stream.position, page.position)
      if (page.attempts.length < PAGE_SIZE) break
      await clock.yield()
    }
    if (!stream.hasOverflowed) break
    if (round < MAX_ROUNDS) continue
    stream.drop(null)
    break
  }
  const { held, position } = stream
  stream.held = undefined
  for (const live of held ?? [])
    if (live.position === undefined || live.position > position) stream.record(live)
}
