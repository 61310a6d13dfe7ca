/** The ladder of a call: its events on its legs, and what each webhook was sent of them. */
import { useSignal } from '@preact/signals'
import type { Attempt, Call, WebhookSummary } from 'hookswitch/client'
import { useEffect, useRef } from 'preact/hooks'
import { accountItems, accountPage, accountRequest, optional } from '../api/api.js'
import { CopyButton } from '../components/copy.js'
import { Line } from '../components/hostile-text.js'
import { Loaded } from '../components/load-state.js'
import { Page } from '../components/page.js'
import { ShowMore, useShown } from '../components/show-more.js'
import { ExactTime } from '../components/time.js'
import { useResource } from '../state/resource.js'
import { t, word } from '../state/translate.js'
import {
  buildLadder,
  deliveryText,
  type Ladder,
  type LadderRow,
  type LadderWords,
  ladderText,
  legName,
  withWebhooks,
} from '../text/ladder.js'
import { formatRoute } from '../text/routes.js'
import { offset } from '../text/times.js'

const REFRESH_MS = 5_000
const MAX_ITEMS = 1_000
/** Webhooks that are shown at first, each in a column. */
const MAX_WEBHOOKS = 50

interface CallData {
  readonly ladder: Ladder
}

export interface CallScreenProps {
  readonly accountId: string
  readonly callId: string
}

export function CallScreen({ accountId, callId }: CallScreenProps) {
  const isAbsolute = useSignal(false)
  const shown = useShown(MAX_WEBHOOKS)
  const names = useRef(new Map<string, string>()).current
  const resource = useResource<CallData>(
    (signal) => load({ accountId, callId, names, count: shown.peek() }, signal),
    [accountId, callId],
    REFRESH_MS,
  )
  useEffect(() => {
    if (shown.value > MAX_WEBHOOKS) resource.reload()
  }, [shown.value])
  const data = resource.data.value
  const words = wordsOf(names)
  return (
    <Page
      title={t('call.title')}
      name={`call/${callId}`}
      detail={
        <span class="number">
          <Line text={callId} />
        </span>
      }
      actions={
        data && (
          <>
            <CopyButton label={t('call.copy')} text={() => ladderText(callId, data.ladder, words)} />
            <button
              type="button"
              aria-pressed={isAbsolute.value}
              onClick={() => {
                isAbsolute.value = !isAbsolute.value
              }}
            >
              {t('call.absolute')}
            </button>
          </>
        )
      }
    >
      <Loaded resource={resource} isGonePossible>
        {({ ladder }) => (
          <>
            <Summary ladder={ladder} />
            {ladder.webhookIds.length === 0 && <p>{t('call.noDeliveries')}</p>}
            <Diagram
              {...{ accountId, words }}
              ladder={withWebhooks(ladder, shown.value)}
              isAbsolute={isAbsolute.value}
            />
            <ShowMore shown={shown} of={ladder.webhookIds.length} step={MAX_WEBHOOKS} />
            {ladder.isTruncated && <p>{t('call.truncated')}</p>}
          </>
        )}
      </Loaded>
    </Page>
  )
}

interface CallRequest extends CallScreenProps {
  /** Names of webhooks by id; those that are found are added. */
  readonly names: Map<string, string>
  /** How many webhooks are shown. */
  readonly count: number
}

async function load(
  { accountId, callId, names, count }: CallRequest,
  signal: AbortSignal,
): Promise<CallData> {
  const [attempts, call, webhooks] = await Promise.all([
    // A call that no webhook was sent anything of has none.
    optional(
      accountItems<Attempt>(
        '/calls/{call_id}/attempts',
        { accountId, callId, slim: true },
        MAX_ITEMS,
        signal,
      ),
    ),
    accountRequest<Call>('GET', '/calls/{call_id}', { accountId, callId }, signal),
    accountPage<WebhookSummary>('/webhooks', { accountId, pageSize: MAX_ITEMS }, signal),
  ])
  for (const { id, name } of webhooks.items) names.set(id, name)
  const ladder = buildLadder(call, attempts ?? [])
  // In a complete list, one that is missing was removed.
  if (webhooks.nextStartKey !== undefined) {
    const unnamed = withWebhooks(ladder, count).webhookIds.filter((id) => !names.has(id))
    await Promise.all(
      unnamed.map(async (webhookId) => {
        const address = { accountId, webhookId }
        const found = await optional(
          accountRequest<WebhookSummary>('GET', '/webhooks/{webhook_id}', address, signal),
        )
        names.set(webhookId, found?.name ?? webhookId)
      }),
    )
  }
  return { ladder }
}

