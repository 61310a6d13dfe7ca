/** The requests of an account as they happen. */
import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { Button } from '../components/button.js'
import { EventName } from '../components/event-name.js'
import { FilterInput } from '../components/filter-input.js'
import { Line } from '../components/hostile-text.js'
import { OutcomeState } from '../components/outcome.js'
import { Page } from '../components/page.js'
import { None, Panel } from '../components/panel.js'
import { Parties } from '../components/parties.js'
import { Pick } from '../components/pick.js'
import { Seg } from '../components/seg.js'
import { Clock, spanText, zoneText } from '../components/time.js'
import { type Column, VirtualTable } from '../components/virtual-table.js'
import { summarize } from '../state/announce.js'
import { nowMs } from '../state/clock.js'
import { kindOptions } from '../state/kinds.js'
import { zone } from '../state/preferences.js'
import { useStreamItems } from '../state/stream-items.js'
import { currentLanguage, number, t, word } from '../state/translate.js'
import { forgetNames, rereadName, webhookName } from '../state/webhook-names.js'
import {
  addItems,
  addToRate,
  emptyRate,
  type LiveItem,
  type LiveRate,
  MAX_ROWS,
  passes,
  rateFigures,
} from '../text/live-items.js'
import { formatRoute } from '../text/routes.js'
import { SPARK_BAR, SPARK_HEIGHT, sparkPaths } from '../text/spark-paths.js'

/** Items of a tenth of a second are shown together. */
const BATCH_MS = 100
/** How long a row is marked as new. */
const FRESH_MS = 400
const ROW_HEIGHT = 34
const CARD_HEIGHT = 92

export function LiveScreen({ accountId }: { readonly accountId: string }) {
  const items = useSignal<readonly LiveItem[]>([])
  /** What has arrived during a pause; `undefined`: there is none. */
  const held = useSignal<readonly LiveItem[] | undefined>(undefined)
  const isFailedOnly = useSignal(false)
  const webhookId = useSignal('')
  const kind = useSignal('')
  const text = useSignal('')
  const rate = useSignal<LiveRate>(emptyRate(Date.now()))
  const openedMs = useRef(Date.now())
  const unread = useRef({ ok: 0, failed: 0 })
  const known = useRef(new Set<string>()).current
  const filters = {
    ...(isFailedOnly.value && { result: 'failure' as const }),
    ...(webhookId.value !== '' && { webhookId: webhookId.value }),
  }
  const state = useStreamItems({ accountId, filters, batchMs: BATCH_MS }, (added) => {
    const fresh = addItems([], added)
    rate.value = addToRate(rate.peek(), added, Date.now())
    const passed = added.filter((item) => passes(item, { kind: kind.peek(), text: text.peek() }))
    if (held.peek()) held.value = addItems(held.peek()!, passed)
    else items.value = addItems(items.peek(), passed)
    for (const { attempt, rate: counted, news, webhookId: changed } of fresh) {
      if (news === 'changed' && changed !== undefined) rereadName(accountId, changed)
      if (attempt) known.add(attempt.hook_id)
      if (attempt) unread.current[attempt.result === 'success' ? 'ok' : 'failed'] += 1
      unread.current.ok += counted?.ok ?? 0
      unread.current.failed += counted?.failed ?? 0
    }
    if (summarize(t('live.summary', unread.current))) unread.current = { ok: 0, failed: 0 }
  })
  useEffect(() => forgetNames, [])
  /** Rows of another selection say nothing about this one. */
  const restart = () => {
    items.value = []
    if (held.peek()) held.value = []
    rate.value = emptyRate(Date.now())
    openedMs.current = Date.now()
  }
  const isOpen = state.value === 'open'
  const waiting = held.value
  const webhooks = [...known].slice(0, MAX_ROWS)
  return (
    <Page
      title={t('live.title')}
      name="live"
      class="tail"
      detail={
        <span class={isOpen ? 'state pill is-ok live' : 'state pill is-off'}>
          {isOpen && <span class="dot" />}
          {t(`stream.${state.value}`)}
        </span>
      }
      lead={t('live.lead')}
      actions={
        waiting ? (
          <Button
            icon="send"
            kind={waiting.length > 0 ? 'primary' : undefined}
            onClick={() => {
              items.value = addItems(items.peek(), [...waiting].reverse())
              held.value = undefined
            }}
          >
            {waiting.length === 0
              ? t('live.resume')
              : t('live.show', { count: waiting.length, more: waiting.length < MAX_ROWS ? '' : '+' })}
          </Button>
        ) : (
          <Button
            icon="hold"
            onClick={() => {
              held.value = []
            }}
          >
            {t('live.pause')}
          </Button>
        )
      }
    >
      <Rate rate={rate.value} openedMs={openedMs.current} isFailedOnly={isFailedOnly.value} />
      <div class="bar">
        <Seg
          label={t('live.result')}
          value={isFailedOnly.value ? 'failed' : 'all'}
          options={[
            { value: 'all', text: t('live.all') },
            { value: 'failed', text: t('live.failedOnly') },
          ]}
          onChange={(value) => {
            isFailedOnly.value = value === 'failed'
            restart()
          }}
        />
        <Pick
          label={t('live.webhook')}
          value={webhookId.value}
          options={[
            { value: '', text: t('activity.any') },
            ...webhooks.map((id) => ({ value: id, text: webhookName(accountId, id) ?? id })),
          ]}
          onChange={(value) => {
            webhookId.value = value
            restart()
          }}
        />
        <Pick
          label={t('activity.event')}
          value={kind.value}
          options={[{ value: '', text: t('activity.any') }, ...kindOptions(kind.value)]}
          onChange={(value) => {
            kind.value = value
          }}
        />
        <FilterInput
          isImmediate
          label={t('live.search')}
          value={text.value}
          onChange={(value) => {
            text.value = value
          }}
        />
      </div>
      <Rows
        accountId={accountId}
        rows={items.value.filter((item) => passes(item, { kind: kind.value, text: text.value }))}
        isFiltered={isFailedOnly.value || webhookId.value !== '' || kind.value !== '' || text.value !== ''}
      />
    </Page>
  )
}

