/** A screen whose code is loaded when it is first shown, with the texts and the style that all such screens share. */
import { useSignal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import { loadTexts } from '../state/translate.js'
import { LoadError } from './load-state.js'
import { Bone } from './panel.js'

/**
 * @param load imports the component
 * @param Waiting is shown until then. Default: a skeleton
 */
export function lazy<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
  Waiting: FunctionComponent = Bone,
): FunctionComponent<Props> {
  let loaded: FunctionComponent<Props> | undefined
  return function Lazy(props: Props) {
    const version = useSignal(0)
    const error = useSignal<unknown>(undefined)
    const start = () => {
      error.value = undefined
      Promise.all([load(), loadTexts(), import('../style/screens.css')]).then(
        ([component]) => {
          loaded = component
          version.value += 1
        },
        (thrown: unknown) => {
          error.value = thrown
        },
      )
    }
    useEffect(() => {
      if (!loaded) start()
    }, [])
    // Read, so that the component is rendered again when it has arrived.
    void version.value
    const Component = loaded
    if (Component) return <Component {...props} />
    return error.value === undefined ? (
      <Waiting />
    ) : (
      <LoadError error={error.value} loadedMs={0} onRetry={start} />
    )
  }
}
