/**
 * Reads what belongs to an account and to no leg: registrations of phones (mod_sofia), agents of queues (mod_callcenter,
 * mod_fifo) and text messages. The names of the headers are those of sofia_reg.c, mod_callcenter.c, mod_fifo.c and
 * sofia_presence.c. Pure but for the last status of each agent.
 */
import { idempotencyKey } from '../source/idempotency-key.js'
import type { PendingEvent } from '../source/mapped-events.js'
import type { OptionalHook } from '../source/optional-hooks.js'
import { sipAddress } from '../source/sip-address.js'
import type { EslEvent } from './event.js'
import { readEventTimeUs } from './leg.js'
import { CALLCENTER, FIFO } from './queue-report.js'

type AccountHook = OptionalHook & PendingEvent['hook']
type Fields = { readonly [Name in keyof PendingEvent]?: PendingEvent[Name] | undefined }

/** Reads the events of accounts of one switch. */
interface AccountEvents {
  /** Reads an event; `undefined`: it is about a leg, or about nothing that is published. */
  read(event: EslEvent): readonly PendingEvent[] | undefined
}

/** The event of a text message. */
export const MESSAGE = 'MESSAGE'

/** The hooks of registrations, by the subclass of their event. */
const DEVICE_HOOKS: ReadonlyMap<string, AccountHook> = new Map([
  ['sofia::register', 'device_registered'],
  ['sofia::unregister', 'device_unregistered'],
  ['sofia::expire', 'device_unregistered'],
])

const CONSUMER_HOOKS: ReadonlyMap<string, AccountHook> = new Map([
  ['consumer_start', 'queue_agent_login'],
  ['consumer_stop', 'queue_agent_logout'],
])

/** What an agent does by the status, which may be on demand too. */
type AgentState = 'available' | 'pausing' | 'out'

const AGENT_STATES: ReadonlyMap<string, AgentState> = new Map([
  ['Available', 'available'],
  ['Available (On Demand)', 'available'],
  ['On Break', 'pausing'],
  ['Logged Out', 'out'],
])

/** An agent of mod_fifo serves no more queues. */
const MAX_QUEUES = 25

/** Number of agents whose status is remembered; above it the one that changed first is forgotten. */
const MAX_AGENTS = 10_000
/** No event may have a longer id. */
const MAX_ID_LENGTH = 255

/** Subclasses of CUSTOM that these hooks need. */
export function accountSubclasses(hooks: readonly OptionalHook[]): readonly string[] {
  const hasAgents = hooks.some((hook) => /^queue_agent_(?:login|logout|pause|resume)$/.test(hook))
  return [
    ...[...DEVICE_HOOKS].flatMap(([subclass, hook]) => (hooks.includes(hook) ? [subclass] : [])),
    ...(hasAgents ? [CALLCENTER, FIFO] : []),
  ]
}

export function createAccountEvents(): AccountEvents {
  /** By agent, the one whose status changed first in front. */
  const agents = new Map<string, AgentState>()

  /** An agent of mod_callcenter who is available has logged in, or is back from a break. */
  const readStatus = (event: EslEvent): readonly PendingEvent[] => {
    const agentId = event.header('CC-Agent')
    const state = AGENT_STATES.get(event.header('CC-Agent-Status') ?? '')
    if (agentId === undefined || state === undefined) return []
    const before = agents.get(agentId)
    agents.delete(agentId)
    if (agentId.length <= MAX_ID_LENGTH) agents.set(agentId, state)
    const [oldest = agentId] = agents.keys()
    if (agents.size > MAX_AGENTS) agents.delete(oldest)
    if (before === state) return []
    const available = before === 'pausing' ? 'queue_agent_resume' : 'queue_agent_login'
    const others = { pausing: 'queue_agent_pause', out: 'queue_agent_logout' } as const
    const hook = state === 'available' ? available : others[state]
    return [build(event, hook, 'agent', agentId, { agentId })]
  }

  return {
    read(event) {
      if (event.name === MESSAGE) return readMessage(event)
      const subclass = event.header('Event-Subclass') ?? ''
      const hook = DEVICE_HOOKS.get(subclass)
      if (hook) return readRegistration(event, hook)
      if (subclass === CALLCENTER && event.header('CC-Action') === 'agent-status-change')
        return readStatus(event)
      const consumerHook = CONSUMER_HOOKS.get(event.header('FIFO-Action') ?? '')
      return subclass === FIFO && consumerHook ? readConsumer(event, consumerHook) : undefined
    },
  }
}