interface RateProps {
  readonly rate: LiveRate
  readonly openedMs: number
  readonly isFailedOnly: boolean
}

/** The last minute, second by second. */
function Rate({ rate, openedMs, isFailedOnly }: RateProps) {
  const moved = addToRate(rate, [], nowMs.value)
  const figures = rateFigures(moved, openedMs)
  const { ok, failed, none } = sparkPaths(moved.ok, moved.failed)
  const perSecond = number(Math.round(figures.perSecond * 10) / 10)
  return (
    <Panel class="rate">
      <dl>
        <dt>{t(isFailedOnly ? 'live.failedPerSecond' : 'live.perSecond')}</dt>
        <dd>{perSecond}</dd>
      </dl>
      <svg
        class="spark"
        viewBox={`0 0 ${moved.ok.length * SPARK_BAR} ${SPARK_HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t('live.minute', { rate: perSecond, failed: figures.failed })}
      >
        <path class="bars-none" d={none} />
        <path class="bars-ok" d={ok} />
        <path class="bars-bad" d={failed} />
      </svg>
      <dl class="num">
        <dt>{t('live.failedMinute')}</dt>
        <dd>{number(figures.failed)}</dd>
      </dl>
    </Panel>
  )
}

interface RowsProps {
  readonly accountId: string
  readonly rows: readonly LiveItem[]
  readonly isFiltered: boolean
}

function Rows({ accountId, rows, isFiltered }: RowsProps) {
  // The same columns for each batch, so that only new rows are rendered.
  const columns = useMemo(() => columnsOf(accountId), [accountId, currentLanguage(), zone.value])
  if (rows.length === 0)
    return <None icon="wait" title={t(isFiltered ? 'activity.noneMatch' : 'live.none')} />
  return (
    <VirtualTable
      label={t('live.title')}
      rows={rows}
      idOf={({ key }) => key}
      hrefOf={({ attempt, webhookId }) => {
        if (attempt) {
          const query = { try: attempt.id }
          return formatRoute({ screen: 'delivery', accountId, id: attempt.delivery_id, query })
        }
        return webhookId === undefined
          ? undefined
          : formatRoute({ screen: 'webhook', accountId, id: webhookId })
      }}
      classOf={({ arrivedMs }) => (Date.now() - arrivedMs < FRESH_MS ? 'fresh' : undefined)}
      rowHeight={ROW_HEIGHT}
      cardHeight={CARD_HEIGHT}
      columns={columns}
      foot={t('live.kept', { count: MAX_ROWS })}
    />
  )
}

function columnsOf(accountId: string): readonly Column<LiveItem>[] {
  return [
    {
      label: t('activity.timeIn', { zone: zoneText() }),
      width: '10rem',
      class: 'nowrap last',
      cell: ({ atMs }) => <Clock at={atMs} ms isTimeOnly />,
    },
    { label: t('activity.answer'), width: '12rem', class: 'how', cell: (item) => <Answer item={item} /> },
    {
      label: t('activity.event'),
      width: '11rem',
      class: 'lead',
      cell: ({ attempt }) => attempt && <EventName hook={attempt.hook_event} />,
    },
    {
      label: t('activity.call'),
      width: '22rem',
      class: 'full',
      cell: ({ attempt }) => attempt && <Parties call={attempt.call} callId={attempt.call_id} />,
    },
    {
      label: t('live.webhook'),
      width: '14rem',
      cell: ({ attempt, webhookId }) => <Name accountId={accountId} id={attempt?.hook_id ?? webhookId} />,
    },
    {
      label: t('activity.duration'),
      width: '6rem',
      class: 'num ms',
      cell: ({ attempt }) => attempt?.duration_ms !== undefined && spanText(attempt.duration_ms),
    },
  ]
}

function Answer({ item: { attempt, rate, news = '' } }: { readonly item: LiveItem }) {
  if (attempt) return <OutcomeState attempt={attempt} />
  return <span class="soft">{rate ? t('live.summary', rate) : word('change', news)}</span>
}

function Name({ accountId, id }: { readonly accountId: string; readonly id: string | undefined }) {
  if (id === undefined) return null
  return (
    <span class="cut">
      <Line text={webhookName(accountId, id) ?? id} />
    </span>
  )
}
