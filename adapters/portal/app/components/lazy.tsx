/** A screen whose code is loaded when it is first shown, with the texts and the style that all such screens share. */
import { useSignal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import { loadTexts } from '../state/translate.js'
import STYLE from '../style/screens.css?url'
import { LoadError } from './load-state.js'
import { Bone } from './panel.js'

let style: Promise<void> | undefined

/** Loads the style that all further screens share. @throws when it cannot be loaded */
function loadStyle(): Promise<void> {
  style ??= new Promise((resolve, reject) => {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = STYLE
    link.onload = () => resolve()
    link.onerror = () => {
      style = undefined
      link.remove()
      reject(new Error('the style cannot be loaded'))
    }
    document.head.append(link)
  })
  return style
}

type LazyComponent<Props> = FunctionComponent<Props> & {
  /** Loads what the first use would load. @throws when it cannot be loaded */
  preload(): Promise<void>
}

/**
 * @param load imports the component
 * @param Waiting is shown until then. Default: a skeleton
 */
export function lazy<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
  Waiting: FunctionComponent = Bone,
): LazyComponent<Props> {
  let loaded: FunctionComponent<Props> | undefined
  let loading: Promise<void> | undefined
  const preload = () => {
    loading ??= Promise.all([load(), loadTexts(), loadStyle()]).then(
      ([component]) => {
        loaded = component
      },
      (thrown: unknown) => {
        loading = undefined
        throw thrown
      },
    )
    return loading
  }
  function Lazy(props: Props) {
    const version = useSignal(0)
    const error = useSignal<unknown>(undefined)
    const start = () => {
      error.value = undefined
      preload().then(
        () => {
          version.value += 1
        },
        (thrown: unknown) => {
          error.value = thrown
        },
      )
    }
    // Read, so that the component is rendered again when it has arrived.
    void version.value
    const Component = loaded
    useEffect(() => {
      // Not by `loaded`, which it may have become after this was rendered.
      if (!Component) start()
    }, [])
    if (Component) return <Component {...props} />
    return error.value === undefined ? (
      <Waiting />
    ) : (
      <LoadError error={error.value} loadedMs={0} onRetry={start} />
    )
  }
  return Object.assign(Lazy, { preload })
}
