/** The open legs, whose account is asked for and whose events are gathered: the memory of a mapping. */
import type { ChannelDraft, LegNews, Mapped, Problem } from '../source/leg-news.js'
import { NOTHING } from '../source/leg-news.js'
import { said } from '../source/said.js'
import type { Shown } from './drafts.js'
import { type AsteriskAccountOf, type AsteriskFacts, factsOf } from './facts.js'
import type { Channel, Happening } from './happening.js'
import { type Leg, openLeg, partiesOf } from './leg.js'

/** How happenings are mapped. */
export interface MappingOptions {
  readonly accountOf: AsteriskAccountOf
  /** The realm of the addresses in a leg's events; `undefined`: they are numbers alone. */
  readonly realmOf?: ((leg: AsteriskFacts) => string | undefined) | undefined
  /** Channel variables that go into `customChannelVars`. */
  readonly customVariables?: readonly string[] | undefined
  readonly maxOpenLegs: number
}

export interface LegTable {
  /** The leg of a channel, brought up to date or opened; `undefined`: it has ended, or ends before it was known. */
  see(channel: Channel, atMs: number, kind: Happening['kind']): Leg | undefined
  get(id: string | undefined): Leg | undefined
  /** Keeps the parties of a leg, as they stand, for all its events. */
  introduce(leg: Leg): void
  say(leg: Leg, draft: ChannelDraft): void
  /** The last of a leg. */
  close(leg: Leg, draft: ChannelDraft): void
  shown(leg: Leg): Shown
  otherHalf(leg: Leg): Leg | undefined
  /** The phone behind a leg: for a half of a Local channel whom its other half has to do with. */
  behind(id: string | undefined): string | undefined
  ids(): ReadonlySet<string>
  size(): number
  /** What was said since the last time. */
  told(): Mapped
}

/** Ids of ended legs that are remembered: late messages of them open nothing. */
const MAX_ENDED = 10_000
/** A Local channel may dial a Local channel; more in a row is a loop. */
const MAX_LOCALS_IN_A_ROW = 8

/** @param onForgotten told of a leg that must make room */
export function legTable(
  { accountOf, realmOf, customVariables = [], maxOpenLegs }: MappingOptions,
  onForgotten: (leg: Leg) => void,
): LegTable {
  /** By id, oldest first. */
  const open = new Map<string, Leg>()
  /** Halves of Local channels, by their first names. */
  const halves = new Map<string, Leg>()
  const ended = new Set<string>()
  let news: LegNews[] = []
  let problems: Problem[] = []

  /** Legs for which `accountOf` returned what is no account: told once. */
  const unanswered = new WeakSet<Leg>()
  const problem = (kind: Problem['kind'], message: string, { id }: Leg): void =>
    void problems.push({ kind, message, callId: id })

  const forget = (leg: Leg): void => {
    open.delete(leg.id)
    if (halves.get(leg.firstName) === leg) halves.delete(leg.firstName)
    ended.add(leg.id)
    if (ended.size > MAX_ENDED) {
      const [oldest = ''] = ended
      ended.delete(oldest)
    }
  }

  const askAccount = (leg: Leg, channel: Channel): void => {
    try {
      const accountId = textOf(accountOf(factsOf(leg, channel)))
      if (accountId === undefined) return
      if (accountId === '') {
        if (!unanswered.has(leg)) problem('account_of_threw', 'accountOf returned no text', leg)
        unanswered.add(leg)
        return
      }
      leg.accountId = accountId
      news.push({ callId: leg.id, accountId, drafts: [], ended: false })
    } catch (thrown) {
      problem('account_of_threw', `accountOf threw: ${said(thrown)}`, leg)
    }
  }

  const makeRoom = (): void => {
    if (open.size < maxOpenLegs) return
    const [oldest] = open.values()
    if (!oldest) return
    forget(oldest)
    onForgotten(oldest)
    const message = `more than ${maxOpenLegs} open legs: the oldest is forgotten`
    problem('overflow', message, oldest)
    news.push({ callId: oldest.id, accountId: oldest.accountId, drafts: [], ended: true })
  }

  const table: LegTable = {
    see(channel, atMs, kind) {
      let leg = open.get(channel.id)
      if (leg) leg.channel = channel
      else {
        if (ended.has(channel.id) && kind !== 'began') return undefined
        if (kind === 'hung_up') {
          const message = 'the end of a channel whose begin was not seen'
          problems.push({ kind: 'unknown_leg', message, callId: channel.id })
          ended.add(channel.id)
          return undefined
        }
        makeRoom()
        leg = openLeg(channel, atMs, kind === 'began')
        open.set(leg.id, leg)
        ended.delete(leg.id)
        if (leg.otherHalf !== undefined) halves.set(leg.firstName, leg)
      }
      if (leg.accountId === undefined) askAccount(leg, channel)
      return leg
    },
    get: (id) => (id === undefined ? undefined : open.get(id)),
    introduce(leg) {
      let realm: string | undefined
      try {
        realm = textOf(realmOf?.(factsOf(leg, leg.channel)))
        if (realm === '') problem('malformed', 'realmOf returned no text', leg)
      } catch (thrown) {
        problem('malformed', `realmOf threw: ${said(thrown)}`, leg)
      }
      leg.parties = partiesOf(leg, realm || undefined)
    },
    say(leg, draft) {
      news.push({ callId: leg.id, accountId: leg.accountId, drafts: [draft], ended: false })
    },
    close(leg, draft) {
      forget(leg)
      news.push({ callId: leg.id, accountId: leg.accountId, drafts: [draft], ended: true })
    },
    shown(leg) {
      const { channel } = leg
      const vars: Record<string, unknown> = {}
      for (const name of customVariables) {
        const value = channel.variable(name)
        if (value !== undefined) vars[name] = value
      }
      if (channel.linkedId !== undefined) vars.linked_id = channel.linkedId
      if (channel.protocolId !== undefined) vars.sip_call_id = channel.protocolId
      return { other: table.behind(leg.other), customChannelVars: vars }
    },
    otherHalf: (leg) => (leg.otherHalf === undefined ? undefined : halves.get(leg.otherHalf)),
    behind(id) {
      let at = id
      for (let hops = 0; at !== undefined && hops < MAX_LOCALS_IN_A_ROW; hops += 1) {
        const half = open.get(at)
        const next = half && table.otherHalf(half)?.other
        if (next === undefined) return at
        at = next
      }
      return id
    },
    ids: () => new Set(open.keys()),
    size: () => open.size,
    told() {
      if (news.length === 0 && problems.length === 0) return NOTHING
      const mapped = { news, problems }
      news = []
      problems = []
      return mapped
    },
  }
  return table
}

/** What a function of the host returned; '': neither a text nor nothing. */
function textOf(returned: unknown): string | undefined {
  if (returned === undefined || typeof returned === 'string') return returned
  // A promise is of no use here; that it rejects must not end the process.
  if (returned instanceof Promise) returned.catch(() => {})
  return ''
}
