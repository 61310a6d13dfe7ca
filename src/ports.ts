/**
 * Ports: the interfaces of the dependencies (`deps`) that are not storage.
 *
 * Decisions never call a port; they receive its results (a time, a random fraction, an observation) as arguments.
 * Operations receive the ports they need as their first argument. Each domain folder declares its storage port:
 * `accounts/account-store`, `accounts/directory`, `auth/token-store`, `webhooks/webhook-store`,
 * `delivery/delivery-store`; `store/contract` composes them.
 */

import type { FailureCause } from './values/failure-cause.js'

/** Source of time. Default: the machine's clocks. `manualClock` of `hookswitch/testkit` is set by the test. */
export interface Clock {
  /** Wall clock: milliseconds since the Unix epoch. May jump. */
  now(): number
  /** Monotonic clock: milliseconds since an arbitrary start. Never decreases. */
  monotonic(): number
  /**
   * Resolves after `ms` milliseconds, or at once when `signal` aborts. Never rejects and does not keep the process
   * alive. Any number of sleeps may share one signal.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Resolves after other work that is ready has run. */
  yield(): Promise<void>
}

/** Source of randomness. Default: the operating system's. `seededRandom` of `hookswitch/testkit` is reproducible. */
export interface Random {
  /** `count` unpredictable bytes, for ids, tokens, keys and nonces. */
  bytes(count: number): Uint8Array
  /** A number in [0, 1), for jitter. */
  fraction(): number
}

/** One HTTP request to a receiver, complete and ready to send. */
export interface SendRequest {
  /** HTTP method. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Absolute canonical URL. The default sender checks it against the address policy before it resolves the host. */
  readonly url: string
  /** Flat list: name, value, name, value, … */
  readonly headers: readonly string[]
  /** Request body as text; `undefined`: none. */
  readonly body: string | undefined
  /** Limit for the whole attempt (DNS, connect, TLS, headers and body), in milliseconds. */
  readonly deadlineMs: number
  /** The webhook's id: `cancel` and `releaseIdle` name requests and connections by it. */
  readonly group: string
  /**
   * Whether it may be sent again at once, on a new connection and within the deadline, if its receiver closes a connection that
   * has served requests before without a byte of a response (RFC 9112, section 9.3.1). Default false.
   */
  readonly isRepeatable?: boolean
}

/** Why there was no HTTP response, as far as the receiver is concerned. */
export type TransportFailure = 'timeout' | 'connection' | 'dns' | 'tls' | 'protocol' | 'blocked_address'

/** What one request resulted in. `detail` is a short text for people, without secrets. */
export type Observation =
  /** The receiver responded. */
  | {
      readonly kind: 'response'
      /** HTTP status code. */
      readonly status: number
      /** Flat list: name, value, … as received, decoded as latin1. */
      readonly headers: readonly string[]
      /** At most 8 KiB of the body as text; invalid UTF-8 is replaced. */
      readonly body: string
      /** How the body ended. Only a `complete` body is known to be whole. */
      readonly bodyEnd: 'complete' | 'truncated' | 'broken' | 'timeout'
      /** What was wrong with the connection, or with the head of a response whose status line is good; absent: nothing. */
      readonly note?: string
    }
  /** The receiver did not respond. */
  | {
      readonly kind: 'no_response'
      readonly failure: TransportFailure
      readonly detail: string
      /** Why, from a closed list. Absent: the class alone is known. */
      readonly cause?: FailureCause
      /** Whether a byte of the request was written. Absent: it may have been. */
      readonly isSent?: boolean
    }
  /** EMFILE, no free port, resolver down, …: a fault on this side, which is not charged to the receiver. */
  | { readonly kind: 'own_fault'; readonly detail: string }
  /** `cancel` ended the request before its first byte was sent. */
  | { readonly kind: 'cancelled' }

