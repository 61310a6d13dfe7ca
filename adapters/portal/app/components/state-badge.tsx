/** A state as a word and a shape; the colour only repeats them. */
import { word } from '../state/translate.js'

const SHAPES: Readonly<Record<string, readonly [string, string]>> = {
  ok: ['●', 'good'],
  success: ['✓', 'good'],
  delivered: ['✓', 'good'],
  completed: ['✓', 'good'],
  recovered: ['✓', 'good'],
  failing: ['✕', 'bad'],
  failure: ['✕', 'bad'],
  exhausted: ['✕', 'bad'],
  quarantined: ['✕', 'bad'],
  paused: ['‖', 'warn'],
  waiting: ['◷', 'warn'],
  in_flight: ['→', 'warn'],
  running: ['→', 'warn'],
  disabled: ['⊘', 'off'],
  idle: ['○', 'off'],
  expired: ['⊘', 'off'],
  cancelled: ['⊘', 'off'],
}

/** Whether a webhook in this state has failed since a time; a pause begins with failures. */
export const isBroken = (state: string) => state === 'failing' || state === 'paused'

export function StateBadge({ state }: { readonly state: string }) {
  const [shape, tone] = SHAPES[state] ?? ['•', 'off']
  return (
    <span class={`badge ${tone}`}>
      <span aria-hidden="true">{shape}</span> {word('state', state)}
    </span>
  )
}
