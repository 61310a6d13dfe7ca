/** Logs the requests of a receiver, and lets tests wait for them. */

/** One request that a receiver has read completely. */
export interface ReceivedRequest {
  /** 1, 2, 3, … in the order of arrival. */
  readonly number: number
  /** HTTP method as sent. */
  readonly method: string
  /** Path without the query. */
  readonly path: string
  /** The query without the question mark; '' if absent. */
  readonly query: string
  /** Values by lower-case name; several values of one name are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>
  /** Flat: name, value, … as sent. */
  readonly rawHeaders: readonly string[]
  /** The body as UTF-8. */
  readonly body: string
  /** The body as bytes. */
  readonly bodyBytes: Buffer
  /** Wall clock when the last byte was read, Unix milliseconds. */
  readonly atMs: number
  /** Monotonic clock when the last byte was read, milliseconds. */
  readonly monotonicMs: number
  /** Number of its connection: 1, 2, 3, … */
  readonly connection: number
  /** Name of the step that answers it. */
  readonly step: string
}

/** The requests of a receiver, and promises of those to come. */
interface RequestLog {
  /** Oldest first. */
  readonly requests: readonly ReceivedRequest[]
  add(request: ReceivedRequest): void
  /**
   * The next request that no earlier `next` has returned; waits until it arrives.
   *
   * @throws Error after the receiver's `timeoutMs`, or when the receiver is closed
   */
  next(): Promise<ReceivedRequest>
  /** The next `count` requests, once all have arrived. */
  next(count: number): Promise<readonly ReceivedRequest[]>
  /**
   * The first request, past or future, that matches.
   *
   * @throws Error after the receiver's `timeoutMs`, or when the receiver is closed; what `matches` throws
   */
  received(matches: (request: ReceivedRequest) => boolean): Promise<ReceivedRequest>
  /** Rejects all pending waits with this reason. */
  rejectWaiting(reason: string): void
}

/**
 * Creates an empty log.
 *
 * @param timeoutMs real milliseconds after which a wait is rejected
 * @param describeState added to the message of a rejection
 */
export function createRequestLog(timeoutMs: number, describeState: () => string): RequestLog {
  const requests: ReceivedRequest[] = []
  const waiters = new Set<{ check(): void; reject(reason: string): void }>()
  let taken = 0
  return {
    requests,
    add(request) {
      requests.push(request)
      for (const waiter of waiters) waiter.check()
    },
    next,
    received: (matches) => waitFor(() => requests.find(matches), 'a matching request'),
    rejectWaiting(reason) {
      for (const waiter of waiters) waiter.reject(reason)
    },
  }

  function next(): Promise<ReceivedRequest>
  function next(count: number): Promise<readonly ReceivedRequest[]>
  function next(count?: number): Promise<ReceivedRequest | readonly ReceivedRequest[]> {
    const start = taken
    taken += count ?? 1
    const end = taken
    const description = `request number ${end}`
    if (count === undefined) return waitFor(() => requests[start], description)
    return waitFor(() => (requests.length >= end ? requests.slice(start, end) : undefined), description)
  }

  /** Resolves to the first result of `find` that is not undefined; tried now and after each new request. */
  function waitFor<T>(find: () => T | undefined, description: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (complete: () => void) => {
        clearTimeout(timer)
        waiters.delete(waiter)
        complete()
      }
      const waiter = {
        check() {
          try {
            const found = find()
            if (found !== undefined) settle(() => resolve(found))
          } catch (thrown) {
            settle(() => reject(thrown))
          }
        },
        reject(reason: string) {
          const received = `${requests.length} requests, ${describeState()}`
          settle(() => reject(new Error(`waited for ${description}: ${reason} (received: ${received})`)))
        },
      }
      const timer = setTimeout(() => waiter.reject(`timed out after ${timeoutMs} ms`), timeoutMs)
      waiters.add(waiter)
      waiter.check()
    })
  }
}