/**
 * An agent of mod_fifo who waits on the line for callers. One who is dialled for a caller does not log in: so it is with
 * outbound members.
 */
function readConsumer(event: EslEvent, hook: AccountHook): readonly PendingEvent[] {
  const isWaiting = / out wait\b/.test(event.header('variable_current_application_data') ?? '')
  const uuid = event.header('Unique-ID')
  const agentId = event.header('variable_fifo_consumer_id') ?? uuid
  if (agentId === undefined || !isWaiting || event.header('Call-Direction') !== 'inbound') return []
  const agentNumber = event.header('Caller-Caller-ID-Number')
  // One event for each queue: `sales!2,support`.
  return (event.header('FIFO-Name') ?? '').split(',', MAX_QUEUES).map((name) => {
    const queueId = name.replace(/!\d*$/, '')
    return build(event, hook, 'agent', agentId, { agentId, agentNumber, queueId, agentCallId: uuid }, queueId)
  })
}

/**
 * A registration. `callId` is the Call-ID that all its requests have, or the address of the device. A registration that is
 * only renewed is nothing.
 */
function readRegistration(event: EslEvent, hook: AccountHook): readonly PendingEvent[] {
  const username = event.header('from-user') ?? event.header('user')
  const realm = event.header('from-host') ?? event.header('host')
  if (username === undefined || event.header('update-reg') === 'true') return []
  const from = realm === undefined ? username : `${username}@${realm}`
  const expires = event.header('expires') ?? ''
  const fields = {
    from,
    username,
    realm,
    contact: event.header('contact'),
    userAgent: event.header('user-agent'),
    // Of an expired registration it is the time at which it ended.
    expires: hook === 'device_registered' && /^\d{1,9}$/.test(expires) ? Number(expires) : undefined,
  }
  return [build(event, hook, 'device', event.header('call-id') ?? from, fields)]
}

/** A text message (SIP MESSAGE) that the switch delivers. The switch gives it no id. */
function readMessage(event: EslEvent): readonly PendingEvent[] {
  const from = partyOf(event, 'from')
  const to = partyOf(event, 'to')
  const type = event.header('type') ?? ''
  const isText = event.header('proto') === 'sip' && (type === '' || /^text\//i.test(type))
  if (!isText || (from.user === undefined && to.user === undefined)) return []
  const id = `${event.header('Core-UUID') ?? ''}-${event.header('Event-Sequence') ?? readEventTimeUs(event)}`
  const fields = {
    direction: 'inbound',
    from: from.user,
    fromRealm: from.realm,
    to: to.user,
    toRealm: to.realm,
    body: event.body(),
  } as const
  return [build(event, 'sms', 'sms', id, fields)]
}

/** The user and realm of a message; an address may begin with the SIP profile: `internal/1002@acme.example`. */
function partyOf(event: EslEvent, side: 'from' | 'to') {
  const address = event
    .header(side)
    ?.replace(/^[^@/]*\//, '')
    .replace(/^sips?:/, '')
  const parsed = address === undefined ? undefined : sipAddress(`sip:${address}`)
  return {
    user: event.header(`${side}_user`) ?? (parsed?.user || undefined),
    realm: event.header(`${side}_host`) ?? (parsed?.domain || undefined),
  }
}

/**
 * @param kind phones choose ids and names: with it in front, a `callId` is never that of a leg
 * @param key what distinguishes it from others of the same event
 */
function build(
  event: EslEvent,
  hook: AccountHook,
  kind: 'device' | 'agent' | 'sms',
  id: string,
  fields: Fields,
  key = '',
): PendingEvent {
  const callId = idempotencyKey(kind, id)
  const atUs = readEventTimeUs(event)
  const run = event.header('Core-UUID') ?? ''
  const sequence = event.header('Event-Sequence') ?? atUs
  return {
    hook,
    callId,
    timestampMs: Math.floor(atUs / 1000),
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
    // Without the hook: two nodes may know different states of an agent before this event.
    idempotencyKey: idempotencyKey(run, callId, key === '' ? sequence : `${sequence}/${key}`),
  }
}
