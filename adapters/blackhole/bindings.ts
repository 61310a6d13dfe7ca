/** Bindings to call events, as KAZOO's `bh_call` and `kz_amqp_util` have them. Pure. */
import { CALL_EVENTS, type CallEventName } from 'hookswitch/adapter'

/** A binding of a client: `call.EVENT.CALL_ID`. */
export interface Binding {
  /** As the client wrote it; `subscribed_key` of its events. */
  readonly key: string
  readonly event: CallEventName | '*'
  /** Id of a call, plain or encoded as in routing keys; `*`: every call. */
  readonly call: string
}

/** Characters of a binding: the longest id of a call, encoded, has 765. */
const MAX_LENGTH = 1_024

/** Returns the binding, or why it is refused, in KAZOO's words. */
export function parseBinding(key: string): Binding | string {
  if (key.length > MAX_LENGTH) return `invalid binding : at most ${MAX_LENGTH} characters`
  const [kind, event = '', ...rest] = key.split('.')
  if (kind !== 'call') return 'no available subscriptions to requested binding'
  // The id of a call may contain dots, which KAZOO requires to be encoded.
  const call = rest.join('.')
  if (event === '' || call === '' || call === '#') {
    return `invalid format for call subscription : ${[event, ...rest].join(', ')}`
  }
  if (event === '*') return { key, event, call }
  const known = CALL_EVENTS.find((name) => name === event)
  return known ? { key, event: known, call } : `event ${event} not supported`
}

/** What a binding is compared with. */
export interface BindingTarget {
  readonly name: CallEventName
  readonly callId: string
  /** `callId` as `encodeRoutingKey` returns it. */
  readonly routedCallId: string
}

export const matchesBinding = (
  { event, call }: Binding,
  { name, callId, routedCallId }: BindingTarget,
): boolean => (event === '*' || event === name) && (call === '*' || call === callId || call === routedCallId)

/** Encodes one part of a routing key, so that it contains no dot and no wildcard (`kz_amqp_util:encode`). */
export const encodeRoutingKey = (part: string): string =>
  part.replace(/[^A-Za-z0-9_~-]/gu, (char) =>
    char === ' ' ? '+' : [...Buffer.from(char, 'utf8')].map(percentEncoded).join(''),
  )

const percentEncoded = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
