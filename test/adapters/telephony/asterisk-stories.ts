import type { ChannelEvent } from 'hookswitch'
import { type AsteriskAccountOf, accountFromAccountCode, accountFromVariable } from 'hookswitch/asterisk'
import { amiFrames } from '../../../adapters/telephony/asterisk/ami-frames.js'
import { amiHappening, isRead } from '../../../adapters/telephony/asterisk/ami-happening.js'
import { amiMessage, eventOf } from '../../../adapters/telephony/asterisk/ami-message.js'
import { ariEvent, mayMatter } from '../../../adapters/telephony/asterisk/ari-event.js'
import type { Happening } from '../../../adapters/telephony/asterisk/happening.js'
import { type MappingOptions, mapping } from '../../../adapters/telephony/asterisk/mapping.js'
import { accountHold, type UnknownAccount } from '../../../adapters/telephony/source/account-hold.js'
import type { Mapped, Problem } from '../../../adapters/telephony/source/leg-news.js'
import { amiBytes, ariFrames, recordedCalls } from './asterisk-recorded.js'

/** Phones have the variable; halves of Local channels inherit the account code alone. */
export const byVariable: AsteriskAccountOf = (leg) =>
  accountFromVariable('ACCOUNT_ID')(leg) ?? (leg.isInternalLeg ? accountFromAccountCode()(leg) : undefined)

/** Everything that came out of a stream. */
export interface Story {
  events: ChannelEvent[]
  problems: Problem[]
  unknown: UnknownAccount[]
  openLegs: number
}

/** Maps, and gives events their account as a feed does. */
export function teller(options: Partial<MappingOptions> = {}) {
  const map = mapping({ accountOf: byVariable, maxOpenLegs: 100_000, ...options })
  const hold = accountHold({ holdMs: 10_000, maxPerLeg: 100, maxLegs: 10_000 })
  const told: Omit<Story, 'openLegs'> = { events: [], problems: [], unknown: [] }
  const take = ({ news, problems }: Mapped) => {
    told.problems.push(...problems)
    for (const one of news) {
      const { ready, unknown } = hold.take(one, 0)
      told.events.push(...ready)
      told.unknown.push(...unknown)
    }
  }
  return {
    mapping: map,
    take,
    tell: (...happenings: Happening[]) => {
      for (const happening of happenings) take(map.map(happening))
    },
    story: (): Story => ({ ...told, openLegs: map.openLegs() }),
  }
}

/** The happenings of AMI bytes. */
export function amiHappenings(chunks: Iterable<Buffer>): Happening[] {
  const all: Happening[] = []
  const frames = amiFrames(
    () => {},
    (bytes) => {
      if (!isRead(eventOf(bytes))) return
      const happening = amiHappening(amiMessage(bytes), 0)
      if (typeof happening === 'string') throw new Error(happening)
      if (happening) all.push(happening)
    },
  )
  for (const chunk of chunks) frames.receive(chunk)
  return all
}

/** The happenings of ARI frames. */
export function ariHappenings(frames: readonly string[]): Happening[] {
  const all: Happening[] = []
  for (const frame of frames) {
    const read = mayMatter(frame) ? ariEvent(frame, 0) : undefined
    if (read && 'malformed' in read) throw new Error(read.malformed)
    if (read && 'happening' in read) all.push(read.happening)
  }
  return all
}

export function storyOf(happenings: readonly Happening[], options: Partial<MappingOptions> = {}): Story {
  const { tell, story } = teller(options)
  tell(...happenings)
  return story()
}

/** What both streams of the recording tell. */
export const STORIES = [
  ['AMI', storyOf(amiHappenings([amiBytes]), { customVariables: ['SIPCALLID'] })],
  ['ARI', storyOf(ariHappenings(ariFrames), { customVariables: ['SIPCALLID'] })],
] as const

/** The Uniqueid of each phone's leg by its SIP Call-ID: ARI tells it of all of them, AMI not. */
export const UNIQUEID: ReadonlyMap<string, string> = new Map(
  STORIES[1][1].events.flatMap(({ callId, customChannelVars }) =>
    customChannelVars?.sip_call_id === undefined ? [] : [[String(customChannelVars.sip_call_id), callId]],
  ),
)

export const hooks = (events: readonly ChannelEvent[]) =>
  events.map(({ hook }) => hook.replace('channel_', ''))

/** The events of a leg, found by the SIP Call-ID of its phone. */
export function eventsOf({ events }: Story, sipCallId: string): ChannelEvent[] {
  const id = UNIQUEID.get(sipCallId)
  return events.filter(({ callId }) => callId === id)
}

export const find = (story: Story, sipCallId: string, hook: string) =>
  eventsOf(story, sipCallId).find((event) => event.hook === `channel_${hook}`)

/** What happened, by stream. */
export const HAPPENINGS = { AMI: amiHappenings([amiBytes]), ARI: ariHappenings(ariFrames) } as const

/** The messages of AMI, without their last line end. */
export const amiTexts: readonly string[] = amiBytes.toString('utf8').split('\r\n\r\n').slice(1)

export const legsOf = (call: string) => recordedCalls.find((one) => one.call === call)!.legs

/** The SIP Call-ID of one of the legs of a call; 1: the dialled one. */
export const legOf = (call: string, index = 1) => legsOf(call)[index]!.callId

/** Whom a phone talks to, in order. */
export const othersOf = (story: Story, sipCallId: string) =>
  eventsOf(story, sipCallId)
    .filter(({ hook }) => hook === 'channel_bridge')
    .map(({ otherLegCallId }) => otherLegCallId)

export const causeOf = (story: Story, sipCallId: string) => find(story, sipCallId, 'destroy')?.hangupCause