/** A connection was made, and closed without a request. */
export interface Connected {
  /** Tells it from failures. */
  readonly kind: 'connected'
  /** End of the validity of the server's certificate, in Unix milliseconds; absent without TLS. */
  readonly certificateValidToMs?: number
}

/** Sends requests to receivers. `send` never rejects: every failure is an observation. */
export interface Sender {
  /** Sends one request and resolves to its result. */
  send(request: SendRequest): Promise<Observation>
  /**
   * Connects to the host of a URL as `send` would, TLS included, and closes the connection without a request. `timeoutMs`:
   * limit in milliseconds. Never rejects. Absent: addresses are checked without a connection.
   */
  connect?(
    url: string,
    timeoutMs: number,
  ): Promise<Connected | Extract<Observation, { kind: 'no_response' | 'own_fault' }>>
  /** Ends the requests of a group whose first byte is not on the wire yet; they resolve to `cancelled`. */
  cancel?(group: string): void
  /** Closes idle connections that only this group uses: its next request is not expected soon. */
  releaseIdle?(group: string): void
  /** Destroys every connection; resolves when no socket is left. */
  close(): Promise<void>
}

/** Where a request went; `unresolved`: the name of its host has not been resolved. */
export type Dialled = 'public' | 'private' | 'loopback' | 'unresolved'

/** The default sender. It can also pass results to a function, since a promise for each request costs as much as signing. */
export interface DefaultSender extends Required<Sender> {
  /**
   * As `send`. Calls `onEnd` once, possibly before it returns; `onEnd` must not throw. `dialled` is absent for a request that
   * was given no connection.
   */
  sendWithCallback(request: SendRequest, onEnd: (observation: Observation, dialled?: Dialled) => void): void
}

/**
 * Result of one DNS lookup: every address, or the reason why there is none.
 *
 * `missing`: the name does not exist or has no address, or with the cause `name_server`: its name server failed.
 * `unreachable`: the resolver itself did not answer.
 */
export type Resolution =
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
  | {
      readonly kind: 'missing'
      readonly detail: string
      /** Default `name_unknown`. */
      readonly cause?: 'name_unknown' | 'name_server'
    }
  | { readonly kind: 'unreachable'; readonly detail: string }

/** Looks up host names. */
export interface Resolver {
  /** All IPv4 and IPv6 addresses of a host name. Never rejects. `timeoutMs`: limit in milliseconds. */
  resolve(hostname: string, timeoutMs: number): Promise<Resolution>
  /** Cancels pending lookups and releases sockets. */
  close(): void
}

/**
 * Creates trace spans. A context travels as `traceparent` (W3C Trace Context) from the publisher through the store to
 * the receiver. Exceptions are caught and logged.
 */
export interface Tracing {
  /**
   * Starts a span. `publish` without a `parent` starts in the active context of the calling code; `attempt` starts
   * under the context in which its event was published.
   */
  begin(name: 'publish' | 'attempt', parent: string | undefined, attributes: SpanAttributes): Span
}

/** Attributes of a span: dotted keys, no secret values. */
export type SpanAttributes = Readonly<Record<string, string | number>>

/** One started span. */
export interface Span {
  /** The span's own context; `undefined`: the span is not recorded, and its parent's context is passed on instead. */
  readonly traceparent: string | undefined
  /**
   * Ends the span.
   *
   * @param attributes added to those of `begin`
   * @param failure a one-word reason when the operation failed; absent: it succeeded
   */
  end(attributes: SpanAttributes, failure?: string): void
}

/** A pino-compatible logger: fields first, then one sentence. Exceptions of the logger are ignored. */
export interface Log {
  /** Details for development. */
  debug(fields: Readonly<Record<string, unknown>>, message: string): void
  /** Normal operation. */
  info(fields: Readonly<Record<string, unknown>>, message: string): void
  /** A failure that the service handles. */
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
  /** A failure that needs attention. */
  error(fields: Readonly<Record<string, unknown>>, message: string): void
}
