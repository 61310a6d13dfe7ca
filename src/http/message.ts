/**
 * Plain request and response records. Each HTTP adapter converts its framework's request to a `RequestRecord` and a
 * `ResponseRecord` back to the framework's response. Nothing here depends on a framework.
 */

/** What is known of a request before its body is read. */
export interface RequestHead {
  /** As sent. */
  readonly method: string
  /** Path and query exactly as sent, relative to the mount point: `/v1/accounts/a/webhooks?page_size=5`. */
  readonly url: string
  /**
   * Lower-case names. The values of a repeated header are joined with ', ' (RFC 9110, section 5.3), except for
   * `x-auth-token`, which is then an array: two different tokens are an error.
   */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Address of the peer, without port. */
  readonly remoteAddress?: string | undefined
}

/**
 * Why a body was not read to its end: it is too large; it is too large for a request without a token in its head; it did not
 * arrive in time; all unfinished bodies together, or those of its address, are as large as they may be.
 */
export type BodyProblem = 'too_large' | 'no_token' | 'too_slow' | 'busy' | 'address_busy'

/** The limits of a body that is about to be read. */
export interface BodyAdmission {
  /** Maximum size in bytes. */
  readonly maxBytes: number
  /** The problem of a larger body. */
  readonly excess: BodyProblem
  /** Counts bytes that have arrived. Returns the problem if no more may be read; these bytes are then not counted. */
  take(bytes: number): BodyProblem | undefined
  /** The body is complete or given up. To be called once. */
  end(): void
}

/** A request as a plain record. */
export interface RequestRecord extends RequestHead {
  /** The raw body; absent if there is none, or if an earlier body parser consumed it (`parsedBody`). */
  readonly body?: Uint8Array | string | undefined
  /** The value that an earlier body parser (`express.json()`) produced. */
  readonly parsedBody?: unknown
  /** Called when nobody reads the body any more, and the request is answered later: its memory may be freed. */
  dropBody?(): void
  /** Set by the adapter if it could not read the whole body. */
  readonly bodyProblem?: BodyProblem | undefined
  /** Mount point, without trailing slash (`/telephony`); part of the `Location` header. Default ''. */
  readonly mountPrefix?: string | undefined
}

/** A plain HTTP response, for the adapter to send. */
export interface ResponseRecord {
  /** HTTP status code. */
  readonly status: number
  /** Lower-case names. Includes `content-length` if there is a `body`. */
  readonly headers: Readonly<Record<string, string>>
  /** Empty for 204, 304 and HEAD, and if there is a `stream`. */
  readonly body: string
  /** The body as bytes, in place of `body`: a file, or one that is compressed. */
  readonly bytes?: Uint8Array
  /** The body as it is produced, possibly for hours. An adapter either sends it or calls its `close`. */
  readonly stream?: ResponseStream
}

/** A body that an adapter writes part by part, each when the connection has taken the one before. */
export interface ResponseStream {
  /** The next part; `undefined`: the body is complete. Never rejects. One call at a time. */
  next(): Promise<string | undefined>
  /** The client has gone: nothing more is needed, and `next` resolves to `undefined`. May be called again. */
  close(): void
  /** Sets what closes the connection at once. It is called, at most once, if the client takes nothing for 30 s. */
  onAbort(abort: () => void): void
}

/** What HTTP adapters serve: a hookswitch instance, or the page of `hookswitch/portal`. */
export interface HttpService {
  /** Responds to every request, valid or not. Does not reject. */
  handle(request: RequestRecord): Promise<ResponseRecord>
  /** Admits a request body before it is read. Default: every body is read up to 1 MiB. */
  admitBody?(head: RequestHead): BodyAdmission
  /** Returns whether a path (with or without query) is one of `rootPaths` or below; other paths belong to the host. */
  handlesPath(url: string): boolean
  /** Paths below which every path is the service's, for routers that register them. Default `['/v1', '/v2']`. */
  readonly rootPaths?: readonly string[]
  /** Opaque id of this process, sent as `node` in responses made without `handle`. */
  readonly node?: string
}

/** Maximum size of a request body in bytes (1 MiB). */
export const MAX_BODY_BYTES = 1_048_576

/** Maximum size of the body of a request that has no well-formed token in its headers or query, in bytes (64 KiB). */
export const MAX_UNIDENTIFIED_BODY_BYTES = 65_536

/**
 * Maximum size of a request body in bytes on paths that need no token (16 KiB). A login has a few short fields, and the
 * other requests have no body; strangers must not cause the cost of parsing a larger one.
 */
export const MAX_OPEN_BODY_BYTES = 16_384
