/** What a row of the attempts unfolds to: request, response, and what became of the delivery. */
import type { Attempt, Delivery } from 'hookswitch/client'
import { accountPage, accountRequest } from '../api/api.js'
import { Exchange } from '../components/exchange.js'
import { Line } from '../components/hostile-text.js'
import { Loaded } from '../components/load-state.js'
import { ReplayMarks } from '../components/replay-marks.js'
import { useResource } from '../state/resource.js'
import { explanationText, t } from '../state/translate.js'
import { formatRoute } from '../text/routes.js'

interface AttemptPanelProps {
  readonly accountId: string
  /** As the list has it: without headers and bodies. */
  readonly attempt: Attempt
  readonly onReplay: () => void
}

export function AttemptPanel({ accountId, attempt, onReplay }: AttemptPanelProps) {
  const { id, delivery_id: deliveryId, call_id: callId } = attempt
  const resource = useResource(
    async (signal) => {
      const [delivery, page] = await Promise.all([
        accountRequest<Delivery>('GET', '/deliveries/{delivery_id}', { accountId, deliveryId }, signal),
        accountPage<Attempt>(
          '/deliveries/{delivery_id}/attempts',
          { accountId, deliveryId, pageSize: 1, include: 'bodies', filters: { filter_id: id } },
          signal,
        ),
      ])
      return { delivery, whole: page.items[0] ?? attempt }
    },
    [accountId, id],
  )
  return (
    <Loaded resource={resource} isGonePossible>
      {({ delivery, whole }) => (
        <>
          <Exchange attempt={whole} />
          <p class="buttons panel-actions">
            <button type="button" onClick={onReplay}>
              {t('action.replay')}
            </button>
            {callId !== undefined && (
              <a class="button" href={formatRoute({ screen: 'call', accountId, id: callId })}>
                {t('delivery.call')}
              </a>
            )}
            <span class="explain">
              <Line text={explanationText(delivery)} />{' '}
              <ReplayMarks accountId={accountId} delivery={delivery} />
            </span>
          </p>
        </>
      )}
    </Loaded>
  )
}
