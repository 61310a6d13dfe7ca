/** One delivery: what became of it in a sentence, its tries, and one exchange with its request and its answer. */
import type { Attempt, Delivery, WebhookHealth } from 'hookswitch/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { accountItems, accountPage, accountRequest, statusOf } from '../api/api.js'
import { readHealth } from '../api/webhook-health.js'
import { Button, LinkButton } from '../components/button.js'
import { CopyButton } from '../components/copy.js'
import { Exchange } from '../components/exchange.js'
import { explanationText } from '../components/explanation.js'
import { FollowWebhook } from '../components/follow-webhook.js'
import { Line } from '../components/hostile-text.js'
import { Icon } from '../components/icon.js'
import { Loaded } from '../components/load-state.js'
import { lookOfOutcome, outcomeText } from '../components/outcome.js'
import { Page } from '../components/page.js'
import { None, Note } from '../components/panel.js'
import { Parties } from '../components/parties.js'
import { useReplayOne } from '../components/replay.js'
import { ReplayMarks } from '../components/replay-marks.js'
import { State } from '../components/state.js'
import { Clock, In, spanText } from '../components/time.js'
import { useAction } from '../state/action.js'
import { notify } from '../state/announce.js'
import { registerKeys } from '../state/keyboard.js'
import { kindName } from '../state/kinds.js'
import { useResource } from '../state/resource.js'
import { changeQuery, route } from '../state/router.js'
import { canChange } from '../state/scope.js'
import { t, word } from '../state/translate.js'
import { isOver } from '../text/activity.js'
import { curlCommand } from '../text/curl.js'
import type { LiveItem } from '../text/live-items.js'
import { type IconName, lookOf, type Role } from '../text/looks.js'
import { sameOutcomes } from '../text/outcome.js'
import { formatRoute } from '../text/routes.js'

const REFRESH_MS = 3_000
const MAX_ATTEMPTS = 100
/** Time between two tries that is shown between them, ms. */
const LONG_WAIT_MS = 60_000

interface DeliveryData {
  readonly delivery: Delivery
  /** The oldest first, without headers and bodies. */
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
  const data = resource.data.value
  const delivery = data?.delivery
  const webhookId = delivery?.hook_id
  const subject = useResource<WebhookHealth | undefined>(
    async (signal) => (webhookId === undefined ? undefined : readHealth(accountId, webhookId, signal)),
    [accountId, webhookId],
  )
  const webhook = subject.data.value
  const { try: chosen } = route.value.query
  const attempts = data?.attempts ?? []
  const shown = attempts.find(({ id }) => id === chosen) ?? attempts.at(-1)
  const exchange = useExchange(accountId, deliveryId, shown?.id)
  const replay = useReplayOne(accountId)
  const isGone = webhook?.state === 'disabled' || statusOf(subject.error.value) === 404
  const canReplay = useRef(false)
  // Nothing is replayed to a webhook that is switched off or deleted.
  canReplay.current = delivery !== undefined && isOver(delivery.state) && canChange.value && !isGone
  const askReplay = () => {
    const current = resource.data.peek()?.delivery
    if (current && canReplay.current) replay.ask({ webhookId: current.hook_id, deliveryId })
  }
  const resume = useAction(async () => {
    await accountRequest('PUT', '/webhooks/{webhook_id}/resume', { accountId, webhookId, data: {} })
    notify(t('delivery.resumed'))
    resource.reload()
  })
  const onNews = (items: readonly LiveItem[]) => {
    if (items.some(({ attempt }) => attempt?.delivery_id === deliveryId)) resource.reload()
  }
  useEffect(
    () =>
      registerKeys({
        replay: askReplay,
        move(by) {
          const all = resource.data.peek()?.attempts ?? []
          const index = all.findIndex(({ id }) => id === route.peek().query.try)
          const from = index < 0 ? all.length - 1 : index
          const next = all[Math.max(0, Math.min(all.length - 1, from + by))]
          if (next) changeQuery({ try: next.id })
        },
      }),
    [deliveryId],
  )
  const loaded = exchange.data.value
  const whole = loaded === 'gone' ? undefined : loaded
  const isWaitingInPause = delivery?.explanation.code === 'paused' && delivery.state === 'waiting'
  const isLost = delivery !== undefined && LOST.has(delivery.state) && delivery.recovered !== true
  return (
    <Page
      title={delivery ? kindName(delivery.hook_event) : t('delivery.title')}
      name={`delivery/${deliveryId}`}
      crumb={
        webhookId === undefined
          ? undefined
          : {
              text: t('delivery.activityOf', { name: webhook?.name ?? t('delivery.webhook') }),
              href: formatRoute({ screen: 'webhook', accountId, id: webhookId, tab: 'activity' }),
            }
      }
      detail={delivery && <State state={delivery.state} pill={delivery.state !== 'delivered'} />}
      lead={
        delivery && (
          <>
            {delivery.call_id !== undefined && (
              <>
                <Parties call={delivery.call} callerName={delivery.caller_name} callId={delivery.call_id} /> ·{' '}
              </>
            )}
            <Clock at={delivery.accepted_at} />
          </>
        )
      }
      actions={
        delivery && (
          <>
            {canChange.value && isWaitingInPause && (
              <Button
                kind="primary"
                icon="send"
                busy={resume.isRunning.value ? t('delivery.resuming') : undefined}
                onClick={() => void resume.run()}
              >
                {t('delivery.resume')}
              </Button>
            )}
            {canReplay.current && (
              <Button icon="replay" kind={isLost ? 'primary' : undefined} onClick={askReplay}>
                {t('delivery.replay')}
              </Button>
            )}
            {whole?.req_headers && <CurlButton attempt={whole} headers={whole.req_headers} />}
            {delivery.call_id !== undefined && (
              <LinkButton icon="join" href={formatRoute({ screen: 'call', accountId, id: delivery.call_id })}>
                {t('delivery.call')}
              </LinkButton>
            )}
          </>
        )
      }
    >
      <Loaded resource={resource} isGonePossible>
        {(found) => (
          <>
            <Sentence accountId={accountId} data={found} loadedMs={resource.loadedMs.value} />
            <div class="gap" />
            <div class="deliv">
              <div class="stack">
                <Tries
                  {...{ accountId, webhook }}
                  data={found}
                  loadedMs={resource.loadedMs.value}
                  shown={shown?.id}
                />
                <Identity accountId={accountId} delivery={found.delivery} />
              </div>
              {shown && (
                <div>
                  <Loaded resource={exchange}>
                    {(found) =>
                      found === 'gone' ? (
                        <None icon="old" title={t('load.gone')} />
                      ) : (
                        <Exchange attempt={found} />
                      )
                    }
                  </Loaded>
                </div>
              )}
            </div>
          </>
        )}
      </Loaded>
      {delivery && !isOver(delivery.state) && (
        <FollowWebhook accountId={accountId} webhookId={delivery.hook_id} onNews={onNews} />
      )}
      {replay.dialog}
    </Page>
  )
}

