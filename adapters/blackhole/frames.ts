/** Frames of KAZOO's blackhole protocol (`blackhole_socket_handler`, `blackhole_data_emitter`). Pure. */
import { type Binding, parseBinding } from './bindings.js'
import type { CallEvent } from './call-event.js'

/** What a client sent. */
export interface ClientRequest {
  readonly action: string
  /** The reply has the same. `undefined`: the reply gets a generated one. */
  readonly requestId: string | undefined
  /** Unchecked. `undefined`: there is none, or an empty one. */
  readonly token: unknown
  readonly data: Readonly<Record<string, unknown>> | undefined
}

/** A frame that is no request. */
interface InvalidRequest {
  readonly requestId: string | undefined
  readonly problem: string
}

/** 1 to 128 printable characters, as in `X-Request-ID`. */
const REQUEST_ID = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,128}$/u

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads a text frame. */
export function parseRequest(text: string): ClientRequest | InvalidRequest {
  let frame: unknown
  try {
    frame = JSON.parse(text)
  } catch {
    return { requestId: undefined, problem: 'invalid JSON' }
  }
  if (!isObject(frame)) return { requestId: undefined, problem: 'invalid JSON : not an object' }
  const { action, request_id, auth_token, data } = frame
  const id = typeof request_id === 'number' ? String(request_id) : (request_id ?? undefined)
  if (id !== undefined && id !== '' && !(typeof id === 'string' && REQUEST_ID.test(id))) {
    return { requestId: undefined, problem: 'request_id must have 1 to 128 printable characters' }
  }
  const requestId = id === '' ? undefined : id
  if (typeof action !== 'string' || action === '')
    return { requestId, problem: 'missing required keys : action' }
  if (data !== undefined && data !== null && !isObject(data)) {
    return { requestId, problem: 'data must be an object' }
  }
  const token = auth_token === null || auth_token === '' ? undefined : auth_token
  return { action, requestId, token, data: isObject(data) ? data : undefined }
}

/** What is wrong with a request, in KAZOO's words where it has them. */
export interface Failures {
  readonly errors: readonly string[]
}

/** A binding that a request may not have; the others of its list are not affected. */
interface RefusedBinding {
  /** As the client wrote it, which may be anything but a string. */
  readonly key: unknown
  readonly problem: string
}

/** The account and the bindings that a request names. At least one binding is valid. */
interface Selection {
  readonly accountId: string | undefined
  readonly bindings: readonly Binding[]
  readonly refused: readonly RefusedBinding[]
}

/**
 * Reads `data` of `subscribe` and `unsubscribe`: `account_id`, and `binding` or else `bindings`. `name` and `metadata`, which
 * KAZOO keeps for its list of sockets, are ignored.
 *
 * @param mayOmitAccount `unsubscribe` without an account concerns all of them
 */
export function readSelection(
  data: Readonly<Record<string, unknown>> | undefined,
  mayOmitAccount: boolean,
): Selection | Failures {
  const { account_id: accountId, binding, bindings } = data ?? {}
  const keys = binding ?? bindings
  const missing = [
    ...(accountId === undefined && !mayOmitAccount ? ['account_id'] : []),
    ...(keys === undefined ? ['binding'] : []),
  ]
  if (Object.keys(data ?? {}).length === 0) return failed('missing required keys in data object')
  if (missing.length > 0) return failed(`missing required keys : ${missing.join(', ')}`)
  if (accountId !== undefined && typeof accountId !== 'string') return failed('account_id must be a string')
  const list: unknown[] = Array.isArray(keys) ? keys : [keys]
  if (list.length === 0) return failed(NO_STRING)
  const valid: Binding[] = []
  const refused: RefusedBinding[] = []
  for (const key of new Set(list)) {
    const parsed = typeof key === 'string' ? parseBinding(key) : NO_STRING
    if (typeof parsed === 'string') refused.push({ key, problem: parsed })
    else valid.push(parsed)
  }
  return valid.length > 0 ? { accountId, bindings: valid, refused } : failed(...problemsOf(refused))
}

const NO_STRING = 'binding must be a string, and bindings a list of strings'

const problemsOf = (refused: readonly RefusedBinding[]): readonly string[] => [
  ...new Set(refused.map(({ problem }) => problem)),
]

/** Part of a reply to a request of which some bindings are refused: these, and KAZOO's words for why. */
export const refusals = ({ refused }: Selection): object =>
  refused.length === 0 ? {} : { refused: refused.map(({ key }) => key), errors: problemsOf(refused) }

export const failed = (...errors: readonly string[]): Failures => ({ errors })

export const successFrame = (requestId: string, data: object): string =>
  JSON.stringify({ action: 'reply', request_id: requestId, status: 'success', data })

export const errorFrame = (requestId: string, errors: readonly string[]): string =>
  JSON.stringify({ action: 'reply', request_id: requestId, status: 'error', data: { errors } })

/** One frame per binding: clients choose their handler by `subscribed_key`. */
export function eventFrame(
  { key, call }: Binding,
  { accountId, name, routedCallId, json }: CallEvent,
): string {
  const [subscribed, subscription, routing] = [
    key,
    `call.${accountId}.${name}.${call}`,
    `call.${accountId}.${name}.${routedCallId}`,
  ].map((text) => JSON.stringify(text))
  return `{"action":"event","subscribed_key":${subscribed},"subscription_key":${subscription},"name":"${name}","routing_key":${routing},"data":${json}}`
}
