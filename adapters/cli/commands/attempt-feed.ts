/**
 * New attempts as they are recorded. Polls the list until the service streams them; whoever reads the feed does not see
 * the difference.
 *
 * A poll reads pages, newest first, until it meets an attempt that it has seen. Records of PostgreSQL become visible
 * slightly out of order, so an unseen attempt between seen ones is new as well; one behind the last seen one is older
 * than the feed.
 */
import type { Page } from 'hookswitch/client'

/** What identifies an attempt in the feed. */
interface Identified {
  readonly id: string
}

export interface FeedOptions {
  /** Pause between polls in milliseconds. */
  readonly intervalMs: number
  /** Number of the latest attempts with which the feed begins. */
  readonly initial: number
  readonly signal: AbortSignal
  sleep(ms: number): Promise<void>
  /** Called when more attempts were recorded than the feed reads per poll. */
  onGap(): void
}

/** Most pages per poll. */
const MAX_PAGES = 20
/** Ids that are remembered. */
const MAX_SEEN = 20_000

/**
 * @param pages requests the list from its newest attempt on
 */
export async function* attemptFeed<Attempt extends Identified>(
  pages: () => AsyncIterable<Page<Attempt>>,
  { intervalMs, initial, signal, sleep, onGap }: FeedOptions,
): AsyncGenerator<Attempt, void, undefined> {
  const seen = new Set<string>()
  let isFirst = true
  while (!signal.aborted) {
    const { attempts, isComplete } = await readNew(pages(), seen, isFirst)
    if (!isComplete) onGap()
    for (const { id } of [...attempts].reverse()) seen.add(id)
    for (const id of seen) {
      if (seen.size <= MAX_SEEN) break
      seen.delete(id)
    }
    const emitted = isFirst ? attempts.slice(0, initial) : attempts
    isFirst = false
    for (const attempt of [...emitted].reverse()) yield attempt
    await sleep(intervalMs)
  }
}

/** Reads the unseen attempts, newest first; with `isFirst` one page. */
async function readNew<Attempt extends Identified>(
  pages: AsyncIterable<Page<Attempt>>,
  seen: ReadonlySet<string>,
  isFirst: boolean,
): Promise<{ readonly attempts: readonly Attempt[]; readonly isComplete: boolean }> {
  const attempts: Attempt[] = []
  let count = 0
  for await (const { items } of pages) {
    const lastSeen = items.findLastIndex(({ id }) => seen.has(id))
    const fresh = lastSeen < 0 ? items : items.slice(0, lastSeen)
    for (const item of fresh) if (!seen.has(item.id)) attempts.push(item)
    if (isFirst || lastSeen >= 0) return { attempts, isComplete: true }
    count += 1
    if (count === MAX_PAGES) return { attempts, isComplete: false }
  }
  return { attempts, isComplete: true }
}
