import type { Caller } from '../../auth/authenticate.js'
import { invalidInput, notFound } from '../../errors.js'
import { isId } from '../../values/ids.js'
import { type ListRequest, type Page, readListRequest } from '../../wire/list.js'
import type { Match } from '../../wire/match.js'
import type { Query } from '../../wire/query.js'
import type { RequestHeaders } from '../../wire/request-head.js'
import type { Service } from '../service.js'
import type { WrittenDocuments } from '../written-documents.js'

/** A request that was judged: what an operation gets. */
export interface Call {
  readonly service: Service
  readonly documents: WrittenDocuments
  /** Present where the route needs a token. */
  readonly caller?: Caller | undefined
  /** Decoded parameters of the path. */
  readonly params: Match['params']
  /** Of the kind that the route asks for. */
  readonly data: unknown
  readonly query: Query
  readonly headers: RequestHeaders
  /** Where the client is, as far as it can be trusted. */
  readonly address?: string | undefined
  /** Mount prefix and version: what `Location` starts with. */
  readonly base: string
}

/** What an operation says; the envelope comes later. */
export interface Answer {
  readonly data?: unknown
  /** The data as JSON text, where it has been written before. */
  readonly written?: string
  /** Of the document: shown, and sent as `ETag`. */
  readonly revision?: number
  /** True: the client has this revision already, 304. */
  readonly unchanged?: boolean
  /** Present for lists; its items are the data. */
  readonly page?: Page
  readonly startKey?: string
  /** The token that a login made. */
  readonly issued?: string
  readonly location?: string
  /** A whole answer without envelope. */
  readonly bare?: string
}

/** Does what a route is for. May reject with any error of the service; `answerOf` knows what it means. */
export type Perform = (call: Call) => Promise<Answer>

/** The account of the path; its well-formedness and the caller's authority are known by now. */
export const accountOf = (call: Call): string => call.params.accountId!

/** An id of the path. A malformed one is unknown like any other. Throws `NotFound`. */
export function idOf(call: Call, name: 'webhookId' | 'deliveryId'): string {
  const id = call.params[name]!
  if (!isId(id)) throw notFound(id)
  return id
}

/** What the query asks of a list. Throws `InvalidInput`. */
export function listRequestOf(call: Call): ListRequest {
  const read = readListRequest(call.query)
  if ('failures' in read) throw invalidInput(read.failures)
  return read.request
}

/** A page as an answer; the client's own `start_key` is shown again (KAZOO). */
export const listAnswer = (page: Page, { startKey }: ListRequest): Answer => ({
  data: page.items,
  page,
  ...(startKey !== undefined && { startKey }),
})

/** The body's object. */
export const objectOf = (call: Call): Readonly<Record<string, unknown>> =>
  call.data as Record<string, unknown>
