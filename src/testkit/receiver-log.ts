/** One request that a receiver has read to its end. */
export interface ReceivedRequest {
  /** 1, 2, 3, … in the order of arrival. */
  readonly number: number
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** What follows the question mark, '' where there is none. */
  readonly query: string
  /** By lower-case name; several of one name joined with a comma. */
  readonly headers: Readonly<Record<string, string>>
  /** Flat: name, value, … as sent. */
  readonly rawHeaders: readonly string[]
  /** The body as UTF-8. */
  readonly body: string
  readonly bodyBytes: Buffer
  /** Wall clock when its last byte was read, Unix milliseconds. */
  readonly atMs: number
  /** The same moment on the monotonic clock. */
  readonly monotonicMs: number
  /** The connection it came on: 1, 2, 3, … */
  readonly connection: number
  /** The name of the step that answers it. */
  readonly step: string
}

/** What a receiver has seen, and the means to wait for more of it. */
export interface RequestLog {
  /** Oldest first. */
  readonly requests: readonly ReceivedRequest[]
  add(request: ReceivedRequest): void
  /** The next request, seen already or not, that no `next` before has given out. */
  next(): Promise<ReceivedRequest>
  /** The next `count` of them, when all were seen. */
  next(count: number): Promise<readonly ReceivedRequest[]>
  /** The first request, seen already or not, that fits. */
  received(fits: (request: ReceivedRequest) => boolean): Promise<ReceivedRequest>
  /** Rejects whoever waits, for that reason. */
  giveUp(reason: string): void
}

/**
 * An empty log.
 *
 * @param patienceMs real milliseconds after which a wait is rejected
 * @param besides what the sentence of a rejection says beside the number of requests
 */
export function requestLog(patienceMs: number, besides: () => string): RequestLog {
  const requests: ReceivedRequest[] = []
  const waiters = new Set<{ look(): void; giveUp(reason: string): void }>()
  let givenOut = 0
  return {
    requests,
    add(request) {
      requests.push(request)
      for (const waiter of waiters) waiter.look()
    },
    next,
    received: (fits) => whenSeen(() => requests.find(fits), 'a request that fits'),
    giveUp(reason) {
      for (const waiter of waiters) waiter.giveUp(reason)
    },
  }

  function next(): Promise<ReceivedRequest>
  function next(count: number): Promise<readonly ReceivedRequest[]>
  function next(count?: number): Promise<ReceivedRequest | readonly ReceivedRequest[]> {
    const start = givenOut
    givenOut += count ?? 1
    const end = givenOut
    const what = `request number ${end}`
    if (count === undefined) return whenSeen(() => requests[start], what)
    return whenSeen(() => (requests.length >= end ? requests.slice(start, end) : undefined), what)
  }

  /** Resolves to what `look` finds, now or after one of the requests to come. */
  function whenSeen<T>(look: () => T | undefined, what: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (how: () => void) => {
        clearTimeout(timer)
        waiters.delete(waiter)
        how()
      }
      const waiter = {
        look() {
          try {
            const found = look()
            if (found !== undefined) settle(() => resolve(found))
          } catch (thrown) {
            settle(() => reject(thrown))
          }
        },
        giveUp(reason: string) {
          const seen = `${requests.length} requests, ${besides()}`
          settle(() => reject(new Error(`waited for ${what}: ${reason} (seen: ${seen})`)))
        },
      }
      const timer = setTimeout(() => waiter.giveUp(`not within ${patienceMs} ms`), patienceMs)
      waiters.add(waiter)
      waiter.look()
    })
  }
}
