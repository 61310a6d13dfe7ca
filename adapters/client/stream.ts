/** `client.stream`: reads the live stream, and connects again for as long as its reader wants. */
import type { ClientClock } from './deadline.js'
import { HookswitchClientError } from './error.js'
import { createEventParser, type ServerEvent } from './event-stream.js'
import type { Payload, StreamAttempt, StreamGap, StreamRate, StreamWebhook } from './operations.generated.js'

/** What a stream contains. */
export interface StreamParameters {
  /** Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Default: `attempt` and `webhook`. */
  readonly types?: readonly ('attempt' | 'webhook' | 'event')[] | undefined
  /** Only attempts and changes of this webhook. Default: all. */
  readonly webhookId?: string | undefined
  /** Only attempts and events of this call, all its legs. Default: all. */
  readonly callId?: string | undefined
  /** Only attempts with this result. Default: both. */
  readonly result?: 'success' | 'failure' | undefined
  /** Whether the accounts below are included, at most 1,000 accounts. Default false. */
  readonly descendants?: boolean | undefined
  /** `id` of the last item of an earlier stream: this one continues after it. Default: begins now. */
  readonly lastId?: string | undefined
}

/** The names of all parameters. */
export const STREAM_PARAMETERS: readonly (keyof StreamParameters)[] = [
  'accountId',
  'types',
  'webhookId',
  'callId',
  'result',
  'descendants',
  'lastId',
]

/** Options of a stream. */
export interface StreamOptions {
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined
  /** Timeout of each connection, until its response begins, in milliseconds. Default: `timeoutMs` of the client. */
  readonly timeoutMs?: number | undefined
  /**
   * Called when the stream is connected, and when it has lost its connection and will connect again. Changes of webhooks in
   * between are not repeated: read the webhooks again.
   */
  readonly onState?: ((state: 'open' | 'waiting', error?: HookswitchClientError) => void) | undefined
}

/** The names of all options of a stream. */
export const STREAM_OPTIONS: readonly (keyof StreamOptions)[] = ['signal', 'timeoutMs', 'onState']

/** One item of a stream. `id`: `lastId` of a stream that continues after it. */
export type StreamItem =
  /** An attempt was recorded. Each once. */
  | { readonly type: 'attempt'; readonly id: string; readonly data: StreamAttempt }
  /** A webhook has changed: read it again. */
  | { readonly type: 'webhook'; readonly id: string; readonly data: StreamWebhook }
  /** An event was accepted. Best effort. */
  | { readonly type: 'event'; readonly id: string; readonly data: Payload }
  /** Attempts of a webhook in one second, counted. */
  | { readonly type: 'rate'; readonly id: string; readonly data: StreamRate }
  /** Items are missing: read what is shown again. */
  | { readonly type: 'gap'; readonly data: StreamGap }

/** A connection whose response has begun. */
export interface StreamConnection {
  readonly body: ReadableStream<Uint8Array>
  abort(): void
}

interface StreamDeps {
  readonly clock: ClientClock
  /** Rejects with `HookswitchClientError`. */
  connect(lastId: string | undefined, signal: AbortSignal): Promise<StreamConnection>
  /** The token is not valid any more. Returns whether another login may bring another one. */
  renew(): boolean
}

/** Pause before another connection, ms, unless the service names one. */
const RETRY_MS = 2_000
const MAX_PAUSE_MS = 30_000
/** The service sends something every 15 s. */
const SILENCE_MS = 45_000
/** A token that is refused so soon after a login is not replaced by another one, ms. */
const RENEWAL_MS = 60_000
/** Longest event, in characters. */
const MAX_EVENT = 1_048_576
/** Ids of attempts and events that are remembered, to drop repeated ones. */
const MAX_IDS = 20_000

const TYPES = ['attempt', 'webhook', 'event', 'rate', 'gap']

/** Statuses after which the client connects again. */
const isTransient = ({ status, code }: HookswitchClientError): boolean =>
  status === undefined
    ? code === 'network' || code === 'timeout'
    : status === 429 || status === 408 || status >= 500

const ENDED = Symbol('ended')

/**
 * @throws (while it is read) `HookswitchClientError`: what no other connection can mend, such as 403
 */
export function readStream(
  deps: StreamDeps,
  { lastId: firstId }: Pick<StreamParameters, 'lastId'>,
  { signal, onState }: StreamOptions,
): AsyncIterable<StreamItem> {
  return {
    [Symbol.asyncIterator]() {
      const abort = new AbortController()
      const stop = () => abort.abort()
      signal?.addEventListener('abort', stop)
      if (signal?.aborted) stop()
      const items = read(deps, firstId, abort.signal, onState)
      return {
        async next() {
          const result = await items.next()
          if (result.done) signal?.removeEventListener('abort', stop)
          return result
        },
        async return() {
          signal?.removeEventListener('abort', stop)
          stop()
          return items.return(undefined)
        },
      }
    },
  }
}

