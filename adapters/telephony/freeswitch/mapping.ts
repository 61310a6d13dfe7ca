/**
 * Events of the switch → channel events: the table of open legs around the decisions of `leg.ts` and `draft.ts`. Pure
 * but for the table, which is changed in place; never throws for a bad event.
 *
 * A leg that is not known yet is opened by any event that shows all of it, not by CHANNEL_CREATE alone: so what was
 * missed while nobody was connected comes out with its own times as soon as the switch speaks of it.
 */
import { type ChannelDraft, type LegNews, type Mapped, NOTHING, type Problem } from '../source/leg-news.js'
import { customVariables } from './custom-variables.js'
import { answered, bridged, created, destroyed, heldOrResumed, missing } from './draft.js'
import type { SwitchEvent } from './event.js'
import { type FreeswitchAccountOf, factsOf } from './facts.js'
import { answeredUs, createdUs, happenedUs, type Leg, learnAddresses, openLeg, timesOf } from './leg.js'
import { legTable } from './leg-table.js'
import { type EndEvent, type EventRole, eventRoles } from './needed-events.js'

/** How events are mapped. */
export interface MappingOptions {
  readonly accountOf: FreeswitchAccountOf
  /** Names of channel variables that go into `customChannelVars`, beside KAZOO's. */
  readonly customVariables: readonly string[]
  /** Events that are needed by `accountOf` alone. */
  readonly extraEvents: readonly string[]
  readonly maxOpenLegs: number
  readonly endsWith: EndEvent
}

/** A mapping of one switch. */
export interface FreeswitchMapping {
  /** Whether an event of this name says anything to it. */
  needs(name: string): boolean
  map(event: SwitchEvent): Mapped
  /** The switch's run is this one: what is left of another has ended. */
  restarted(run: string, nowMs: number): Mapped
  /** The leg has ended, and the switch did not say so. */
  gone(uuid: string, nowMs: number): Mapped
  /** An open leg as an object of its own: another one under the same id is another leg. */
  leg(uuid: string): object | undefined
  /** The open legs, as the switch names them now. */
  uuids(): string[]
  openLegs(): number
}

