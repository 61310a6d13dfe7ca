/**
 * What happens to channels → channel events: the table of open legs around the decisions of `rooms`, `ending` and
 * `drafts`. One mapping for AMI and ARI. It knows nothing of connections and of the clock, and never throws.
 */
import type { Mapped } from '../source/leg-news.js'
import { bridgeDraft, destroyDraft, draftOf } from './drafts.js'
import { endingOf } from './ending.js'
import { type Bridge, BUSY, type Happening, type Listed, RINGING, UP } from './happening.js'
import type { Leg } from './leg.js'
import { type LegTable, legTable, type MappingOptions } from './leg-table.js'
import { type Bridging, rooms } from './rooms.js'

export type { MappingOptions } from './leg-table.js'

/** What was open when the switch was asked for its open channels. */
export interface Question {
  readonly open: ReadonlySet<string>
  readonly step: number
}

export interface Mapping {
  map(happening: Happening): Mapped
  /** The switch is asked now: what begins or ends from here on is no news of the answer. */
  ask(): Question
  /**
   * The answer: legs that are not in it have ended unheard, channels that are not known began so.
   *
   * @param nowMs the time for what has none of its own, Unix milliseconds
   */
  compare(question: Question, listed: readonly Listed[], nowMs: number): Mapped
  /** How many legs are open. */
  openLegs(): number
}

/** Signs of life of a phone that is dialled, with early media or without. */
const ALERTS: ReadonlySet<string> = new Set(['RINGING', 'PROGRESS'])

