/** Data that a screen shows: loaded, kept while it is loaded again, reloaded after a login. */
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { isVisible } from './clock.js'
import { generation } from './session.js'

export interface Resource<Data> {
  readonly data: Signal<Data | undefined>
  /** Why the last load failed; older data stays. */
  readonly error: Signal<unknown>
  readonly isLoading: Signal<boolean>
  /** When the data was loaded, in Unix milliseconds. */
  readonly loadedMs: Signal<number>
  reload(): void
}

/**
 * @param load is called at first, when `keys` change and after a login
 * @param refreshMs loads again after this time while the tab is visible. Default: never
 */
export function useResource<Data>(
  load: (signal: AbortSignal) => Promise<Data>,
  keys: readonly unknown[],
  refreshMs?: number,
): Resource<Data> {
  const data = useSignal<Data | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const isLoading = useSignal(true)
  const loadedMs = useSignal(0)
  const loader = useRef(load)
  loader.current = load
  const running = useRef<AbortController | undefined>(undefined)

  const reload = () => {
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    isLoading.value = true
    loader.current(controller.signal).then(
      (loaded) => {
        if (controller.signal.aborted) return
        data.value = loaded
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
  const previousKeys = useRef<string>('')
  useEffect(() => {
    const text = JSON.stringify(keys)
    if (previousKeys.current !== text) {
      // Data of another webhook must not stay under this one's name.
      data.value = undefined
      error.value = undefined
      previousKeys.current = text
    }
    reload()
    return () => running.current?.abort()
  }, [login, ...keys])

  useEffect(() => {
    if (refreshMs === undefined) return
    const timer = setInterval(() => {
      if (isVisible.peek() && !isLoading.peek()) reload()
    }, refreshMs)
    return () => clearInterval(timer)
  }, [refreshMs])

  return { data, error, isLoading, loadedMs, reload }
}
