/** Success rate, latency and causes of failure of a webhook over time. */
import { accountRequest, optional } from '../api/api.js'
import { Chips } from '../components/chips.js'
import { Loaded } from '../components/load-state.js'
import { Plot } from '../components/plot.js'
import { useResource } from '../state/resource.js'
import { changeQuery } from '../state/router.js'
import { currentLanguage, number, t, word } from '../state/translate.js'
import { toGregorian } from '../text/gregorian-time.js'
import { type HealthSeries, healthSeries, percentText, type StatsDocument } from '../text/health-series.js'
import { duration } from '../text/times.js'

const HOUR_MS = 3_600_000
const RANGES = {
  '1h': { ms: HOUR_MS, step: 60 },
  '24h': { ms: 24 * HOUR_MS, step: 3_600 },
  '7d': { ms: 168 * HOUR_MS, step: 3_600 },
  '30d': { ms: 720 * HOUR_MS, step: 3_600 },
} as const
type Range = keyof typeof RANGES
const NAMES = Object.keys(RANGES) as readonly Range[]
const REFRESH_MS = 15_000

export interface HealthTabProps {
  readonly accountId: string
  readonly webhookId: string
  readonly query: Readonly<Record<string, string>>
}

export function HealthTab({ accountId, webhookId, query }: HealthTabProps) {
  const range = NAMES.find((name) => name === query.range) ?? '24h'
  const stats = useResource(
    async (signal) => {
      const { ms, step } = RANGES[range]
      const createdFrom = toGregorian(Date.now() - ms)
      const document = await optional(
        accountRequest<StatsDocument>(
          'GET',
          '/webhooks/{webhook_id}/stats',
          { accountId, webhookId, createdFrom, step },
          signal,
        ),
      )
      return { series: document && healthSeries(document) }
    },
    [accountId, webhookId, range],
    REFRESH_MS,
  )
  return (
    <>
      <Chips
        label={t('health.range')}
        value={range}
        onChange={(value) => changeQuery({ range: value })}
        chips={NAMES.map((value) => ({ value, label: t(`range.${value}`) }))}
      />
      <Loaded resource={stats}>
        {({ series }) => (series ? <Series series={series} /> : <p>{t('health.unavailable')}</p>)}
      </Loaded>
    </>
  )
}

function Series({ series }: { readonly series: HealthSeries }) {
  const language = currentLanguage()
  const { times, okPercent, p50, p95, p99, total, totalOkPercent, causes } = series
  const latency = [
    { label: '≈ p50', color: '--accent', values: p50 },
    { label: '≈ p95', color: '--warn', values: p95, dash: '6 3' },
    { label: '≈ p99', color: '--bad', values: p99, dash: '2 3' },
  ]
  if (total === 0) return <p>{t('health.none')}</p>
  return (
    <div class="health">
      <dl class="figures">
        <div>
          <dt>{t('health.okPercent')}</dt>
          <dd>{totalOkPercent === undefined ? '–' : percentText(totalOkPercent, language)}</dd>
        </div>
        <div>
          <dt>{t('health.attempts')}</dt>
          <dd>{number(total)}</dd>
        </div>
      </dl>
      <Plot
        title={t('health.rate')}
        times={times}
        series={[{ label: t('health.okPercent'), color: '--good', values: okPercent }]}
        maximum={100}
        format={(value) => percentText(value, language)}
      />
      <Plot title={t('health.latency')} times={times} series={latency} format={duration} />
      <section>
        <h2>{t('health.causes')}</h2>
        {causes.length === 0 ? (
          <p>{t('health.noFailures')}</p>
        ) : (
          <table>
            <tbody>
              {causes.map(({ cause, count }) => (
                <tr key={cause}>
                  <th scope="row">{word('cause', cause)}</th>
                  <td class="number">{number(count)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
    </div>
  )
}
