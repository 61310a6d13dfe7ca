import type { ChannelEvent } from 'hookswitch'
import {
  accountFromSipHeader,
  accountFromVariable,
} from '../../../adapters/telephony/freeswitch/account-resolver.js'
import { type EslEvent, eventFromJson } from '../../../adapters/telephony/freeswitch/event.js'
import {
  createFreeswitchMapping,
  type MappingOptions,
} from '../../../adapters/telephony/freeswitch/mapping.js'
import {
  createAccountBuffer,
  type UnknownAccount,
} from '../../../adapters/telephony/source/account-buffer.js'
import type { MappedBatch, PendingEvent, Problem } from '../../../adapters/telephony/source/mapped-events.js'

const fromVariable = accountFromVariable()
const fromHeader = accountFromSipHeader('X-ecallmgr_Account-ID')

/** A mapping with the account functions that the recorded calls need, and these options. */
export function mappingFor(options: Partial<MappingOptions> = {}) {
  return createFreeswitchMapping({
    accountOf: (facts) => fromVariable(facts) ?? fromHeader(facts),
    customVariables: [],
    extraEvents: [],
    maxOpenLegs: 1_000,
    endEvent: 'CHANNEL_DESTROY',
    ...options,
  })
}

/** Maps events with an account buffer; collects what is published, has no account, or is a problem. */
export function mapAll(events: Iterable<EslEvent>, options: Partial<MappingOptions> = {}) {
  const mapping = mappingFor(options)
  const buffer = createAccountBuffer({ maxWaitMs: 60_000, maxEventsPerLeg: 100, maxLegs: 100 })
  const published: ChannelEvent[] = []
  const unknown: UnknownAccount[] = []
  const problems: Problem[] = []
  const add = (mapped: MappedBatch) => {
    problems.push(...mapped.problems)
    for (const update of mapped.updates) {
      const released = buffer.add(update, 0)
      published.push(...released.ready)
      unknown.push(...released.unknown)
    }
  }
  for (const event of events) add(mapping.map(event))
  /** All events of a leg, with or without an account. */
  const of = (callId: string): readonly (ChannelEvent | PendingEvent)[] => {
    const found = published.filter((event) => event.callId === callId)
    return found.length > 0 ? found : (unknown.find((call) => call.callId === callId)?.events ?? [])
  }
  return { mapping, add, published, unknown, problems, of, bufferedLegs: () => buffer.size() }
}

/** The hooks of events, without `channel_`. */
export const hooks = (events: readonly { readonly hook: string }[]) =>
  events.map(({ hook }) => hook.replace('channel_', ''))

const CREATED_US = 1_795_173_739_000_000

/** A synthetic event of a leg that was created at `CREATED_US`, `atMs` after that. */
export function syntheticEvent(
  name: string,
  uuid: string,
  atMs: number,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): EslEvent {
  const record = {
    'Event-Name': name,
    'Core-UUID': 'run-1',
    'Event-Date-Timestamp': String(CREATED_US + atMs * 1000),
    'Event-Sequence': String(100 + atMs),
    'Channel-Name': 'sofia/external/1001@acme.example',
    'Unique-ID': uuid,
    'Call-Direction': 'inbound',
    'Caller-Caller-ID-Number': '1001',
    'Caller-Destination-Number': '2001',
    'Caller-Channel-Created-Time': String(CREATED_US),
    'Caller-Channel-Answered-Time': '0',
    'Caller-Channel-Hangup-Time': '0',
    variable_ecallmgr_Account: 'x',
    ...headers,
  }
  const event = eventFromJson(record)
  if (!event) throw new Error('not an event')
  return event
}

export const createdMs = CREATED_US / 1000
/** A time of a leg, `ms` after its creation. */
export const time = (ms: number) => String(CREATED_US + ms * 1000)
/** The variable that holds the account. */
export const account = (id: string) => ({ 'variable_ecallmgr_Account-ID': id })
