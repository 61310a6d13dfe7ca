/** INVITEs inside a dialog: a request and its final reply, which come as two lines in either order. */
import type { KamailioLine } from './line.js'

/** A re-INVITE of one party of which only one half (request or final reply) has come. */
export interface Reinvite {
  readonly cseq: number
  readonly hold: boolean | undefined
  readonly code: number | undefined
}

/** Both halves. */
export interface SettledReinvite {
  readonly hold: boolean
  readonly code: number
}

/**
 * Takes one half; both, when the other has come. Several workers write the stream, so the reply may come first; the
 * halves find each other by tag and CSeq.
 *
 * @param waiting the other halves, by the tag of who sent the request; changed in place
 */
export function settleReinvite(
  waiting: Map<string, Reinvite>,
  tag: string,
  { event, code = 0, cseq }: KamailioLine,
): SettledReinvite | undefined {
  const isReply = event === 'reinvite_reply'
  if (isReply && code < 200) return undefined
  const other = waiting.get(tag)
  const isPair = other?.cseq === cseq
  if (isReply && other && other.cseq > cseq) return undefined

  const hold = isReply ? (isPair ? other.hold : undefined) : event === 'reinvite_hold'
  const final = isReply ? code : isPair ? other.code : undefined
  waiting.delete(tag)
  if (hold !== undefined && final !== undefined) return { hold, code: final }
  // A dialog has two tags; a third is nonsense and takes no room.
  if (waiting.size >= 2) waiting.clear()
  waiting.set(tag, { cseq, hold, code: final })
  return undefined
}
