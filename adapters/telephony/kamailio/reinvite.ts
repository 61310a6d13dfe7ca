/** Matches the two lines of a re-INVITE, the request and its final reply, which may arrive in either order. */
import type { KamailioLine } from './line.js'

/** A re-INVITE of one party of which only one line (request or final reply) has arrived. */
export interface PendingReinvite {
  readonly cseq: number
  readonly hold: boolean | undefined
  readonly code: number | undefined
}

/** Both lines. */
interface CompletedReinvite {
  readonly hold: boolean
  readonly code: number
}

/**
 * Adds one line; returns the re-INVITE once both lines are known. Several workers write the stream, so the reply may come
 * first; the lines are matched by tag and CSeq.
 *
 * @param pending re-INVITEs with one line, by the tag of the request's sender; changed in place
 */
export function matchReinvite(
  pending: Map<string, PendingReinvite>,
  tag: string,
  { event, code = 0, cseq }: KamailioLine,
): CompletedReinvite | undefined {
  const isReply = event === 'reinvite_reply'
  if (isReply && code < 200) return undefined
  const other = pending.get(tag)
  const isPair = other?.cseq === cseq
  if (isReply && other && other.cseq > cseq) return undefined

  const hold = isReply ? (isPair ? other.hold : undefined) : event === 'reinvite_hold'
  const finalCode = isReply ? code : isPair ? other.code : undefined
  pending.delete(tag)
  if (hold !== undefined && finalCode !== undefined) return { hold, code: finalCode }
  // A dialog has two tags; invalid ones must not accumulate.
  if (pending.size >= 2) pending.clear()
  pending.set(tag, { cseq, hold, code: finalCode })
  return undefined
}
