/** A state as a word and a shape; the colour only repeats them. */
import { word } from '../state/translate.js'
import { lookOf } from '../text/looks.js'
import { Icon } from './icon.js'

interface StateProps {
  /** State of a webhook, a delivery, an attempt or a replay. */
  readonly state: string
  /** With a tint, for what needs somebody. */
  readonly pill?: boolean
}

export function State({ state, pill = false }: StateProps) {
  const [role, icon] = lookOf(state)
  return (
    <span class={`state is-${role}${pill ? ' pill' : ''}`}>
      <Icon name={icon} />
      {word('state', state)}
    </span>
  )
}
