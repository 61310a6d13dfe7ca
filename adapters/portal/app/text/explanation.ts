/** Why a delivery waits, or how it ended, in the user's words: made of the service's code and numbers. Pure. */
import type { Explanation } from 'hookswitch/client'
import type { Parameters } from './plural.js'

interface ExplanationWords {
  /** The text of a key, such as `explain.retry`. */
  readonly say: (key: string, parameters?: Parameters) => string
  /** A cause of a failure in a few words. */
  readonly cause: (name: string) => string
  /** A time of day, with the day where it is another one. */
  readonly clock: (ms: number) => string
}

export interface ExplanationContext {
  /** When the service gave the explanation, Unix ms. */
  readonly atMs: number
  /** Attempts of the delivery. */
  readonly attempts: number
  /** The latest attempts of the delivery that had the same answer, as far as they are known. */
  readonly sameAnswers?: number
}

interface ExplanationText {
  /** What is true now. */
  readonly lead: string
  /** What happens next, or what else is known. */
  readonly rest: string
}

/** Codes of deliveries for which the reason of the last failure is the news. */
const AFTER_FAILURE: ReadonlySet<string> = new Set([
  'call_order',
  'paused',
  'receiver_pause',
  'retry',
  'probe',
])

/** Codes of deliveries that have failed for good, with the reason of the last failure. */
const ENDED: ReadonlySet<string> = new Set(['exhausted', 'expired'])

export function explain(
  explanation: Explanation,
  context: ExplanationContext,
  words: ExplanationWords,
): ExplanationText {
  const { code, took, timeout } = explanation
  const state = stateSentence(explanation, context, words)
  const late = took === undefined ? [] : [words.say('result.lateAnswer', { took, timeout: timeout ?? 0 })]
  const answer = answerSentence(explanation, context, words)
  if (answer === undefined) return { lead: state, rest: late.join(' ') }
  return AFTER_FAILURE.has(code)
    ? { lead: answer, rest: [state, ...late].join(' ') }
    : { lead: state, rest: [answer, ...late].join(' ') }
}

/** What the server did; `undefined`: nothing that matters. */
function answerSentence(
  { code, reason }: Explanation,
  { attempts, sameAnswers = 0 }: ExplanationContext,
  { say, cause }: ExplanationWords,
): string | undefined {
  if (reason === undefined || code === 'delivered') return undefined
  // What has ended is not sent again.
  if (/interrupted|^own[ _]fault$/.test(reason)) return ENDED.has(code) ? undefined : say('result.ours')
  const status = /^status (\d{3})$/.exec(reason)?.[1]
  if (attempts === 0) {
    return status === undefined
      ? say('result.failedBefore', { reason: cause(reason) })
      : say('result.answeredBefore', { status })
  }
  if (status === undefined) return say('result.failed', { reason: cause(reason) })
  if (sameAnswers > 1 && sameAnswers === attempts)
    return say(attempts === 2 ? 'result.twice' : 'result.same', { status, count: attempts })
  return say('result.answered', { status, count: attempts })
}

function stateSentence(
  { code, ahead, seconds = 0, limit, attempts }: Explanation,
  { atMs }: ExplanationContext,
  { say, clock }: ExplanationWords,
): string {
  const count = ahead ?? attempts ?? limit
  // An event that was never sent became too old in another way than one whose tries failed.
  const key = code === 'expired' && attempts === undefined ? 'explain.expired_unsent' : `explain.${code}`
  return say(key, { time: clock(atMs + seconds * 1_000), ...(count !== undefined && { count }) })
}
