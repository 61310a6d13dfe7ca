/** Limits the number of open streams. */
import { HookswitchError } from '../errors.js'

/** Options that limit open streams; read whenever a stream is opened. */
export interface StreamLimits {
  /** Open streams of this node. */
  readonly maxStreams: number
  /** Open streams of one account on this node. */
  readonly maxStreamsPerAccount: number
  /** Open streams of one token on this node. */
  readonly maxStreamsPerToken: number
}

/** Seconds after which a refused client may try again. */
const RETRY_AFTER_SECONDS = 5

interface StreamSlots {
  /**
   * Takes a slot. Returns a function that frees it, once.
   *
   * @param token absent: the stream belongs to the host
   * @throws `TooManyStreams` naming the limit
   */
  acquire(accountId: string, token: string | undefined): () => void
  /** Slots that are taken. */
  readonly count: number
}

export function createStreamSlots(limits: StreamLimits): StreamSlots {
  let count = 0
  const byAccount = new Map<string, number>()
  const byToken = new Map<string, number>()
  const add = (counts: Map<string, number>, key: string, by: number) => {
    const next = (counts.get(key) ?? 0) + by
    if (next === 0) counts.delete(key)
    else counts.set(key, next)
  }
  const refuse = (field: keyof StreamLimits): never => {
    throw new HookswitchError('TooManyStreams', `there are ${limits[field]} open streams (${field})`, {
      field,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    })
  }
  return {
    acquire(accountId, token) {
      if (token !== undefined && (byToken.get(token) ?? 0) >= limits.maxStreamsPerToken)
        refuse('maxStreamsPerToken')
      if ((byAccount.get(accountId) ?? 0) >= limits.maxStreamsPerAccount) refuse('maxStreamsPerAccount')
      if (count >= limits.maxStreams) refuse('maxStreams')
      count += 1
      add(byAccount, accountId, 1)
      if (token !== undefined) add(byToken, token, 1)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        count -= 1
        add(byAccount, accountId, -1)
        if (token !== undefined) add(byToken, token, -1)
      }
    },
    get count() {
      return count
    },
  }
}
