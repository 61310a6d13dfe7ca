/** What a screen shows besides its data: a skeleton after 150 ms, an error, or the age of old data. */
import type { Signal } from '@preact/signals'
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { statusOf } from '../api/api.js'
import { describe } from '../state/action.js'
import type { Resource } from '../state/resource.js'
import { t } from '../state/translate.js'
import { RelativeTime } from './time.js'

const SKELETON_AFTER_MS = 150

export function Skeleton() {
  const isShown = useSignal(false)
  useEffect(() => {
    const timer = setTimeout(() => {
      isShown.value = true
    }, SKELETON_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class={isShown.value ? 'skeleton' : 'skeleton pending'} role="status">
      <span class="hidden">{t('load.loading')}</span>
    </div>
  )
}

interface LoadErrorProps {
  readonly error: unknown
  readonly loadedMs: number
  readonly onRetry: () => void
}

export function LoadError({ error, loadedMs, onRetry }: LoadErrorProps) {
  return (
    <div class="problem" role="alert">
      <p>{describe(error)}</p>
      {loadedMs > 0 && (
        <p>
          {t('load.stale')} <RelativeTime at={loadedMs} />
        </p>
      )}
      <button type="button" onClick={onRetry}>
        {t('action.retry')}
      </button>
    </div>
  )
}

interface LoadedProps<Data> {
  readonly resource: Resource<Data>
  readonly children: (data: Data) => ComponentChildren
  /** Where the service does not have it, or no longer, it says so in a sentence, not as an error. */
  readonly isGonePossible?: boolean
}

/** Shows the data of a resource, old data too. */
export function Loaded<Data>({ resource, children, isGonePossible = false }: LoadedProps<Data>) {
  const { data, error, loadedMs, reload } = resource
  const loaded = data.value
  return (
    <>
      {isGonePossible && statusOf(error.value) === 404 ? (
        <Empty text={t('load.gone')} />
      ) : (
        error.value !== undefined && (
          <LoadError error={error.value} loadedMs={loadedMs.value} onRetry={reload} />
        )
      )}
      {loaded === undefined ? error.value === undefined && <Skeleton /> : children(loaded)}
    </>
  )
}

/** An empty list: what to do next, and the same as a command. */
export function Empty({
  text,
  curl,
  children,
}: {
  text: string
  curl?: string
  children?: ComponentChildren
}) {
  return (
    <div class="empty">
      <p>{text}</p>
      {children}
      {curl !== undefined && (
        <pre>
          <code>{curl}</code>
        </pre>
      )}
    </div>
  )
}

/** A button that does nothing more while its action runs. */
export function ActionButton(props: {
  readonly action: { readonly isRunning: Signal<boolean>; run(): Promise<void> }
  readonly children: ComponentChildren
  readonly class?: string
}) {
  const { action, children } = props
  return (
    <button
      type="button"
      class={props.class ?? ''}
      // Not `disabled`, which would take its focus.
      aria-disabled={action.isRunning.value}
      onClick={() => void action.run()}
    >
      {children}
    </button>
  )
}
