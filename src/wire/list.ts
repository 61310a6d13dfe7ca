import type { Failure } from '../errors.js'
import { fromGregorian } from '../values/greg-time.js'
import { integerOf } from './coerce.js'
import { compareKeys, keyCursor, readKey, type SortKey } from './cursor.js'
import { type Filter, readFilter } from './filter.js'
import { type Query, queryValue } from './query.js'
import type { Doc } from './webhook-doc.js'

export const DEFAULT_PAGE_SIZE = 50
export const MAX_PAGE_SIZE = 1000

/** Last second of the year 9999 in Gregorian seconds. */
const MAX_GREGORIAN = 315_569_519_999

/** What a query asks of a list. */
export interface ListRequest {
  /** Most items of the page; `undefined`: all (`paginate=false`). */
  readonly pageSize: number | undefined
  /** As sent: the list knows how to read it. */
  readonly startKey?: string
  /** Inclusive, Unix ms. */
  readonly fromMs?: number
  readonly toMs?: number
  /** Absent: as the list is by itself. */
  readonly ascending?: boolean
  readonly filter?: Filter
}

/** One page of a list, and where the next one starts, if there is more. */
export interface Page {
  readonly items: readonly Doc[]
  readonly nextStartKey?: string
}

type Mutable<T> = { -readonly [K in keyof T]?: T[K] }

/** Reads what a query asks of a list; unknown names are ignored (browsers add some to dodge their caches). */
export function readListRequest(
  query: Query,
): { readonly request: ListRequest } | { readonly failures: readonly Failure[] } {
  if (query.length === 0) return { request: { pageSize: DEFAULT_PAGE_SIZE } }
  const failures: Failure[] = []
  const request: Mutable<ListRequest> = {}

  const integer = (name: string, minimum: number, maximum: number): number | undefined => {
    const text = queryValue(query, name)
    if (text === undefined) return undefined
    const value = integerOf(text)
    const failure = integerFailure(name, text, value, minimum, maximum)
    if (failure) failures.push(failure)
    return failure ? undefined : value
  }
  const boolean = (name: string): boolean | undefined => {
    const text = queryValue(query, name)
    if (text === undefined || text === 'true' || text === 'false')
      return text === undefined ? undefined : text === 'true'
    failures.push({ path: name, ...typeRule('boolean'), value: text })
    return undefined
  }

  const pageSize = integer('page_size', 1, MAX_PAGE_SIZE) ?? DEFAULT_PAGE_SIZE
  request.pageSize = boolean('paginate') === false ? undefined : pageSize
  const from = integer('created_from', 0, MAX_GREGORIAN)
  const to = integer('created_to', 0, MAX_GREGORIAN)
  if (from !== undefined) request.fromMs = fromGregorian(from)
  // The whole second that was named.
  if (to !== undefined) request.toMs = fromGregorian(to) + 999
  if (from !== undefined && to !== undefined && from > to) {
    failures.push({
      path: 'created_from',
      rule: 'maximum',
      message: `Value must be at most ${to}`,
      target: to,
      value: from,
    })
  }
  const ascending = boolean('ascending')
  if (ascending !== undefined) request.ascending = ascending
  const startKey = queryValue(query, 'start_key')
  if (startKey) request.startKey = startKey
  const filter = readFilter(query)
  if (filter) request.filter = filter
  return failures.length > 0 ? { failures } : { request: request as ListRequest }
}

const typeRule = (type: string) => ({
  rule: 'type',
  message: `Value did not match type(s): ${type}`,
  target: type,
})

function integerFailure(
  path: string,
  text: string,
  value: number | undefined,
  minimum: number,
  maximum: number,
): Failure | undefined {
  if (value === undefined) return { path, ...typeRule('integer'), value: text }
  if (value < minimum) {
    return { path, rule: 'minimum', message: `Value must be at least ${minimum}`, target: minimum, value }
  }
  return value > maximum
    ? { path, rule: 'maximum', message: `Value must be at most ${maximum}`, target: maximum, value }
    : undefined
}

/** Why a `start_key` is refused: no answer of ours ever named it. */
export function startKeyFailure(startKey: string): Failure {
  const message = 'This is no key that an earlier page named'
  return { path: 'start_key', rule: 'wrong_format', message, target: 'next_start_key', value: startKey }
}

/** How a list that is held whole is shown: its order, its age, what filters see and what the page shows. */
export interface ListShape<Item> {
  readonly keyOf: (item: Item) => SortKey
  /** Unix ms; absent: items have no age, ranges do not apply. */
  readonly createdMs?: (item: Item) => number
  /** Filters look at this. */
  readonly whole: (item: Item) => Doc
  readonly shown: (item: Item) => Doc
}

/** Cuts one page out of a list that is held whole, sorted by its key. */
export function pageOf<Item>(
  items: readonly Item[],
  request: ListRequest,
  shape: ListShape<Item>,
): { readonly page: Page } | { readonly failures: readonly Failure[] } {
  const start = request.startKey === undefined ? undefined : readKey(request.startKey)
  if (request.startKey !== undefined && start === undefined) {
    return { failures: [startKeyFailure(request.startKey)] }
  }
  const sign = request.ascending === false ? -1 : 1
  const chosen: { readonly key: SortKey; readonly item: Item }[] = []
  for (const item of items) {
    const key = shape.keyOf(item)
    if (start !== undefined && sign * compareKeys(key, start) <= 0) continue
    const createdMs = shape.createdMs?.(item)
    if (createdMs !== undefined && !inRange(createdMs, request)) continue
    if (request.filter === undefined || request.filter(shape.whole(item))) chosen.push({ key, item })
  }
  chosen.sort((a, b) => sign * compareKeys(a.key, b.key))
  const cut = request.pageSize === undefined ? chosen : chosen.slice(0, request.pageSize)
  const page = { items: cut.map(({ item }) => shape.shown(item)) }
  const last = cut.at(-1)
  return {
    page: cut.length < chosen.length && last ? { ...page, nextStartKey: keyCursor(last.key) } : page,
  }
}

function inRange(ms: number, { fromMs, toMs }: ListRequest): boolean {
  return (fromMs === undefined || ms >= fromMs) && (toMs === undefined || ms <= toMs)
}
