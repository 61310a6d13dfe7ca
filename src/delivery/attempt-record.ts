/** What is kept of one attempt, or of an end without a request. Bodies of requests are joined on reading. */
export interface AttemptRecord {
  readonly id: string
  /** The webhook's account. */
  readonly accountId: string
  readonly webhookId: string
  readonly hook: string
  readonly eventId: string
  readonly deliveryId: string
  readonly callId?: string
  readonly uri: string
  readonly method: string
  /** 1, 2, …; absent for an end without a request. */
  readonly attempt?: number
  readonly retriesLeft: number
  readonly result: 'success' | 'failure'
  readonly reason?: string
  /** Class of the failure: `redirect`, `timeout`, `connection`, `dns`, `tls`, `protocol`, `blocked_address`, `own_fault`. */
  readonly clientError?: string
  readonly status?: number
  /** Flat, secrets redacted. */
  readonly responseHeaders?: readonly string[]
  readonly responseBody?: string
  /** Flat, secrets redacted; absent for an end without a request. */
  readonly requestHeaders?: readonly string[]
  readonly durationMs?: number
  /** Unix ms, wall clock: when the request was sent, or the end decided. */
  readonly atMs: number
}

/** A record as read back: with its place in the order of recording and the body that was sent. */
export interface StoredAttempt extends AttemptRecord {
  /** Grows with every record of the store; the stable cursor of lists. */
  readonly position: number
  /** At most 8 KiB; absent for an end without a request and where the verb has no body. */
  readonly requestBody?: string
}
