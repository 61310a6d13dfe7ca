/** What a screen shows besides its data: a skeleton, an error, or the age of old data. */
import type { ComponentChildren } from 'preact'
import { statusOf } from '../api/api.js'
import { describe } from '../state/action.js'
import type { Resource } from '../state/resource.js'
import { t } from '../state/translate.js'
import { Button } from './button.js'
import { Bone, None, Note } from './panel.js'
import { Clock } from './time.js'

interface LoadErrorProps {
  readonly error: unknown
  readonly loadedMs: number
  readonly onRetry: () => void
}

export function LoadError({ error, loadedMs, onRetry }: LoadErrorProps) {
  return (
    <Note tone="bad" icon="fail" isAlert>
      <b>{describe(error)}</b>{' '}
      {loadedMs > 0 && (
        <>
          {t('load.stale')} <Clock at={loadedMs} />.{' '}
        </>
      )}
      <Button size="tiny" onClick={onRetry}>
        {t('action.retry')}
      </Button>
    </Note>
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
        <div class="panel">
          <None icon="old" title={t('load.gone')} />
        </div>
      ) : (
        error.value !== undefined && (
          <LoadError error={error.value} loadedMs={loadedMs.value} onRetry={reload} />
        )
      )}
      {loaded === undefined ? error.value === undefined && <Bone /> : children(loaded)}
    </>
  )
}