export function mapping(options: MappingOptions): Mapping {
  const legs: LegTable = legTable(options, (leg) => {
    leave(leg)
    early.delete(leg.id)
  })
  const { enter, leave } = rooms(legs)
  /** Bridges with a leg that is not answered yet, which are no talk, by that leg. */
  const early = new Map<string, Bridging[]>()
  let step = 0

  /** Makes a leg known, if it is time, and what its state says of it. */
  const settle = (leg: Leg, atMs: number, isDue: boolean): void => {
    if (!leg.parties && (isDue || (leg.direction === 'inbound' && !leg.isInternal))) {
      legs.introduce(leg)
      legs.say(leg, draftOf(leg, { hook: 'channel_create', atMs: leg.createdMs }, legs.shown(leg)))
    }
    const { state } = leg.channel
    if (state === RINGING) leg.ringingMs ??= atMs
    if (state === UP && leg.answeredMs === undefined && leg.parties) {
      leg.answeredMs = atMs
      legs.say(leg, draftOf(leg, { hook: 'channel_answer', atMs }, legs.shown(leg)))
      const waiting = early.get(leg.id) ?? []
      early.delete(leg.id)
      for (const bridging of waiting) if (isStanding(bridging)) bridged(bridging, atMs)
    }
  }

  /** Early media is no talk: a bridge is told when both are answered. */
  const bridged = (bridging: Bridging, atMs: number): void => {
    const { leg, other, bridge } = bridging
    const unanswered = [leg, other].find((one) => one && one.answeredMs === undefined)
    if (unanswered) {
      // Only what still stands, and of each leg the newest: a leg may come and go for long before it is answered.
      const waiting = (early.get(unanswered.id) ?? []).filter((one) => one.leg !== leg && isStanding(one))
      waiting.push(bridging)
      early.set(unanswered.id, waiting)
      return
    }
    if (other && !other.isInternal && !leg.isInternal) leg.other = other.id
    leg.hasOtherAsked = false
    legs.say(leg, bridgeDraft(leg, other, bridge, atMs, legs.shown(leg)))
  }

  const dialled = (caller: Leg | undefined, called: Leg, status: string, atMs: number): void => {
    if (status === '') {
      if (caller) {
        called.other ??= caller.id
        caller.other = called.id
        caller.hasOtherAsked = false
      }
    } else if (ALERTS.has(status)) {
      called.ringingMs ??= atMs
      if (caller && caller.answeredMs === undefined) caller.ringingMs ??= atMs
    } else if (status !== 'PROCEEDING') {
      called.dialStatus = status
      if (caller) {
        caller.dialStatus = status
        if (status === 'ANSWER') caller.other = called.id
      }
    }
  }

  const entered = (leg: Leg, bridge: Bridge, atMs: number, isWanted: (leg: Leg) => boolean): void => {
    leg.movedAt = step
    if (leg.isHeld && leg.bridge !== bridge.id) hold(leg, false, atMs)
    for (const bridging of enter(leg, bridge)) {
      const { leg: one, other } = bridging
      if (!isWanted(one) && !(other && isWanted(other))) continue
      settle(one, atMs, true)
      if (other) settle(other, atMs, true)
      bridged(bridging, atMs)
    }
  }

  /** Holds do not pair up: what is no change is nothing that anybody did. */
  const hold = (leg: Leg, isHeld: boolean, atMs: number): void => {
    if (leg.isHeld === isHeld) return
    leg.isHeld = isHeld
    const hook = isHeld ? 'channel_hold' : 'channel_unhold'
    legs.say(leg, draftOf(leg, { hook, atMs, key: Math.round(atMs * 1000) }, legs.shown(leg)))
  }

  const asked = (leg: Leg, code: number | undefined): void => {
    // What the switch has refused asks too, as soon as the phone agrees.
    if (leg.direction === 'inbound' && leg.channel.state === BUSY) return
    leg.hasAsked = true
    leg.askedCode ??= code
    const other = legs.get(leg.partner) ?? legs.get(legs.behind(leg.other))
    // A branch that refuses says nothing of a caller who has another one ringing.
    if (other && (other.partner ?? legs.behind(other.other)) === leg.id) other.hasOtherAsked = true
  }

  const end = (
    leg: Leg,
    atMs: number,
    ending: ReturnType<typeof endingOf>,
    vars: Record<string, unknown>,
  ): void => {
    settle(leg, atMs, true)
    const { other, customChannelVars } = legs.shown(leg)
    const shown = { other, customChannelVars: Object.assign(vars, customChannelVars) }
    const draft = destroyDraft(leg, ending, atMs, shown)
    leave(leg)
    early.delete(leg.id)
    legs.close(leg, draft)
  }

  return {
    map(happening) {
      step += 1
      const { kind, atMs } = happening
      const channel = kind === 'dialled' ? happening.called : happening.channel
      const caller =
        kind === 'dialled' && happening.caller ? legs.see(happening.caller, atMs, 'seen') : undefined
      const leg = legs.see(channel, atMs, kind)
      if (kind === 'dialled' && leg) dialled(caller, leg, happening.status, atMs)
      if (caller) settle(caller, atMs, true)
      if (!leg) return legs.told()
      settle(leg, atMs, kind !== 'began' && (kind !== 'seen' || channel.state === UP))
      switch (kind) {
        case 'entered':
          entered(leg, happening.bridge, atMs, () => true)
          break
        case 'left':
          leg.movedAt = step
          if (leg.bridge === happening.bridge.id) leave(leg)
          break
        case 'held':
        case 'unheld':
          hold(leg, kind === 'held', atMs)
          break
        case 'hangup_asked':
          asked(leg, happening.techCause)
          break
        case 'hung_up': {
          const endedBy = leg.hasAsked ? 'this_leg' : leg.hasOtherAsked ? 'other_leg' : 'switch'
          const vars = leg.isInternal ? {} : { ended_by: endedBy }
          end(leg, atMs, endingOf(leg, happening.cause, happening.techCause), vars)
        }
      }
      return legs.told()
    },
    ask: () => ({ open: legs.ids(), step }),
    compare(question, listed, nowMs) {
      step += 1
      const isKnown = (leg: Leg) => question.open.has(leg.id)
      const found = new Set<string>()
      const standing = listed.map(({ channel }: Listed) => {
        found.add(channel.id)
        return legs.see(channel, nowMs, 'seen')
      })
      for (const leg of standing) if (leg) settle(leg, nowMs, true)
      listed.forEach(({ bridge }, index) => {
        const leg = standing[index]
        // What was heard since the question is newer than the answer.
        if (!leg || leg.movedAt > question.step) return
        if (bridge) entered(leg, bridge, nowMs, isKnown)
        else leave(leg)
      })
      for (const id of question.open) {
        const leg = found.has(id) ? undefined : legs.get(id)
        if (leg)
          end(leg, nowMs, { hangupCause: 'NORMAL_UNSPECIFIED', code: undefined }, { found_by: 'resync' })
      }
      return legs.told()
    },
    openLegs: legs.size,
  }
}

/** Whether a bridge of before is one still. */
function isStanding({ leg, other, bridge }: Bridging): boolean {
  if (leg.isInternal) return leg.bridge === bridge.id
  return other ? leg.partner === other.id && other.partner === leg.id : leg.partner === bridge.id
}
