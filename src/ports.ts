/**
 * The doors: everything the core asks of the outside that is not storage.
 *
 * Decisions never touch a door; they get its answers (a time, a roll, an observation) as arguments. Verbs get
 * the doors they need as their first argument. The storage doors stand beside the nouns they keep:
 * `accounts/account-store`, `accounts/directory`, `auth/token-store`, `webhooks/webhook-store`,
 * `delivery/delivery-store`; `store/contract` composes them.
 */

/** Time. The real one reads the machine's clocks; the manual one of the testkit moves when a test says so. */
export interface Clock {
  /** Wall clock: milliseconds since the Unix epoch. May jump. */
  now(): number
  /** Monotonic clock: milliseconds since an arbitrary start. Never goes back. */
  monotonic(): number
  /**
   * Resolves after `ms` milliseconds, or at once when `signal` aborts. Never rejects, holds no process open. Any number
   * of sleepers may share a signal.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Resolves when other work that is ready has had its turn. */
  yield(): Promise<void>
}

/** Chance. The real one is the operating system's; the seeded one of the testkit repeats itself. */
export interface Random {
  /** `count` unpredictable bytes: ids, tokens, keys, nonces. */
  bytes(count: number): Uint8Array
  /** A number in [0, 1): jitter. */
  fraction(): number
}

/** One HTTP request to a receiver, ready to be put on the wire. */
export interface SendRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Absolute canonical URL; the guard judges it again before anything is resolved or dialled. */
  readonly url: string
  /** Flat: name, value, name, value, … */
  readonly headers: readonly string[]
  readonly body: string | undefined
  /** Milliseconds for everything: DNS, connect, TLS, headers, body. */
  readonly deadlineMs: number
  /** Whose requests these are (a webhook's id): what `withdraw` and `rest` are told. */
  readonly group: string
}

/** Why there was no HTTP answer, seen from the receiver's side. */
export type TransportFailure = 'timeout' | 'connection' | 'dns' | 'tls' | 'protocol' | 'blocked_address'

/** What was seen of one request. `detail` is for people: short, without secrets. */
export type Observation =
  | {
      readonly kind: 'response'
      readonly status: number
      /** Flat: name, value, … as received, latin1 decoded. */
      readonly headers: readonly string[]
      /** At most 8 KiB of the body, as text (invalid UTF-8 replaced). */
      readonly body: string
      /** How the body ended; only a `complete` one is known whole. */
      readonly bodyEnd: 'complete' | 'truncated' | 'broken' | 'timeout'
    }
  | { readonly kind: 'no_response'; readonly failure: TransportFailure; readonly detail: string }
  /** EMFILE, no free port, resolver down …: nobody's fault but ours, nothing is charged to the receiver. */
  | { readonly kind: 'own_fault'; readonly detail: string }
  /** Ended by `withdraw` before a byte of it was sent. */
  | { readonly kind: 'withdrawn' }

/** The door to receivers. `send` never rejects: everything that can go wrong is an observation. */
export interface Sender {
  send(request: SendRequest): Promise<Observation>
  /** Ends the requests of a group of which no byte is on the wire yet: they are `withdrawn`. */
  withdraw?(group: string): void
  /** A group will be quiet for a while: connections that only it used are closed. */
  rest?(group: string): void
  /** Destroys every connection; resolves when no socket is left. */
  close(): Promise<void>
}

/**
 * One look-up of a host name: every address of the answer, or why there is none. Never rejects.
 * `missing`: the name does not exist or has no address. `unreachable`: the resolver itself did not answer.
 */
export type Resolution =
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
  | { readonly kind: 'missing'; readonly detail: string }
  | { readonly kind: 'unreachable'; readonly detail: string }

/** The DNS door. */
export interface Resolver {
  resolve(hostname: string, timeoutMs: number): Promise<Resolution>
  close(): void
}

/**
 * Traces. Contexts travel as `traceparent` (W3C Trace Context): from who publishes, through the store, to the receiver.
 * One that throws hurts nobody.
 */
export interface Tracing {
  /**
   * Begins a span: `publish` in the context of whoever calls, where `parent` is absent; `attempt` under the context
   * that its event was published in.
   */
  begin(name: 'publish' | 'attempt', parent: string | undefined, facts: SpanFacts): Span
}

/** What is said of a span; keys are dotted, values hold no secret. */
export type SpanFacts = Readonly<Record<string, string | number>>

export interface Span {
  /** Of this span; `undefined`: it is not recorded, and its parent goes on in its place. */
  readonly traceparent: string | undefined
  /** @param failure why it failed, in a word; absent: it did not */
  end(facts: SpanFacts, failure?: string): void
}

/** A pino-shaped logger: fields first, then one sentence. A logger that throws hurts nobody. */
export interface Log {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void
  info(fields: Readonly<Record<string, unknown>>, message: string): void
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
  error(fields: Readonly<Record<string, unknown>>, message: string): void
}
