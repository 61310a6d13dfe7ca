/**
 * Plain request and response records: what every HTTP adapter turns its framework's objects into and back.
 * Nothing here knows a framework.
 */

export interface RequestRecord {
  /** As sent. */
  readonly method: string
  /** Path and query exactly as sent, relative to the mount point: `/v1/accounts/a/webhooks?page_size=5`. */
  readonly url: string
  /**
   * Lower-case names. A header that was sent twice is joined with ', ' (RFC 9110 5.3), but for `x-auth-token`, which
   * is then an array: two different tokens are refused.
   */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The raw body; absent when there was none, or when a parser before us has eaten it (`parsedBody`). */
  readonly body?: Uint8Array | string
  /** What a body parser mounted before us made of the body (`express.json()`). */
  readonly parsedBody?: unknown
  /** Set by the adapter when the body could not be read to its end. */
  readonly bodyProblem?: 'too_large' | 'too_slow'
  /** Address of the peer, without port. */
  readonly remoteAddress?: string
  /** Where we are mounted, without trailing slash (`/telephony`): `Location` needs it. Default ''. */
  readonly mountPrefix?: string
}

export interface ResponseRecord {
  readonly status: number
  /** Lower-case names. `content-length` is included where there is a body. */
  readonly headers: Readonly<Record<string, string>>
  /** Empty for 204, 304 and HEAD. */
  readonly body: string
}

/** What an HTTP adapter asks of us: answer a request, and say whether a path (with or without query) is ours. */
export interface HttpService {
  /** Answers every request, also those that nobody should have sent; it does not reject. */
  handle(request: RequestRecord): Promise<ResponseRecord>
  /** True below `/v1` and `/v2`; what is not ours goes on to the host's own handlers. */
  owns(url: string): boolean
  /** Opaque id of this process, shown as `node` in answers that are made without `handle`. */
  readonly node?: string
}

/** Most bytes of a request body that are read. */
export const MAX_BODY_BYTES = 1_048_576
