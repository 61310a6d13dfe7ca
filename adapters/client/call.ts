/** The types of a call: its options, its response and how an operation is requested. */

/** Options of one call; every operation takes them last. */
export interface CallOptions {
  /** Aborts the call, also while it waits for a login or a retry. For a list: between and during pages. */
  readonly signal?: AbortSignal | undefined
  /**
   * Timeout of the whole call in milliseconds: login, retries, waiting and the body of the response. For a list: of each
   * page. Default: `timeoutMs` of the client.
   */
  readonly timeoutMs?: number | undefined
  /** Maximum number of retries. Default: `maxRetries` of the client. */
  readonly maxRetries?: number | undefined
  /**
   * Whether the call may be sent again although the service may have executed it: after a lost connection, or 502, 503 or
   * 504. Default: true for every method but PUT, which creates in this API, and false with `ifMatch`. Set it for events
   * that all have an `idempotency_key`.
   */
  readonly isRepeatable?: boolean | undefined
  /** Sent as `X-Request-ID`, at most 128 printable ASCII characters. Default: the service chooses one. */
  readonly requestId?: string | undefined
}

/** The names of all options of a call. */
export const CALL_OPTIONS: readonly (keyof CallOptions)[] = [
  'signal',
  'timeoutMs',
  'maxRetries',
  'isRepeatable',
  'requestId',
]

/** A successful response. */
export interface ApiResponse<Data> {
  /** `data` of the envelope. */
  readonly data: Data
  /** HTTP status. */
  readonly status: number
  /** Revision of the document, for `ifMatch` and `ifNoneMatch`; absent where the document has none. */
  readonly revision?: string
  /** Id of the request, for the service's operator. */
  readonly requestId?: string
  /** The new token; only in the response to a login. */
  readonly authToken?: string
  /** Fields of the request that are probably misspelt. Absent: there are none. */
  readonly warnings?: readonly FieldWarning[]
}

/** A field of a request that was stored although it is probably misspelt. */
export interface FieldWarning {
  /** The field as sent. */
  readonly path: string
  /** One sentence. */
  readonly message: string
  /** The field that was probably meant. */
  readonly target: string
}

/** How an operation is requested. */
export interface Endpoint {
  /** HTTP method. */
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'
  /** Path below the version, with parameters in braces: `/accounts/{account_id}/webhooks`. */
  readonly path: string
  /** Parameters that are sent as headers: `{ ifMatch: 'If-Match' }`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The operation takes options only. */
  readonly hasNoParameters?: true | undefined
  /** No token is sent. */
  readonly isOpen?: true | undefined
  /** The response is a list with pages. */
  readonly isList?: true | undefined
  /** The response has no envelope. */
  readonly isRaw?: true | undefined
}

/**
 * Parameters of an operation by camel-case name: those of the path and the headers, `data`, and the query. In the query,
 * `pageSize` becomes `page_size`, and the entries of an object are sent by their own names.
 */
export type CallParameters = Readonly<Record<string, unknown>>
