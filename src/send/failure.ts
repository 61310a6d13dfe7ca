/** What an error of the network means for the receiver: a total mapping, anything unknown included. */
import type { Observation, TransportFailure } from '../ports.js'

/** An observation without an answer: what a failed connection or request comes to. */
export type NoAnswer = Exclude<Observation, { kind: 'response' } | { kind: 'withdrawn' }>

export function noResponse(failure: TransportFailure, detail: string): NoAnswer {
  return { kind: 'no_response', failure, detail }
}

export function ownFault(detail: string): NoAnswer {
  return { kind: 'own_fault', detail }
}

/** The code that carries a finished judgement through the client library, which knows nothing of ours. */
const CONNECT_FAILED = 'HOOKSWITCH_CONNECT'

/** An error that the client library hands on untouched, with the judgement inside. */
export function connectError(seen: NoAnswer): Error {
  return Object.assign(new Error(seen.detail), { code: CONNECT_FAILED, seen })
}

// Out of file handles, memory, buffers: this machine's trouble, whoever was called.
const OURS = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EAGAIN', 'ERR_WORKER_OUT_OF_MEMORY'])
const TIMEOUTS = /^(ETIMEDOUT|UND_ERR_(HEADERS|BODY|CONNECT)_TIMEOUT)$/
const CERTIFICATE =
  /^(CERT_|CRL_|DEPTH_|SELF_SIGNED|UNABLE_TO_|ERR_TLS_|ERR_SSL_|ERR_OSSL_|HOSTNAME_MISMATCH)|_SELF_SIGNED_|CERT/
const TLS = /^(EPROTO|INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED)$/
// The parser's errors come without their `HPE_` code where undici looks it up the wrong way round.
const PROTOCOL_NAMES = new Set(['AssertionError', 'HTTPParserError'])
const PROTOCOL =
  /^(HPE_|ERR_ASSERTION|UND_ERR_(HEADERS_OVERFLOW|RES_|REQ_|INVALID_ARG|NOT_SUPPORTED)|ERR_INVALID|ERR_HTTP_)/

/**
 * Judges whatever the client library, node or the system threw while a request was under way.
 *
 * `EADDRNOTAVAIL` to an IPv4 address means that no local port is free, which is our fault; to an IPv6 address it
 * mostly means that this machine has no IPv6, so the receiver is unreachable like any other. An argument that the
 * library refuses is charged as `protocol`: it would be refused every time, and must come to an end.
 */
export function judgeError(
  thrown: unknown,
  context: { readonly isReused?: boolean; readonly ip?: string } = {},
): NoAnswer {
  const { code, message, name, seen, syscall } = describe(thrown)
  if (code === CONNECT_FAILED && seen) return seen
  const again = context.isReused ? ' (on a connection used before)' : ''
  const detail = `${plain(message || code || name)}${again}`
  if (OURS.has(code)) return ownFault(`${code}: out of system resources`)
  if (code === 'EADDRNOTAVAIL' && !context.ip?.includes(':'))
    return ownFault('EADDRNOTAVAIL: no free local port')
  if (TIMEOUTS.test(code)) return noResponse('timeout', detail)
  if (PROTOCOL.test(code) || PROTOCOL_NAMES.has(name)) return noResponse('protocol', detail)
  if (code === 'UND_ERR_SOCKET' && /^bad (response|upgrade)/.test(message))
    return noResponse('protocol', detail)
  if (syscall !== 'connect' && (CERTIFICATE.test(code) || TLS.test(code)))
    return noResponse('tls', `${code}: ${detail}`)
  return noResponse('connection', detail)
}

interface Described {
  readonly code: string
  readonly message: string
  readonly name: string
  readonly syscall?: unknown
  readonly seen?: NoAnswer
}

function describe(thrown: unknown): Described {
  const fields = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as Record<string, unknown>
  const text = (key: string, otherwise: string) =>
    typeof fields[key] === 'string' ? (fields[key] as string) : otherwise
  return {
    code: text('code', ''),
    message: text('message', typeof thrown === 'string' ? thrown : ''),
    name: text('name', 'Error'),
    syscall: fields.syscall,
    ...(fields.seen ? { seen: fields.seen as NoAnswer } : {}),
  }
}

/** One short line: assertion errors bring pages, and nothing from outside may forge lines. */
function plain(message: string): string {
  const line = message
    .split(/[\r\n]/, 1)[0]!
    .replace(/[\p{Cc}]/gu, ' ')
    .trim()
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}
