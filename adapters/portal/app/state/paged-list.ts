/** A list that is loaded page by page as the user scrolls. */
import { type Signal, useSignal } from '@preact/signals'
import type { Page } from 'hookswitch/client'
import { useEffect, useRef } from 'preact/hooks'
import { unique } from '../text/trouble-first.js'
import { type Loading, useLoader, useRefresh } from './loading.js'
import { generation } from './session.js'

export interface PagedList<Item> extends Loading {
  readonly items: Signal<readonly Item[]>
  /** Whether the service has no further items. */
  readonly isComplete: Signal<boolean>
  /** Whether the items are those of the selection before, which stay until those of this one arrive. */
  readonly isOutdated: boolean
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
  const isComplete = useSignal(false)
  const key = JSON.stringify(keys)
  /** The selection of which the items are; '': there are none. */
  const loadedKey = useSignal('')
  const isOutdated = loadedKey.value !== '' && loadedKey.value !== key
  const loader = useLoader()
  const { error, isLoading, loadedMs } = loader
  const nextKey = useRef<string | undefined>(undefined)
  const pages = useRef(0)
  const latest = useRef({ key, loadPage })
  latest.current = { key, loadPage }

  const load = (isRefresh: boolean) => {
    const selection = latest.current
    loader.load(
      (signal) => selection.loadPage(isRefresh ? undefined : nextKey.current, signal),
      (page) => {
        loadedKey.value = selection.key
        if (isRefresh && pages.current > 1) items.value = sort(mergeFirst(items.value, page.items, idOf))
        else {
          items.value = sort(isRefresh ? page.items : unique([...items.value, ...page.items], idOf))
          pages.current = isRefresh ? 1 : pages.current + 1
          nextKey.current = page.nextStartKey
          isComplete.value = page.nextStartKey === undefined
        }
      },
      () => {
        // Items of another selection say nothing about this one.
        if (loadedKey.peek() !== selection.key) items.value = []
        loadedKey.value = selection.key
      },
    )
  }

  const login = generation.value
  useEffect(() => {
    pages.current = 0
    nextKey.current = undefined
    isComplete.value = false
    load(true)
    return loader.abort
  }, [login, ...keys])

  useRefresh(loader, refreshMs, () => load(true))

  return {
    items,
    error,
    isLoading,
    isComplete,
    isOutdated,
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