const wordsOf = (names: ReadonlyMap<string, string>): LadderWords => ({
  unwanted: t('call.unwanted'),
  replay: t('kind.replay'),
  state: (state) => word('state', state),
  waitsFor: (event) => t('call.waitsFor', { event }),
  webhook: (id) => names.get(id) ?? id,
})

function Summary({ ladder }: { readonly ladder: Ladder }) {
  const events = ladder.rows.filter(({ kind }) => kind === 'event')
  const deliveries = events.reduce((count, row) => count + row.deliveries.length, 0)
  return (
    <p class="muted">
      {[
        t('call.legs', { count: ladder.legs.length }),
        t('call.events', { count: events.length }),
        t('call.deliveries', { count: deliveries }),
      ].join(' · ')}
    </p>
  )
}

interface DiagramProps {
  readonly accountId: string
  readonly ladder: Ladder
  readonly words: LadderWords
  readonly isAbsolute: boolean
}

/** One list for eyes, keyboards and screen readers: the grid only places its items. */
function Diagram({ accountId, ladder, words, isAbsolute }: DiagramProps) {
  const { legs, webhookIds, rows } = ladder
  const columns = `7rem repeat(${legs.length}, 11rem) repeat(${webhookIds.length}, minmax(15rem, 1fr))`
  const style = { gridTemplateColumns: columns }
  let previousMs = 0
  return (
    <section class="ladder" tabIndex={0} aria-label={t('call.ladder')}>
      <div class="ladder-head" style={style}>
        <span>{t('column.time')}</span>
        {legs.map((leg, index) => (
          <span key={leg.call_id} title={[leg.from, leg.to].filter(Boolean).join(' → ')}>
            {legName(index)} <Line text={leg.call_id} />
          </span>
        ))}
        {webhookIds.map((id) => (
          <a key={id} href={formatRoute({ screen: 'webhook', accountId, id })}>
            <Line text={words.webhook(id)} />
          </a>
        ))}
      </div>
      <ol>
        {rows.map((row) => {
          const deltaMs = (row.offsetMs ?? previousMs) - previousMs
          previousMs = row.offsetMs ?? previousMs
          return (
            <li key={`${row.callId}/${row.sequence}/${row.hook}`}>
              <Row {...{ accountId, row, ladder, words, style, isAbsolute, deltaMs }} />
            </li>
          )
        })}
      </ol>
    </section>
  )
}

interface RowProps extends DiagramProps {
  readonly row: LadderRow
  readonly style: { readonly gridTemplateColumns: string }
  readonly deltaMs: number
}

function Row({ accountId, row, ladder, words, style, isAbsolute, deltaMs }: RowProps) {
  const legColumn = row.legIndex + 2
  const sequence = ` #${row.sequence}`
  if (row.kind === 'unwanted') {
    return (
      <div class="ladder-row unwanted" style={style}>
        <span />
        <span style={{ gridColumn: `${legColumn} / -1` }}>
          {sequence}: {t('call.unwanted')}{' '}
          <a href={formatRoute({ screen: 'match', accountId })}>{t('call.why')}</a>
        </span>
      </div>
    )
  }
  return (
    <>
      <div class="ladder-row event" style={style}>
        <span class="number">
          {isAbsolute && row.timeMs !== undefined ? <ExactTime at={row.timeMs} isClock /> : offset(deltaMs)}
        </span>
        <strong style={{ gridColumn: `${legColumn}` }}>
          <span class="hidden">{legName(row.legIndex)} </span>
          {row.hook}
          {sequence}
        </strong>
      </div>
      <ul>
        {row.deliveries.map((delivery) => {
          const column = ladder.legs.length + 2 + ladder.webhookIds.indexOf(delivery.webhookId)
          return (
            <li class="ladder-row" style={style} key={delivery.id}>
              <span class="arrow" aria-hidden="true" style={{ gridColumn: `${legColumn} / ${column}` }} />
              <a
                style={{ gridColumn: `${column}` }}
                class={delivery.state === 'delivered' ? 'good' : 'bad'}
                href={formatRoute({ screen: 'delivery', accountId, id: delivery.id })}
              >
                <span class="target">
                  <Line text={words.webhook(delivery.webhookId)} />{' '}
                </span>
                {deliveryText(delivery, words)}
              </a>
            </li>
          )
        })}
      </ul>
    </>
  )
}
