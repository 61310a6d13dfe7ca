/** Which delivery a replay repeats, and by which one a delivery was repeated. */
import type { Delivery } from 'hookswitch/client'
import { t, word } from '../state/translate.js'
import { formatRoute } from '../text/routes.js'
import { Icon } from './icon.js'

interface ReplayMarksProps {
  readonly accountId: string
  readonly delivery: Pick<Delivery, 'kind' | 'replay_of' | 'replayed_by' | 'recovered'>
}

export function ReplayMarks({ accountId, delivery }: ReplayMarksProps) {
  const { kind, replay_of: original, replayed_by: replay, recovered } = delivery
  const hrefOf = (id: string) => formatRoute({ screen: 'delivery', accountId, id })
  return (
    <>
      {original !== undefined && (
        <a class="state pill is-info" href={hrefOf(original)}>
          <Icon name="replay" />
          {t('activity.replayOf')}
        </a>
      )}
      {kind === 'test' && (
        <span class="state pill is-info">
          <Icon name="test" />
          {word('kind', kind)}
        </span>
      )}
      {replay !== undefined && (
        <a class="soft small" href={hrefOf(replay)}>
          {t(recovered ? 'activity.replayedWell' : 'activity.replayed')}
        </a>
      )}
    </>
  )
}
