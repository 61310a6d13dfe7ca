import type { SeededRandom } from './random.js'

/** How a call ended. `cancelled`: the caller gave up while it rang. */
export type CallOutcome = 'answered' | 'busy' | 'noAnswer' | 'cancelled' | 'declined'

/** Parts in a hundred: an assumption about a day in an office, not a measurement. */
export const OUTCOME_SHARES: Readonly<Record<CallOutcome, number>> = Object.freeze({
  answered: 64,
  busy: 7,
  noAnswer: 15,
  cancelled: 10,
  declined: 4,
})

/**
 * What the switch says of each leg at its end: FreeSWITCH's name of the Q.850 cause and the SIP status. `far` is
 * the called side.
 */
export const ENDINGS: Readonly<
  Record<CallOutcome, Readonly<Record<'near' | 'far', readonly [string, string]>>>
> = {
  answered: { near: ['NORMAL_CLEARING', 'sip:200'], far: ['NORMAL_CLEARING', 'sip:200'] },
  busy: { near: ['USER_BUSY', 'sip:486'], far: ['USER_BUSY', 'sip:486'] },
  noAnswer: { near: ['NO_ANSWER', 'sip:480'], far: ['NO_ANSWER', 'sip:487'] },
  cancelled: { near: ['ORIGINATOR_CANCEL', 'sip:487'], far: ['ORIGINATOR_CANCEL', 'sip:487'] },
  declined: { near: ['CALL_REJECTED', 'sip:603'], far: ['CALL_REJECTED', 'sip:603'] },
}

/** What happens when, in milliseconds since the call began. */
export interface Course {
  readonly outcome: CallOutcome
  /** The second leg comes up. */
  readonly dialledMs: number
  readonly answeredMs: number | undefined
  /** Each with the side that holds; without an end where the call ended on hold. */
  readonly holds: readonly {
    readonly side: 'near' | 'far'
    readonly fromMs: number
    readonly toMs?: number
  }[]
  readonly endedMs: number
  /** Who ended it: the near side is the caller's. */
  readonly endedBy: 'near' | 'far'
}

/** How long things take; assumptions again. */
export interface CourseFigures {
  /** Half of the answered calls ring shorter, milliseconds. */
  readonly ringMedianMs: number
  /** Mean length of a talk, milliseconds. */
  readonly talkMeanMs: number
}

/** The course of one call: ringing is log-normal, talking exponential, a few talks are held once or twice. */
export function drawCourse(
  random: SeededRandom,
  outcome: CallOutcome,
  { ringMedianMs, talkMeanMs }: CourseFigures,
): Course {
  const dialledMs = random.integer(5, 200)
  const ring = (medianMs: number) => dialledMs + 50 + Math.round(random.logNormal(medianMs, 0.6))
  const unanswered = (endedMs: number, endedBy: 'near' | 'far'): Course => ({
    outcome,
    dialledMs,
    answeredMs: undefined,
    holds: [],
    endedMs,
    endedBy,
  })

  switch (outcome) {
    case 'busy':
      return unanswered(ring(ringMedianMs / 10), 'far')
    case 'declined':
      return unanswered(ring(ringMedianMs / 2), 'far')
    case 'cancelled':
      return unanswered(ring(ringMedianMs * 1.5), 'near')
    // The switch gives up after a fixed time, here counted to the caller's side.
    case 'noAnswer':
      return unanswered(dialledMs + random.pick([20_000, 25_000, 30_000, 45_000]), 'near')
    case 'answered': {
      const answeredMs = ring(ringMedianMs)
      const talkMs = SHORTEST_TALK_MS + Math.round(random.exponential(talkMeanMs))
      const endedMs = answeredMs + talkMs
      const endedBy = random.pick(['near', 'far'] as const)
      return {
        outcome,
        dialledMs,
        answeredMs,
        holds: drawHolds(random, answeredMs, endedMs),
        endedMs,
        endedBy,
      }
    }
  }
}

/** A full second, also for the leg that is answered last: an answered call is billed. */
const SHORTEST_TALK_MS = 1_100

/** Room between the bridge and a hold, between holds, and between a hold and the end. */
const APART_MS = 100

/** How often a talk is held, in parts of a hundred. */
const HOLD_COUNTS = { '0': 82, '1': 14, '2': 4 }

function drawHolds(random: SeededRandom, answeredMs: number, endedMs: number): Course['holds'] {
  const holds: Course['holds'][number][] = []
  let freeMs = answeredMs + APART_MS
  for (let count = Number(random.weighted(HOLD_COUNTS)); count > 0; count -= 1) {
    const side = random.pick(['near', 'far'] as const)
    const fromMs = freeMs + random.integer(0, 60_000)
    const toMs = fromMs + 500 + Math.round(random.exponential(25_000))
    if (fromMs > endedMs - APART_MS) break
    if (toMs > endedMs - APART_MS) return [...holds, { side, fromMs }]
    holds.push({ side, fromMs, toMs })
    freeMs = toMs + APART_MS
  }
  return holds
}