/** States of deliveries that nobody sends any more. */
const LOST: ReadonlySet<string> = new Set(['exhausted', 'expired', 'cancelled', 'quarantined'])

async function load(accountId: string, deliveryId: string, signal: AbortSignal): Promise<DeliveryData> {
  const address = { accountId, deliveryId }
  const [delivery, found] = await Promise.all([
    accountRequest<Delivery>('GET', '/deliveries/{delivery_id}', address, signal),
    accountItems<Attempt>(
      '/deliveries/{delivery_id}/attempts',
      { ...address, slim: true },
      MAX_ATTEMPTS,
      signal,
    ),
  ])
  const attempts = [...found].sort((a, b) => Date.parse(a.sent_at) - Date.parse(b.sent_at))
  return { delivery, attempts }
}

/** An attempt with headers and bodies. */
const useExchange = (accountId: string, deliveryId: string, id: string | undefined) =>
  useResource<Attempt | 'gone'>(
    async (signal) => {
      if (id === undefined) return 'gone'
      const { items } = await accountPage<Attempt>(
        '/deliveries/{delivery_id}/attempts',
        { accountId, deliveryId, pageSize: 1, include: 'bodies', filters: { filter_id: id } },
        signal,
      )
      return items[0] ?? 'gone'
    },
    [accountId, deliveryId, id],
  )

interface CurlButtonProps {
  readonly attempt: Attempt
  readonly headers: NonNullable<Attempt['req_headers']>
}

function CurlButton({ attempt: { method, uri, req_body: body }, headers }: CurlButtonProps) {
  return <CopyButton label={t('attempt.curl')} text={() => curlCommand({ method, uri, headers, body })} />
}

interface SentenceProps {
  readonly accountId: string
  readonly data: DeliveryData
  readonly loadedMs: number
}

function Sentence({ accountId, data: { delivery, attempts }, loadedMs }: SentenceProps) {
  const { lead, rest } = explanationText(delivery.explanation, {
    atMs: loadedMs,
    attempts: delivery.attempts,
    sameAnswers: sameOutcomes(attempts),
  })
  const last = attempts.at(-1)
  const isRefused = last !== undefined && lookOfOutcome(last)[0] === 'bad'
  const isBad = delivery.state === 'exhausted' || (delivery.state === 'waiting' && isRefused)
  const [, icon] = isBad ? (['bad', 'fail'] as const) : lookOf(delivery.state)
  return (
    <Note icon={icon} {...(isBad && { tone: 'bad' })}>
      <b>
        <Line text={lead} />
      </b>{' '}
      {rest !== '' && <Line text={rest} />} <ReplayMarks accountId={accountId} delivery={delivery} />
    </Note>
  )
}

interface TriesProps {
  readonly accountId: string
  readonly data: DeliveryData
  readonly loadedMs: number
  readonly webhook: WebhookHealth | undefined
  /** Id of the attempt whose exchange is shown. */
  readonly shown: string | undefined
}

