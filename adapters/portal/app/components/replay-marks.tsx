/** Which delivery a replay repeats, and by which one a delivery was repeated. */
import type { Delivery } from 'hookswitch/client'
import { t } from '../state/translate.js'
import { formatRoute } from '../text/routes.js'
import { State } from './state.js'

interface ReplayMarksProps {
  readonly accountId: string
  readonly delivery: Pick<Delivery, 'replay_of' | 'replayed_by' | 'recovered'>
}

export function ReplayMarks({ accountId, delivery }: ReplayMarksProps) {
  const { replay_of: original, replayed_by: replay, recovered } = delivery
  const link = (id: string, text: string) => (
    <a href={formatRoute({ screen: 'delivery', accountId, id })}>{text}</a>
  )
  return (
    <>
      {recovered && <State state="recovered" />}{' '}
      {original !== undefined && link(original, t('replay.of', { id: original }))}{' '}
      {replay !== undefined && link(replay, t('replay.by', { id: replay }))}
    </>
  )
}
