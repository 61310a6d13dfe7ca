/** One request at a time, of which a later one replaces an earlier one, and its repetition while the tab is visible. */
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { isVisible } from './clock.js'

export interface Loading {
  /** Why the last load failed; older data stays. */
  readonly error: Signal<unknown>
  readonly isLoading: Signal<boolean>
  /** When the data was loaded, in Unix milliseconds. */
  readonly loadedMs: Signal<number>
}

interface Loader extends Loading {
  load<Data>(
    request: (signal: AbortSignal) => Promise<Data>,
    onLoaded: (data: Data) => void,
    onFailed?: () => void,
  ): void
  abort(): void
}

export function useLoader(): Loader {
  const error = useSignal<unknown>(undefined)
  const isLoading = useSignal(true)
  const loadedMs = useSignal(0)
  const running = useRef<AbortController | undefined>(undefined)
  const abort = () => running.current?.abort()
  return {
    error,
    isLoading,
    loadedMs,
    abort,
    load(request, onLoaded, onFailed) {
      abort()
      const controller = new AbortController()
      running.current = controller
      isLoading.value = true
      request(controller.signal).then(
        (loaded) => {
          if (controller.signal.aborted) return
          onLoaded(loaded)
          error.value = undefined
          loadedMs.value = Date.now()
          isLoading.value = false
        },
        (thrown: unknown) => {
          if (controller.signal.aborted) return
          onFailed?.()
          error.value = thrown
          isLoading.value = false
        },
      )
    },
  }
}

/** Calls `refresh` after each `refreshMs` while the tab is visible and nothing is loading. `undefined`: never */
export function useRefresh({ isLoading }: Loading, refreshMs: number | undefined, refresh: () => void): void {
  const latest = useRef(refresh)
  latest.current = refresh
  useEffect(() => {
    if (refreshMs === undefined) return
    const timer = setInterval(() => {
      if (isVisible.peek() && !isLoading.peek()) latest.current()
    }, refreshMs)
    return () => clearInterval(timer)
  }, [refreshMs])
}