async function* read(
  deps: StreamDeps,
  firstId: string | undefined,
  signal: AbortSignal,
  onState: StreamOptions['onState'],
): AsyncGenerator<StreamItem, undefined, undefined> {
  const { clock, connect, renew } = deps
  const isNew = createIdFilter()
  let lastId = firstId
  let retryMs = RETRY_MS
  let failures = 0
  let renewedMs = Number.NEGATIVE_INFINITY

  /** Whether another login may help: not if the last one has just not helped. */
  function mayLogInAgain(): boolean {
    const isRecent = clock.monotonic() - renewedMs < RENEWAL_MS
    renewedMs = clock.monotonic()
    return renew() && !isRecent
  }

  while (!signal.aborted) {
    let error: HookswitchClientError | undefined
    let connection: StreamConnection | undefined
    try {
      connection = await connect(lastId, signal)
      onState?.('open')
      for await (const { events, retryMs: requested } of eventsOf(connection, clock, signal)) {
        if (requested !== undefined) retryMs = requested
        for (const event of events) {
          failures = 0
          if (event.id !== undefined) lastId = event.id
          const data = parse(event)
          if (event.type === 'end') {
            if (data.reason === 'token' && !mayLogInAgain()) throw invalidToken()
            continue
          }
          if (!TYPES.includes(event.type) || !isNew(event.type, data)) continue
          yield {
            type: event.type,
            ...(event.id !== undefined && { id: event.id }),
            data,
          } as unknown as StreamItem
        }
      }
    } catch (thrown) {
      if (signal.aborted) return
      error = thrown instanceof HookswitchClientError ? thrown : networkError(thrown)
      if (lastId !== undefined && isUnknownId(error)) {
        yield { type: 'gap', data: { from: lastId, dropped: null } }
        lastId = undefined
      } else if (error.status === 401 && connection === undefined && mayLogInAgain()) continue
      else if (!isTransient(error)) throw error
    } finally {
      connection?.abort()
    }
    if (signal.aborted) return
    onState?.('waiting', error)
    failures += 1
    const pauseMs = Math.min(
      MAX_PAUSE_MS,
      retryMs * 2 ** Math.min(failures - 1, 10) * (0.75 + Math.random() / 2),
    )
    await clock.sleep(Math.max(pauseMs, (error?.retryAfterSeconds ?? 0) * 1_000), signal)
  }
}

/** The events of one connection, part by part. Rejects when nothing arrives for too long. */
async function* eventsOf({ body, abort }: StreamConnection, clock: ClientClock, signal: AbortSignal) {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const parser = createEventParser(MAX_EVENT)
  let timer: AbortController | undefined
  signal.addEventListener('abort', abort)
  try {
    for (;;) {
      timer = new AbortController()
      const silence = clock.sleep(SILENCE_MS, timer.signal).then(() => ENDED)
      const read = reader.read()
      const result = await Promise.race([read, silence])
      if (result === ENDED) {
        read.catch(() => {})
        throw new HookswitchClientError('timeout', `GET stream: nothing arrived for ${SILENCE_MS} ms`)
      }
      timer.abort()
      const { done, value } = result as Awaited<typeof read>
      if (done) return
      const parsed = parser(decoder.decode(value, { stream: true }))
      yield parsed
      if (parsed.isTooLong) throw invalid('an event is longer than 1 MiB')
    }
  } finally {
    // A read that fails leaves it running, and the process could not end before it.
    timer?.abort()
    signal.removeEventListener('abort', abort)
  }
}

type Document = Readonly<Record<string, unknown>>

function parse({ data }: ServerEvent): Document {
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    throw invalid('an event is not JSON')
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Document
  throw invalid('an event is not a JSON object')
}

/** Returns a function that tells whether an attempt or event occurs for the first time. */
function createIdFilter(): (type: string, data: Document) => boolean {
  const known = new Set<unknown>()
  return (type, data) => {
    if (type !== 'attempt' && type !== 'event') return true
    const id = type === 'attempt' ? data.id : data.event_id
    if (known.has(id)) return false
    known.add(id)
    if (known.size > MAX_IDS) known.delete(known.values().next().value)
    return true
  }
}

const invalid = (problem: string) => new HookswitchClientError('invalid_response', `GET stream: ${problem}`)
const invalidToken = () =>
  new HookswitchClientError('invalid_credentials', 'GET stream: the token is not valid any more', {
    status: 401,
  })
const networkError = (cause: unknown) =>
  new HookswitchClientError('network', 'GET stream: the connection was lost', { cause })

/** The service does not know the id: its store was replaced. */
const isUnknownId = ({ status, data }: HookswitchClientError): boolean =>
  status === 400 && data !== undefined && Object.hasOwn(data, 'last-event-id')
