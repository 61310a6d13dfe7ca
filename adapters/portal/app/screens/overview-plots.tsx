/** Figures of a webhook, and its requests over time: from an hour before the first failure, or over a choice of time. */
import type { WebhookHealth } from 'hookswitch/client'
import { accountRequest, optional } from '../api/api.js'
import { Icon } from '../components/icon.js'
import { Loaded } from '../components/load-state.js'
import { Strip } from '../components/panel.js'
import { Plot, PlotKey, type PlotMarks } from '../components/plot.js'
import { Seg } from '../components/seg.js'
import { dayTimeText, lastingText, sinceText, spanText } from '../components/time.js'
import { nowMs } from '../state/clock.js'
import { useResource } from '../state/resource.js'
import { changeQuery } from '../state/router.js'
import { currentLanguage, failureText, number, t } from '../state/translate.js'
import { toGregorian } from '../text/gregorian-time.js'
import { percent, percentText, sum } from '../text/health-series.js'
import { barPaths, linePath, PLOT_WIDTH } from '../text/plot-geometry.js'
import { formatRoute } from '../text/routes.js'
import {
  type CauseCount,
  type HealthSeries,
  healthSeries,
  type StatsDocument,
  typicalAnswerMs,
} from '../text/stats-series.js'
import { isStatus, statusText } from '../text/statuses.js'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** How long counts by the minute are kept; older ones are by the hour. */
const MINUTES_KEPT_MS = 3 * HOUR_MS - 5 * MINUTE_MS
/** The shortest range that is shown by the hour. */
const LEAST_HOURS_MS = 12 * HOUR_MS
const SPANS = { '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS } as const
const MOST_BARS = 72
const REFRESH_MS = 15_000

interface OverviewPlotsProps {
  readonly accountId: string
  readonly webhookId: string
  readonly query: Readonly<Record<string, string>>
  readonly health: WebhookHealth
}

const msOf = (at: string | undefined) => (at === undefined ? undefined : Date.parse(at))

interface Range {
  readonly fromMs: number
  readonly step: 60 | 3600
}

/** From an hour before the first failure, in slots that are still kept. */
function rangeAround(failingMs: number, now: number): Range {
  const fromMs = Math.floor((failingMs - HOUR_MS) / HOUR_MS) * HOUR_MS
  if (fromMs >= now - MINUTES_KEPT_MS) return { fromMs, step: 60 }
  return { fromMs: Math.min(fromMs, Math.floor((now - LEAST_HOURS_MS) / HOUR_MS) * HOUR_MS), step: 3600 }
}

export function OverviewPlots({ accountId, webhookId, query, health }: OverviewPlotsProps) {
  const failingMs = msOf(health.failing_since)
  const spans = Object.keys(SPANS) as readonly (keyof typeof SPANS)[]
  const usual = failingMs === undefined ? '24h' : 'around'
  const name = spans.find((span) => span === query.range) ?? usual
  const rangeNow = (now: number): Range =>
    name === 'around' ? rangeAround(failingMs!, now) : { fromMs: now - SPANS[name], step: 3600 }
  const load = async ({ fromMs, step }: Range, signal: AbortSignal) =>
    optional(
      accountRequest<StatsDocument>(
        'GET',
        '/webhooks/{webhook_id}/stats',
        { accountId, webhookId, createdFrom: toGregorian(fromMs), step },
        signal,
      ),
    )
  const day = useResource(
    async (signal) => ({ stats: await load({ fromMs: Date.now() - DAY_MS, step: 3600 }, signal) }),
    [accountId, webhookId],
    REFRESH_MS,
  )
  const plotted = useResource(
    async (signal) => {
      const range = rangeNow(Date.now())
      return { ...range, stats: await load(range, signal) }
    },
    [accountId, webhookId, name, name === 'around' ? failingMs : 0],
    REFRESH_MS,
  )
  return (
    <>
      <Figures stats={day.data.value?.stats} health={health} />
      <div class="bar">
        <h2>{t(name === 'around' ? 'plot.around' : 'plot.title')}</h2>
        <span class="push">
          <Seg
            label={t('plot.range')}
            value={name}
            onChange={(range) => changeQuery({ range: range === usual ? '' : range })}
            options={[
              ...(failingMs === undefined
                ? []
                : [
                    {
                      value: 'around' as const,
                      text: t('plot.fromTo', {
                        from: dayTimeText(rangeAround(failingMs, nowMs.value).fromMs),
                      }),
                    },
                  ]),
              ...spans.map((span) => ({ value: span, text: t(`range.${span}`) })),
            ]}
          />
        </span>
      </div>
      <Loaded resource={plotted}>
        {({ stats, fromMs, step }) =>
          stats ? (
            <Plots
              series={healthSeries(stats, MOST_BARS)}
              marks={{
                fromMs: Math.min(fromMs, healthSeries(stats, MOST_BARS).bars[0]?.fromMs ?? fromMs),
                toMs: Math.max(nowMs.value, fromMs + step * 1_000),
                pausedMs: msOf(health.pause?.since),
                failingMs,
              }}
              {...{ accountId, webhookId }}
            />
          ) : (
            <p class="soft">{t('plot.unavailable')}</p>
          )
        }
      </Loaded>
    </>
  )
}

interface FiguresProps {
  /** Of 24 hours. */
  readonly stats: StatsDocument | undefined
  readonly health: WebhookHealth
}

/** What is known of a day, and of what waits. */
function Figures({ stats, health }: FiguresProps) {
  const failingMs = msOf(health.failing_since)
  const answerMs = stats && (typicalAnswerMs(stats, failingMs) ?? typicalAnswerMs(stats))
  const isBefore =
    stats !== undefined && failingMs !== undefined && typicalAnswerMs(stats, failingMs) !== undefined
  const figures = [
    ...(stats ? [deliveredFigure(stats)] : []),
    waitingFigure(health),
    lostFigure(health),
    ...(answerMs === undefined
      ? []
      : [
          {
            label: t('webhook.answerTime'),
            value: `≈ ${spanText(answerMs)}`,
            note: isBefore ? t('webhook.halfBefore', { at: dayTimeText(failingMs) }) : t('webhook.half'),
          },
        ]),
  ]
  return <Strip isAlone items={figures} />
}

function deliveredFigure(stats: StatsDocument) {
  const ok = sum(stats.ok)
  const count = ok + sum(stats.failed)
  const share = percent(ok, count)
  return {
    label: t('webhook.delivered24'),
    value: share === undefined ? '–' : percentText(share, currentLanguage()),
    note: t('webhook.ofRequests', { ok: number(ok), count }),
  }
}

function waitingFigure({ pending, pending_capped: isCapped, oldest_accepted_at: oldest }: WebhookHealth) {
  return {
    label: t('webhook.waitingNow'),
    value: `${number(pending)}${isCapped ? '+' : ''}`,
    note:
      oldest === undefined
        ? t('webhook.nothingWaits')
        : t('webhook.oldest', { span: lastingText(nowMs.value - Date.parse(oldest)) }),
  }
}

function lostFigure({
  not_delivered: lost,
  not_delivered_capped: isCapped,
  failing_since: since,
}: WebhookHealth) {
  return {
    label: t('webhook.lost'),
    value: `${number(lost)}${isCapped ? '+' : ''}`,
    note: since === undefined ? t('webhook.inDay') : sinceText(since),
  }
}

interface PlotsProps {
  readonly accountId: string
  readonly webhookId: string
  readonly series: HealthSeries
  readonly marks: PlotMarks
}

function Plots({ accountId, webhookId, series, marks }: PlotsProps) {
  const { ok, failed, causes } = series
  // The last one has only begun.
  const bars = series.bars.map((bar) => ({ ...bar, toMs: Math.min(bar.toMs, marks.toMs) }))
  if (ok + failed === 0) return <p class="soft">{t('plot.none')}</p>
  const from = dayTimeText(marks.fromMs)
  const isPaused = marks.pausedMs !== undefined
  const isFailing = marks.failingMs !== undefined && marks.failingMs >= marks.fromMs
  return (
    <div class="stack">
      <Plot
        title={t('plot.requests')}
        keys={
          <>
            <span class="small faint">{t('plot.per', { span: spanText(series.barMs) })}</span>
            <PlotKey look="ok">{t('plot.delivered')}</PlotKey>
            <PlotKey look="bad">{t('plot.failed')}</PlotKey>
            {isPaused && (
              <PlotKey look="pausing">{t('plot.paused', { since: sinceText(marks.pausedMs!) })}</PlotKey>
            )}
            {isFailing && (
              <PlotKey look="since">{t('plot.firstFailure', { at: dayTimeText(marks.failingMs!) })}</PlotKey>
            )}
          </>
        }
        marks={marks}
        highest={Math.max(...bars.map((bar) => bar.ok + bar.failed))}
        format={number}
        label={t('plot.requestsLabel', { from, ok, failed })}
        columns={[t('plot.delivered'), t('plot.failed')]}
        rows={bars
          .filter((bar) => bar.ok + bar.failed > 0)
          .map((bar) => ({ ms: bar.fromMs, values: [number(bar.ok), number(bar.failed)] }))}
      >
        {(x, y) => {
          const paths = barPaths(bars, x, y)
          return (
            <>
              <path class="bars-ok" d={paths.ok} />
              <path class="bars-bad" d={paths.failed} />
            </>
          )
        }}
      </Plot>
      <div class="cols">
        <AnswerTimes series={series} marks={marks} from={from} />
        <Causes {...{ accountId, webhookId, causes, failed }} fromMs={marks.fromMs} />
      </div>
    </div>
  )
}

interface AnswerTimesProps {
  readonly series: HealthSeries
  readonly marks: PlotMarks
  readonly from: string
}

function AnswerTimes({ series: { times: middles, p50, p95 }, marks, from }: AnswerTimesProps) {
  const times = middles.map((ms) => Math.min(ms, marks.toMs))
  const known = [...p50, ...p95].filter((value) => value !== null)
  const text = (value: number | null | undefined) => (value == null ? '–' : spanText(value))
  return (
    <Plot
      title={t('plot.answerTime')}
      mostTicks={6}
      keys={
        <>
          <PlotKey look="half">{t('plot.half')}</PlotKey>
          <PlotKey look="most">{t('plot.most')}</PlotKey>
        </>
      }
      marks={marks}
      highest={Math.max(0, ...known)}
      format={(ms) => (ms === 0 ? '0' : spanText(ms))}
      label={t('plot.answerLabel', { from, most: text(Math.max(0, ...known)) })}
      columns={[t('plot.half'), t('plot.most')]}
      rows={times.flatMap((ms, index) =>
        p50[index] == null ? [] : [{ ms, values: [text(p50[index]), text(p95[index])] }],
      )}
    >
      {(x, y) => {
        const width = times.length > 1 ? (PLOT_WIDTH / times.length) * 0.6 : 10
        return (
          <>
            <path class="p2" d={linePath(times, p95, x, y, width)} />
            <path class="p1" d={linePath(times, p50, x, y, width)} />
          </>
        )
      }}
    </Plot>
  )
}

interface CausesProps {
  readonly accountId: string
  readonly webhookId: string
  readonly causes: readonly CauseCount[]
  readonly fromMs: number
  readonly failed: number
}

/** What failed requests have in common, with links to them. */
function Causes({ accountId, webhookId, causes, fromMs, failed }: CausesProps) {
  const from = new Date(fromMs).toISOString()
  return (
    <section class="panel" aria-labelledby="causes">
      <header>
        <h3 id="causes">{t('plot.causes')}</h3>
        <span class="push soft">{t('plot.failures', { count: failed })}</span>
      </header>
      {causes.length === 0 ? (
        <p class="pad soft">{t('plot.noFailures')}</p>
      ) : (
        <ul class="causes">
          {causes.map(({ cause, count }) => (
            <li key={cause}>
              <a
                href={formatRoute({
                  screen: 'webhook',
                  accountId,
                  id: webhookId,
                  tab: 'activity',
                  query: {
                    view: 'requests',
                    result: 'failure',
                    ...(isStatus(cause) ? { status: cause } : cause === 'other' ? {} : { cause }),
                    from,
                  },
                })}
              >
                <span>
                  {isStatus(cause) ? t('cause.status', { status: statusText(cause) }) : failureText(cause)}
                </span>
                <b>{number(count)}</b>
                <Icon name="right" />
                <svg class="bar1" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                  <rect width={Math.max(1, (count / Math.max(1, failed)) * 100)} height="4" />
                </svg>
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