function Tries({ accountId, data: { delivery, attempts }, loadedMs, webhook, shown }: TriesProps) {
  const steps: ComponentChildren[] = []
  let previous: Attempt | undefined
  for (const attempt of attempts) {
    const waitedMs = previous ? Date.parse(attempt.sent_at) - Date.parse(previous.sent_at) : 0
    const idleMs = waitedMs - (previous?.duration_ms ?? 0)
    if (idleMs >= LONG_WAIT_MS) {
      steps.push(
        <Step
          key={`${attempt.id}/wait`}
          tone="warn"
          icon="pause"
          isNext
          title={t('delivery.waited', { span: spanText(idleMs) })}
        />,
      )
    }
    steps.push(
      <li key={attempt.id}>
        <a
          class="try"
          href={formatRoute({ screen: 'delivery', accountId, id: delivery.id, query: { try: attempt.id } })}
          aria-current={attempt.id === shown ? 'true' : undefined}
          onClick={(event) => {
            event.preventDefault()
            changeQuery({ try: attempt.id })
          }}
        >
          <Try attempt={attempt} delivery={delivery} />
        </a>
      </li>,
    )
    previous = attempt
  }
  const isWaiting = delivery.state === 'waiting'
  const maxAgeMs = (webhook?.max_age_seconds ?? 0) * 1_000
  // Where the webhook is paused, the time of the pause counts, not that of the delivery.
  const { seconds } = delivery.explanation
  const nextMs = seconds === undefined ? undefined : loadedMs + seconds * 1_000
  const tooOldMs = Date.parse(delivery.accepted_at) + maxAgeMs
  return (
    <section class="panel pad">
      <h2 class="label">{t('delivery.tries')}</h2>
      <ol class="line">
        <Step tone="off" icon="ok" title={t('delivery.accepted')}>
          <Clock at={delivery.accepted_at} ms />
        </Step>
        {attempts.length === 0 && delivery.attempts > 0 && (
          <Step tone="off" icon="old" title={t('delivery.attemptsGone')} />
        )}
        {steps}
        {delivery.state === 'in_flight' && (
          <Step tone="info" icon="send" title={word('state', 'in_flight')} />
        )}
        {isWaiting && (
          <Step tone="warn" icon="wait" isNext title={t('delivery.next')}>
            {nextMs === undefined ? (
              t('delivery.nextUnknown')
            ) : (
              <>
                <Clock at={nextMs} />, <In at={nextMs} />
              </>
            )}
          </Step>
        )}
        {isWaiting && maxAgeMs > 0 && (
          <Step tone="off" icon="old" title={t('delivery.tooOldAfter')}>
            <Clock at={tooOldMs} />
          </Step>
        )}
      </ol>
    </section>
  )
}

interface StepProps {
  readonly tone: Role
  readonly icon: IconName
  readonly title: string
  /** Still to come. */
  readonly isNext?: boolean
  readonly children?: ComponentChildren
}

function Step({ tone, icon, title, isNext = false, children }: StepProps) {
  return (
    <li class={isNext ? 'next' : undefined}>
      <Icon name={icon} tone={tone} />
      <b>{title}</b>
      {children !== undefined && <p>{children}</p>}
    </li>
  )
}

function Try({ attempt, delivery }: { readonly attempt: Attempt; readonly delivery: Delivery }) {
  const { attempt: number, sent_at, duration_ms: durationMs } = attempt
  const [tone, icon] = number === undefined ? lookOf(delivery.state) : lookOfOutcome(attempt)
  return (
    <>
      <Icon name={icon} tone={tone} />
      <b>
        {number === undefined ? (
          word('state', delivery.state)
        ) : (
          <>
            {t('delivery.try', { number })} <Line text={outcomeText(attempt)} />
          </>
        )}
      </b>
      <p>
        <Clock at={sent_at} ms />
        {durationMs !== undefined && <>, {spanText(durationMs)}</>}
      </p>
    </>
  )
}

interface IdentityProps {
  readonly accountId: string
  readonly delivery: Delivery
}

function Identity({ accountId, delivery: { id, event_id: eventId, call_id: callId } }: IdentityProps) {
  return (
    <section class="panel pad">
      <h2 class="label">{t('delivery.identity')}</h2>
      <dl class="facts ids">
        {callId !== undefined && (
          <>
            <dt>{t('delivery.ofCall')}</dt>
            <dd>
              <a class="mono cut" href={formatRoute({ screen: 'call', accountId, id: callId })}>
                <Line text={callId} />
              </a>
            </dd>
          </>
        )}
        <dt>{t('delivery.event')}</dt>
        <Id text={eventId} label={t('delivery.copyEvent')} />
        <dt>{t('delivery.id')}</dt>
        <Id text={id} label={t('delivery.copyId')} />
      </dl>
    </section>
  )
}

/** Characters at the begin and at the end of a long id. */
const SHOWN = 8

function Id({ text, label }: { readonly text: string; readonly label: string }) {
  const short = text.length <= 2 * SHOWN + 1 ? text : `${text.slice(0, SHOWN)}…${text.slice(-SHOWN)}`
  return (
    <dd class="mono" title={text}>
      {short}{' '}
      <CopyButton kind="quiet" size="tiny" label={label} text={() => text}>
        {false}
      </CopyButton>
    </dd>
  )
}
