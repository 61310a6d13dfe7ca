/** A list that is loaded page by page as the user scrolls. */
import { type Signal, useSignal } from '@preact/signals'
import type { Page } from 'hookswitch/client'
import { useEffect, useRef } from 'preact/hooks'
import { unique } from '../text/trouble-first.js'
import { isVisible } from './clock.js'
import { generation } from './session.js'

export interface PagedList<Item> {
  readonly items: Signal<readonly Item[]>
  readonly error: Signal<unknown>
  readonly isLoading: Signal<boolean>
  /** Whether the service has no further items. */
  readonly isComplete: Signal<boolean>
  readonly loadedMs: Signal<number>
  loadMore(): void
  /** Loads the first page again, and forgets the others. */
  reload(): void
  /** Reads the first page again and keeps the others, unless something is being loaded. */
  refresh(): void
}

/**
 * @param loadPage requests the page at a start key
 * @param idOf tells items apart: a refresh replaces those that it finds again, and a further page adds only others
 * @param refreshMs reads the first page again after this time while the tab is visible. Default: never
 * @param sort orders the loaded items. Default: as they are loaded
 */
export function usePagedList<Item>(
  loadPage: (startKey: string | undefined, signal: AbortSignal) => Promise<Page<Item>>,
  keys: readonly unknown[],
  idOf: (item: Item) => string,
  refreshMs?: number,
  sort: (items: readonly Item[]) => readonly Item[] = (items) => items,
): PagedList<Item> {
  const items = useSignal<readonly Item[]>([])
  const error = useSignal<unknown>(undefined)
  const isLoading = useSignal(true)
  const isComplete = useSignal(false)
  const loadedMs = useSignal(0)
  const nextKey = useRef<string | undefined>(undefined)
  const pages = useRef(0)
  const running = useRef<AbortController | undefined>(undefined)
  const loader = useRef(loadPage)
  loader.current = loadPage

  const load = (isRefresh: boolean) => {
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    isLoading.value = true
    loader.current(isRefresh ? undefined : nextKey.current, controller.signal).then(
      (page) => {
        if (controller.signal.aborted) return
        if (isRefresh && pages.current > 1) items.value = sort(mergeFirst(items.value, page.items, idOf))
        else {
          items.value = sort(isRefresh ? page.items : unique([...items.value, ...page.items], idOf))
          pages.current = isRefresh ? 1 : pages.current + 1
          nextKey.current = page.nextStartKey
          isComplete.value = page.nextStartKey === undefined
        }
        error.value = undefined
        loadedMs.value = Date.now()
        isLoading.value = false
      },
      (thrown: unknown) => {
        if (controller.signal.aborted) return
        error.value = thrown
        isLoading.value = false
      },
    )
  }

  const login = generation.value
  useEffect(() => {
    items.value = []
    pages.current = 0
    nextKey.current = undefined
    isComplete.value = false
    load(true)
    return () => running.current?.abort()
  }, [login, ...keys])

  useEffect(() => {
    if (refreshMs === undefined) return
    const timer = setInterval(() => {
      if (isVisible.peek() && !isLoading.peek()) load(true)
    }, refreshMs)
    return () => clearInterval(timer)
  }, [refreshMs, ...keys])

  return {
    items,
    error,
    isLoading,
    isComplete,
    loadedMs,
    loadMore() {
      if (!isLoading.peek() && !isComplete.peek() && !error.peek()) load(false)
    },
    reload() {
      pages.current = 0
      load(true)
    },
    refresh() {
      if (!isLoading.peek()) load(true)
    },
  }
}

/** Puts a fresh first page before the items that it does not contain. */
function mergeFirst<Item>(
  items: readonly Item[],
  first: readonly Item[],
  idOf: (item: Item) => string,
): readonly Item[] {
  const fresh = new Map(first.map((item) => [idOf(item), item]))
  const hasNew = first.some((item) => !items.some((known) => idOf(known) === idOf(item)))
  if (!hasNew) return items.map((item) => fresh.get(idOf(item)) ?? item)
  return [...first, ...items.filter((item) => !fresh.has(idOf(item)))]
}
