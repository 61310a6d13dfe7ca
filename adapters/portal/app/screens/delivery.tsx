/** One delivery: why it is in its state, and every attempt with request and response. */
import type { Attempt, Delivery } from 'hookswitch/client'
import { useEffect } from 'preact/hooks'
import { accountItems, accountRequest } from '../api/api.js'
import { Exchange } from '../components/exchange.js'
import { FollowWebhook } from '../components/follow-webhook.js'
import { Line } from '../components/hostile-text.js'
import { Loaded } from '../components/load-state.js'
import { Page } from '../components/page.js'
import { useReplayOne } from '../components/replay.js'
import { ReplayMarks } from '../components/replay-marks.js'
import { State } from '../components/state.js'
import { ExactTime, RelativeTime } from '../components/time.js'
import { registerKeys } from '../state/keyboard.js'
import { useResource } from '../state/resource.js'
import { isReadOnly } from '../state/scope.js'
import { explanationText, t, word } from '../state/translate.js'
import type { LiveItem } from '../text/live-items.js'
import { outcomeOf } from '../text/outcome.js'
import { formatRoute } from '../text/routes.js'
import { duration } from '../text/times.js'

const REFRESH_MS = 3_000
const MAX_ATTEMPTS = 100

interface DeliveryData {
  readonly delivery: Delivery
  /** The newest first. */
  readonly attempts: readonly Attempt[]
}

interface DeliveryScreenProps {
  readonly accountId: string
  readonly deliveryId: string
}

export function DeliveryScreen({ accountId, deliveryId }: DeliveryScreenProps) {
  const resource = useResource<DeliveryData>(
    (signal) => load(accountId, deliveryId, signal),
    [accountId, deliveryId],
    REFRESH_MS,
  )
  const replay = useReplayOne(accountId)
  const delivery = resource.data.value?.delivery
  const askReplay = () => {
    const shown = resource.data.peek()?.delivery
    if (shown) replay.ask({ webhookId: shown.hook_id, deliveryId })
  }
  const onNews = (items: readonly LiveItem[]) => {
    if (items.some(({ attempt }) => attempt?.delivery_id === deliveryId)) resource.reload()
  }
  useEffect(() => registerKeys({ replay: askReplay }), [deliveryId])
  return (
    <Page
      title={delivery ? t('delivery.title', { hook: delivery.hook_event }) : t('delivery.loading')}
      name={`delivery/${deliveryId}`}
      detail={delivery && <State state={delivery.state} />}
      actions={
        delivery && (
          <>
            {!isReadOnly.value && (
              <button type="button" onClick={askReplay}>
                {t('action.replay')}
              </button>
            )}
            <a
              class="button"
              href={formatRoute({ screen: 'webhook', accountId, id: delivery.hook_id, tab: 'attempts' })}
            >
              {t('delivery.webhook')}
            </a>
            {delivery.call_id !== undefined && (
              <a class="button" href={formatRoute({ screen: 'call', accountId, id: delivery.call_id })}>
                {t('delivery.call')}
              </a>
            )}
          </>
        )
      }
    >
      <Loaded resource={resource} isGonePossible>
        {(data) => (
          <>
            <p class="explain">
              <Line text={explanationText(data.delivery)} />{' '}
              <ReplayMarks accountId={accountId} delivery={data.delivery} />
            </p>
            <Facts delivery={data.delivery} />
            {data.attempts.length === 0 && (
              <p>{t(data.delivery.attempts > 0 ? 'delivery.attemptsGone' : 'delivery.noAttempts')}</p>
            )}
            {data.attempts.map((attempt, index) => (
              <AttemptPanel key={attempt.id} attempt={attempt} isOpen={index === 0} />
            ))}
          </>
        )}
      </Loaded>
      {delivery && !isOver(delivery) && (
        <FollowWebhook accountId={accountId} webhookId={delivery.hook_id} onNews={onNews} />
      )}
      {replay.dialog}
    </Page>
  )
}

const isOver = ({ state }: Delivery) => state !== 'waiting' && state !== 'in_flight'

async function load(accountId: string, deliveryId: string, signal: AbortSignal): Promise<DeliveryData> {
  const delivery = await accountRequest<Delivery>(
    'GET',
    '/deliveries/{delivery_id}',
    { accountId, deliveryId },
    signal,
  )
  const found = await accountItems<Attempt>(
    '/deliveries/{delivery_id}/attempts',
    { accountId, deliveryId, include: 'bodies' },
    MAX_ATTEMPTS,
    signal,
  )
  const attempts = [...found].sort((a, b) => Date.parse(b.sent_at) - Date.parse(a.sent_at))
  return { delivery, attempts }
}

function Facts({ delivery }: { readonly delivery: Delivery }) {
  return (
    <dl class="facts">
      <div>
        <dt>{t('delivery.id')}</dt>
        <dd class="number">{delivery.id}</dd>
      </div>
      <div>
        <dt>{t('column.accepted')}</dt>
        <dd>
          <ExactTime at={delivery.accepted_at} />
        </dd>
      </div>
      {delivery.next_attempt_at !== undefined && (
        <div>
          <dt>{t('delivery.next')}</dt>
          <dd>
            <ExactTime at={delivery.next_attempt_at} /> (<RelativeTime at={delivery.next_attempt_at} />)
          </dd>
        </div>
      )}
      {delivery.call_id !== undefined && (
        <div>
          <dt>{t('column.call')}</dt>
          <dd>
            <Line text={delivery.call_id} />
          </dd>
        </div>
      )}
      {delivery.kind !== 'first' && (
        <div>
          <dt>{t('delivery.kind')}</dt>
          <dd>{word('kind', delivery.kind)}</dd>
        </div>
      )}
    </dl>
  )
}

function AttemptPanel({ attempt, isOpen }: { readonly attempt: Attempt; readonly isOpen: boolean }) {
  const took = attempt.duration_ms === undefined ? '' : duration(attempt.duration_ms)
  return (
    <details class="attempt" open={isOpen}>
      <summary>
        <ExactTime at={attempt.sent_at} isClock /> <State state={attempt.result} />{' '}
        {attempt.attempt !== undefined && t('attempt.number', { number: attempt.attempt })}{' '}
        <strong>
          <Line text={outcomeOf(attempt)} />
        </strong>{' '}
        {took}
      </summary>
      <Exchange attempt={attempt} />
    </details>
  )
}
