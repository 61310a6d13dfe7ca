import type { ChannelEvent } from 'hookswitch'
import type { SwitchEvent } from '../../../adapters/telephony/freeswitch/event.js'
import { accountFromSipHeader, accountFromVariable } from '../../../adapters/telephony/freeswitch/facts.js'
import { jsonEvent } from '../../../adapters/telephony/freeswitch/json-event.js'
import { freeswitchMapping, type MappingOptions } from '../../../adapters/telephony/freeswitch/mapping.js'
import { accountHold, type UnknownAccount } from '../../../adapters/telephony/source/account-hold.js'
import type { ChannelDraft, Mapped, Problem } from '../../../adapters/telephony/source/leg-news.js'

const fromVariable = accountFromVariable()
const fromHeader = accountFromSipHeader('X-ecallmgr_Account-ID')

/** A mapping with the account functions that the recorded calls need, and other options. */
export function mappingFor(options: Partial<MappingOptions> = {}) {
  return freeswitchMapping({
    accountOf: (facts) => fromVariable(facts) ?? fromHeader(facts),
    customVariables: [],
    extraEvents: [],
    maxOpenLegs: 1_000,
    endsWith: 'CHANNEL_DESTROY',
    ...options,
  })
}

/** What becomes of a stream of events: published, given back, told. */
export function mapAll(events: Iterable<SwitchEvent>, options: Partial<MappingOptions> = {}) {
  const mapping = mappingFor(options)
  const hold = accountHold({ holdMs: 60_000, maxPerLeg: 100, maxLegs: 100 })
  const published: ChannelEvent[] = []
  const unknown: UnknownAccount[] = []
  const problems: Problem[] = []
  const take = (mapped: Mapped) => {
    problems.push(...mapped.problems)
    for (const news of mapped.news) {
      const released = hold.take(news, 0)
      published.push(...released.ready)
      unknown.push(...released.unknown)
    }
  }
  for (const event of events) take(mapping.map(event))
  /** All that is known of a leg, with or without an account. */
  const of = (callId: string): readonly (ChannelEvent | ChannelDraft)[] => {
    const found = published.filter((event) => event.callId === callId)
    return found.length > 0 ? found : (unknown.find((one) => one.callId === callId)?.drafts ?? [])
  }
  return { mapping, take, published, unknown, problems, of, held: () => hold.size() }
}

/** The hooks of events, without `channel_`. */
export const hooks = (events: readonly { readonly hook: string }[]) =>
  events.map(({ hook }) => hook.replace('channel_', ''))

const BEGIN_US = 1_795_173_739_000_000

/** A made-up event of a leg that began at `BEGIN_US`, `atMs` after that. */
export function made(
  name: string,
  uuid: string,
  atMs: number,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): SwitchEvent {
  const record = {
    'Event-Name': name,
    'Core-UUID': 'run-1',
    'Event-Date-Timestamp': String(BEGIN_US + atMs * 1000),
    'Event-Sequence': String(100 + atMs),
    'Channel-Name': 'sofia/external/1001@acme.example',
    'Unique-ID': uuid,
    'Call-Direction': 'inbound',
    'Caller-Caller-ID-Number': '1001',
    'Caller-Destination-Number': '2001',
    'Caller-Channel-Created-Time': String(BEGIN_US),
    'Caller-Channel-Answered-Time': '0',
    'Caller-Channel-Hangup-Time': '0',
    variable_ecallmgr_Account: 'x',
    ...headers,
  }
  const event = jsonEvent(Buffer.from(JSON.stringify(record)))
  if (!event) throw new Error('no event')
  return event
}

export const beginMs = BEGIN_US / 1000
/** A time of a leg, `ms` after its begin. */
export const time = (ms: number) => String(BEGIN_US + ms * 1000)
/** The variable that the account comes from. */
export const account = (id: string) => ({ 'variable_ecallmgr_Account-ID': id })