export function freeswitchMapping(options: MappingOptions): FreeswitchMapping {
  const { accountOf, maxOpenLegs, endsWith, extraEvents } = options
  const roles = eventRoles(endsWith, extraEvents)
  const table = legTable(maxOpenLegs)
  let run = ''

  const endMissing = (uuid: string, leg: Leg, nowUs: number): LegNews => {
    table.end(uuid, leg)
    return newsOf(leg, [missing(leg, nowUs)], true)
  }

  /** A new run begins: nothing of the one before is left. */
  const restart = (now: string, nowUs: number, news: LegNews[]) => {
    run = now
    for (const [uuid, leg] of table.entries()) if (leg.run !== run) news.push(endMissing(uuid, leg, nowUs))
  }

  const open = (event: SwitchEvent, uuid: string, problems: Problem[]): Leg => {
    const other = event.header('Other-Leg-Unique-ID')
    const otherCallId = other && (table.get(other)?.callId ?? other)
    const leg = openLeg(event, uuid, run, customVariables(event, options.customVariables), otherCallId)
    const forgotten = table.add(uuid, leg)
    if (forgotten) {
      const message = `more than ${maxOpenLegs} open legs: the oldest is forgotten`
      problems.push({ kind: 'overflow', message, callId: forgotten.callId })
    }
    return leg
  }

  /** Whether the leg's account became known. */
  const learnAccount = (leg: Leg, uuid: string, event: SwitchEvent, problems: Problem[]): boolean => {
    if (leg.accountId !== undefined) return false
    try {
      const told: unknown = accountOf(factsOf(uuid, event))
      if (typeof told === 'string' && told !== '') leg.accountId = told
      else if (told !== undefined && told !== '' && !leg.isMistold) {
        leg.isMistold = true
        const message = `accountOf returned no text (${typeof told}) at ${event.name}`
        problems.push({ kind: 'account_of_threw', message, callId: leg.callId })
      }
    } catch (thrown) {
      const name = thrown instanceof Error ? thrown.name : typeof thrown
      const message = `accountOf threw (${name}) at ${event.name}`
      problems.push({ kind: 'account_of_threw', message, callId: leg.callId })
    }
    return leg.accountId !== undefined
  }

  /** What an event that speaks says of any leg: its variables, and an answer whose own event was missed. */
  const refresh = (leg: Leg, event: SwitchEvent, { ends }: EventRole, drafts: ChannelDraft[]) => {
    leg.custom = customVariables(event, options.customVariables)
    learnAddresses(leg, event)
    if (leg.answeredUs === 0) {
      leg.answeredUs = answeredUs(event)
      if (leg.answeredUs > 0) drafts.push(answered(leg))
    }
    if (leg.doubtful && !ends) drafts.push(leg.doubtful)
    leg.doubtful = undefined
  }

  /** The other leg of a bridge has no event of its own: this one is for both. */
  const bridge = (
    uuid: string,
    leg: Leg,
    event: SwitchEvent,
    drafts: ChannelDraft[],
  ): LegNews | undefined => {
    const { header } = event
    const a = header('Bridge-A-Unique-ID') ?? uuid
    const otherUuid = (a === uuid ? header('Bridge-B-Unique-ID') : a) ?? header('Other-Leg-Unique-ID')
    const other = otherUuid === undefined ? undefined : table.get(otherUuid)
    leg.otherCallId = other?.callId ?? otherUuid
    drafts.push(bridged(leg, event, other?.parties.destination ?? header('Other-Leg-Destination-Number')))
    if (!other || other === leg) return undefined
    other.otherCallId = leg.callId
    return newsOf(other, [bridged(other, event, leg.parties.destination)], false)
  }

  /** The leg that an event is of, opened where it is not yet; `undefined`: it says nothing of any. */
  const legOf = (
    event: SwitchEvent,
    uuid: string,
    { opens }: EventRole,
    news: LegNews[],
    problems: Problem[],
    drafts: ChannelDraft[],
  ): Leg | undefined => {
    const known = table.get(uuid)
    if (known && event.name !== 'CHANNEL_CREATE') return known
    const beginUs = createdUs(event)
    if (known?.createdUs === beginUs) return known
    // The switch uses an id again whose leg has ended unheard.
    if (known) news.push(endMissing(uuid, known, happenedUs(event)))
    if (!opens || table.hasEnded(uuid, run, beginUs)) return undefined
    if (beginUs === 0) {
      problems.push(malformed(`${event.name} without a time`))
      return undefined
    }
    const leg = open(event, uuid, problems)
    drafts.push(created(leg))
    return leg
  }

  return {
    needs: (name) => roles.has(name),
    map(event) {
      const { name } = event
      const role = roles.get(name)
      if (!role) return NOTHING
      const uuid = event.header('Unique-ID')
      if (uuid === undefined) return { news: [], problems: [malformed(`${name} without Unique-ID`)] }
      if (name === 'CHANNEL_UUID') {
        table.rename(event.header('Old-Unique-ID') ?? '', uuid)
        return NOTHING
      }
      const news: LegNews[] = []
      const problems: Problem[] = []
      const drafts: ChannelDraft[] = []
      const itsRun = event.header('Core-UUID') ?? run
      if (itsRun !== run) restart(itsRun, happenedUs(event), news)

      const leg = legOf(event, uuid, role, news, problems, drafts)
      if (!leg) return news.length + problems.length > 0 ? { news, problems } : NOTHING
      const learned = learnAccount(leg, uuid, event, problems)
      if (role.speaks) refresh(leg, event, role, drafts)

      let ofOther: LegNews | undefined
      if (name === 'CHANNEL_BRIDGE') ofOther = bridge(uuid, leg, event, drafts)
      else if (name === 'CHANNEL_HOLD') drafts.push(heldOrResumed(leg, 'channel_hold', event))
      else if (name === 'CHANNEL_UNHOLD') resume(leg, event, drafts)
      else if (role.ends) {
        drafts.push(destroyed(leg, event, timesOf(leg, event)))
        table.end(uuid, leg)
      }
      if (drafts.length > 0 || learned) news.push(newsOf(leg, drafts, role.ends))
      if (ofOther) news.push(ofOther)
      return news.length + problems.length > 0 ? { news, problems } : NOTHING
    },
    restarted(now, nowMs) {
      const news: LegNews[] = []
      if (now !== run) restart(now, nowMs * 1000, news)
      return { news, problems: [] }
    },
    gone(uuid, nowMs) {
      const leg = table.get(uuid)
      return leg ? { news: [endMissing(uuid, leg, nowMs * 1000)], problems: [] } : NOTHING
    },
    leg: table.get,
    uuids: table.uuids,
    openLegs: table.size,
  }
}

/**
 * A leg on hold that is hung up is first resumed by the switch itself, which nobody did. Such an event has the marks of
 * the end already, or the phone still sends `sendonly` or `inactive`: then the next event of the leg tells whether it
 * lives on.
 */
function resume(leg: Leg, event: SwitchEvent, drafts: ChannelDraft[]): void {
  if (event.header('variable_sip_term_status') !== undefined) return
  const resumed = heldOrResumed(leg, 'channel_unhold', event)
  const media = event.header('variable_remote_audio_media_flow')
  if (media === 'sendonly' || media === 'inactive') leg.doubtful = resumed
  else drafts.push(resumed)
}

function newsOf(leg: Leg, drafts: readonly ChannelDraft[], ended: boolean): LegNews {
  return { callId: leg.callId, accountId: leg.accountId, drafts, ended }
}

function malformed(message: string): Problem {
  return { kind: 'malformed', message }
}
