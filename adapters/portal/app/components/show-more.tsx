/** A list that begins with its first entries, and shows more of them on request. */
import { type Signal, useSignal } from '@preact/signals'
import { number, t } from '../state/translate.js'

const STEP = 100

/** How many entries are shown. @param step how many at first, and how many more each time. Default 100 */
export const useShown = (step = STEP): Signal<number> => useSignal(step)

interface ShowMoreProps {
  readonly shown: Signal<number>
  /** How many entries there are. */
  readonly of: number
  readonly step?: number
}

export function ShowMore({ shown, of, step = STEP }: ShowMoreProps) {
  if (of <= shown.value) return null
  return (
    <p>
      {t('list.shown', { shown: number(shown.value), of: number(of) })}{' '}
      <button
        type="button"
        onClick={() => {
          shown.value += step
        }}
      >
        {t('list.showMore')}
      </button>
    </p>
  )
}
