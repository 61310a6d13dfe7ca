/** List requests and pages: paging, ranges, order, filters. */
import type { Failure } from '../errors.js'
import { parseInteger } from './coerce.js'
import { compareSortKeys, decodeSortKey, encodeSortKey, type SortKey } from './cursor.js'
import { type Filter, parseFilter } from './filter.js'
import { getQueryValue, type Query } from './query.js'
import { isFailure, lateStart, parseTime, type TimeSpan } from './time.js'
import type { JsonObject } from './webhook-json.js'

const DEFAULT_PAGE_SIZE = 50
export const MAX_PAGE_SIZE = 1000

/** Maximum number of items with `paginate=false`; `next_start_key` leads to the rest. */
export const MAX_UNPAGED = 10_000

/** Maximum size of the items of one page, in bytes of JSON (1 MiB); `next_start_key` leads to the rest. */
export const MAX_PAGE_BYTES = 1_048_576

/** The list parameters of a query. */
export interface ListRequest {
  /** Maximum number of items; `undefined`: all (`paginate=false`). */
  readonly pageSize: number | undefined
  /** The cursor as sent; each list decodes its own kind. */
  readonly startKey?: string
  /** Range, inclusive, Unix ms. */
  readonly fromMs?: number
  readonly toMs?: number
  /** Absent: the list's default order. */
  readonly ascending?: boolean
  readonly filter?: Filter
}

/** One page of a list; `nextStartKey` is present only if more items follow. */
export interface Page {
  readonly items: readonly JsonObject[]
  readonly nextStartKey?: string
  /** True: there is more, and no next page. */
  readonly isTruncated?: true
}

type Mutable<T> = { -readonly [K in keyof T]?: T[K] }

/** Parses the list parameters of a query. Unknown parameters are ignored (browsers add cache-busters). */
export function parseListRequest(
  query: Query,
): { readonly request: ListRequest } | { readonly failures: readonly Failure[] } {
  if (query.length === 0) return { request: { pageSize: DEFAULT_PAGE_SIZE } }
  const failures: Failure[] = []
  const request: Mutable<ListRequest> = {}

  const integer = (name: string, minimum: number, maximum: number): number | undefined => {
    const text = getQueryValue(query, name)
    if (text === undefined) return undefined
    const value = parseInteger(text)
    const failure = checkInteger(name, text, value, minimum, maximum)
    if (failure) failures.push(failure)
    return failure ? undefined : value
  }
  const boolean = (name: string): boolean | undefined => {
    const value = parseFlag(query, name)
    if (typeof value !== 'object') return value
    failures.push(value)
    return undefined
  }

  const pageSize = integer('page_size', 1, MAX_PAGE_SIZE) ?? DEFAULT_PAGE_SIZE
  request.pageSize = boolean('paginate') === false ? undefined : pageSize
  const time = (name: string): TimeSpan | undefined => {
    const text = getQueryValue(query, name)
    if (text === undefined) return undefined
    const parsed = parseTime(name, text)
    if (!isFailure(parsed)) return parsed
    failures.push(parsed)
    return undefined
  }
  const from = time('created_from')
  const to = time('created_to')
  if (from) request.fromMs = from.firstMs
  // Up to the end of that second or day.
  if (to) request.toMs = to.lastMs
  if (from && to && from.firstMs > to.lastMs)
    failures.push(lateStart(getQueryValue(query, 'created_from'), getQueryValue(query, 'created_to')))
  const ascending = boolean('ascending')
  if (ascending !== undefined) request.ascending = ascending
  const startKey = getQueryValue(query, 'start_key')
  if (startKey) request.startKey = startKey
  const filter = parseFilter(query)
  if (filter) request.filter = filter
  return failures.length > 0 ? { failures } : { request: request as ListRequest }
}

/** Parses a boolean parameter; `undefined`: it is absent. */
export function parseFlag(query: Query, name: string): boolean | Failure | undefined {
  const text = getQueryValue(query, name)
  if (text === undefined) return undefined
  if (text === 'true' || text === 'false') return text === 'true'
  return { path: name, ...typeFailure('boolean'), value: text }
}

const typeFailure = (type: string) => ({
  rule: 'type',
  message: `Value did not match type(s): ${type}`,
  target: type,
})

function checkInteger(
  path: string,
  text: string,
  value: number | undefined,
  minimum: number,
  maximum: number,
): Failure | undefined {
  if (value === undefined) return { path, ...typeFailure('integer'), value: text }
  if (value < minimum) {
    return { path, rule: 'minimum', message: `Value must be at least ${minimum}`, target: minimum, value }
  }
  return value > maximum
    ? { path, rule: 'maximum', message: `Value must be at most ${maximum}`, target: maximum, value }
    : undefined
}

/** The failure for a `start_key` that this API did not issue. */
export function invalidStartKey(startKey: string): Failure {
  const message = 'This is no key that an earlier page named'
  return { path: 'start_key', rule: 'wrong_format', message, target: 'next_start_key', value: startKey }
}

/** Order, range, filters and output of a list that is in memory. */
interface ListView<Item> {
  readonly keyOf: (item: Item) => SortKey
  /** Unix ms; absent: items have no creation time, and ranges do not apply. */
  readonly createdMs?: (item: Item) => number
  /** JSON that filters apply to. */
  readonly filterJson: (item: Item) => JsonObject
  /** JSON of an item in the page. */
  readonly itemJson: (item: Item) => JsonObject
}

/** Returns one page of a list that is in memory, sorted by its key. */
export function slicePage<Item>(
  items: readonly Item[],
  request: ListRequest,
  view: ListView<Item>,
): { readonly page: Page } | { readonly failures: readonly Failure[] } {
  const start = request.startKey === undefined ? undefined : decodeSortKey(request.startKey)
  if (request.startKey !== undefined && start === undefined) {
    return { failures: [invalidStartKey(request.startKey)] }
  }
  const sign = request.ascending === false ? -1 : 1
  const selected: { readonly key: SortKey; readonly item: Item }[] = []
  for (const item of items) {
    const key = view.keyOf(item)
    if (start !== undefined && sign * compareSortKeys(key, start) <= 0) continue
    const createdMs = view.createdMs?.(item)
    if (createdMs !== undefined && !isInRange(createdMs, request)) continue
    if (request.filter === undefined || request.filter(view.filterJson(item))) selected.push({ key, item })
  }
  selected.sort((a, b) => sign * compareSortKeys(a.key, b.key))
  const slice = request.pageSize === undefined ? selected : selected.slice(0, request.pageSize)
  const page = { items: slice.map(({ item }) => view.itemJson(item)) }
  const last = slice.at(-1)
  return {
    page: slice.length < selected.length && last ? { ...page, nextStartKey: encodeSortKey(last.key) } : page,
  }
}

function isInRange(ms: number, { fromMs, toMs }: ListRequest): boolean {
  return (fromMs === undefined || ms >= fromMs) && (toMs === undefined || ms <= toMs)
}
