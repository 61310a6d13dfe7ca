/** Data that a screen shows: loaded, kept while it is loaded again, reloaded after a login. */
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type Loading, useLoader, useRefresh } from './loading.js'
import { generation } from './session.js'

export interface Resource<Data> extends Loading {
  readonly data: Signal<Data | undefined>
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
  const loader = useLoader()
  const { error, isLoading, loadedMs } = loader
  const latest = useRef(load)
  latest.current = load

  const reload = () =>
    loader.load(
      (signal) => latest.current(signal),
      (loaded) => {
        data.value = loaded
      },
    )

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
    return loader.abort
  }, [login, ...keys])

  useRefresh(loader, refreshMs, reload)

  return { data, error, isLoading, loadedMs, reload }
}
