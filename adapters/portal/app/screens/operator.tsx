/** The whole service, for its operators: is the fault ours, and which receivers hold back events? */
import { useSignal } from '@preact/signals'
import type { Overview, WebhookCounts } from 'hookswitch/client'
import { optional, request } from '../api/api.js'
import { type FailingRow, failingRows, MOST_FAILING } from '../api/failing.js'
import { Button } from '../components/button.js'
import { Confirm } from '../components/dialog.js'
import { Icon } from '../components/icon.js'
import { Loaded } from '../components/load-state.js'
import { Page } from '../components/page.js'
import { None, Panel, Strip } from '../components/panel.js'
import { Pick } from '../components/pick.js'
import { MinutePlot } from '../components/plot-minutes.js'
import { ReplayFailedButton } from '../components/replay.js'
import { Seg } from '../components/seg.js'
import { State } from '../components/state.js'
import { In, Since, spanText } from '../components/time.js'
import { VirtualTable } from '../components/virtual-table.js'
import { useAction } from '../state/action.js'
import { notify } from '../state/announce.js'
import { useResource } from '../state/resource.js'
import { changeQuery } from '../state/router.js'
import { failureText, number, t, word } from '../state/translate.js'
import { formatRoute } from '../text/routes.js'
import { shownState } from '../text/webhook-views.js'
import { ReplayJobs } from './replay-jobs.js'

const REFRESH_MS = 5_000
/** A due delivery that waits longer than this is a sign that the service itself is behind. */
const LATE_SECONDS = 30
/** Rows before all are wanted. */
const SHOWN = 8

/** The overview with what newer services add. */
type ServiceOverview = Overview & {
  /** Failed attempts of the last hour by status or cause. */
  readonly causes?: Readonly<Record<string, number>>
  /** Webhooks whose last attempt failed. */
  readonly failing?: number
  readonly accounts_affected?: number
}

interface OperatorScreenProps {
  readonly query: Readonly<Record<string, string>>
}

export function OperatorScreen({ query }: OperatorScreenProps) {
  const overview = useResource(
    async (signal) => ({
      document: await optional(request<ServiceOverview>('GET', '/system/overview', {}, signal)),
    }),
    [],
    REFRESH_MS,
  )
  const { nodes = [], store, version } = overview.data.value?.document ?? {}
  return (
    <Page
      title={t('operator.title')}
      name="operator"
      lead={t('operator.lead')}
      actions={<ReplayFailedButton />}
    >
      <ReplayJobs />
      <Loaded resource={overview}>{({ document }) => document && <Verdict overview={document} />}</Loaded>
      <Failing query={query} />
      {store && (
        <>
          <div class="gap" />
          <div class="bar">
            <h2>{t('operator.nodes')}</h2>
            <span class="soft small push">
              {t('operator.store', { store: storeText(store), version: version! })}
            </span>
          </div>
          <div class="cols three">
            {nodes.map((node) => (
              <Node key={node.node} {...node} />
            ))}
          </div>
        </>
      )}
    </Page>
  )
}

function Verdict({ overview }: { readonly overview: ServiceOverview }) {
  const { pending, oldest_due_seconds: oldest, in_flight: sending, paused, disabled, causes } = overview
  const { attempts_per_minute: rate, failing } = overview
  const isLate = oldest > LATE_SECONDS
  const pausedCount = paused.waiting + paused.probing
  const troubled = pausedCount + (failing ?? 0)
  const more = overview.disabled_capped ? '+' : ''
  const span = spanText(oldest * 1_000)
  const lateText =
    oldest < 1 ? t('operator.atOnce') : t(isLate ? 'operator.late' : 'operator.inTime', { span })
  const receivers =
    troubled === 0 ? t('operator.allReceive') : t('operator.someDoNot', { count: troubled, more })
  return (
    <>
      <section class="panel" aria-labelledby="verdict">
        <div class="verdict">
          <span class={`state ${isLate ? 'is-bad' : 'is-ok'}`}>
            <Icon name={isLate ? 'fail' : 'ok'} />
          </span>
          <div>
            <h2 id="verdict">
              {t(isLate ? 'operator.behind' : 'operator.healthy')} {receivers}
            </h2>
            <p class="soft">
              {lateText} {t('operator.waiting', { count: pending })}
            </p>
          </div>
        </div>
        <Strip
          items={[
            ...(rate && rate.length > 0
              ? [{ label: t('operator.rate'), value: number(rate.at(-2) ?? rate.at(-1)!) }]
              : []),
            { label: t('operator.pending'), value: number(pending) },
            { label: t('operator.sending'), value: number(sending), note: t('operator.ofNode') },
            {
              label: failing === undefined ? word('state', 'paused') : t('operator.troubled'),
              value: `${number(troubled)}${more}`,
              note: (
                <>
                  {overview.accounts_affected !== undefined &&
                    t('operator.accounts', { count: overview.accounts_affected })}{' '}
                  {pausedCount > 0 && <JobButton action="resume" />}
                </>
              ),
            },
            {
              label: t('operator.disabled'),
              value: `${number(disabled)}${more}`,
              ...(disabled > 0 && { note: <JobButton action="reenable" /> }),
            },
          ]}
        />
      </section>
      <div class="gap" />
      {(rate !== undefined || causes !== undefined) && (
        <div class={rate && causes ? 'cols' : ''}>
          {rate && <MinutePlot title={t('operator.lastHour')} counts={rate} />}
          {causes && <Causes causes={causes} />}
        </div>
      )}
      <div class="gap" />
    </>
  )
}

function storeText({ durable, shared }: Overview['store']): string {
  if (shared) return t('operator.shared')
  return t(durable ? 'operator.durable' : 'operator.memory')
}

function Node({ node, alive_until: until, shards, leaving }: Overview['nodes'][number]) {
  return (
    <div class="panel pad row">
      <span class="is-ok state">
        <Icon name="node" />
      </span>
      <div>
        <b title={node}>{node.slice(0, NODE_NAME)}</b>
        <br />
        <span class="soft small">
          {t(until === undefined ? 'operator.alone' : 'operator.alive')}{' '}
          {until !== undefined && <In at={until} />}
        </span>
      </div>
      <div class="push num small soft">
        {t('operator.work', { part: number(Math.round((shards / SHARDS) * 100)) })}
        {leaving > 0 && (
          <>
            <br />
            {t('operator.leaving', { count: leaving })}
          </>
        )}
      </div>
    </div>
  )
}

/** Characters of a node's name that are shown; it is long and random. */
const NODE_NAME = 8
/** Parts into which the work of all nodes is divided. */
const SHARDS = 64

/** What failed requests have in common, the most frequent first. */
function Causes({ causes }: { readonly causes: Readonly<Record<string, number>> }) {
  const rows = Object.entries(causes)
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
  const total = rows.reduce((sum, [, count]) => sum + count, 0)
  return (
    <Panel title={t('operator.causes')} aside={t('operator.ofLastHour', { count: total })}>
      {rows.length === 0 ? (
        <None icon="ok" title={t('operator.noFailures')} />
      ) : (
        <ul class="causes">
          {rows.map(([cause, count]) => (
            <li key={cause}>
              <div class="cause">
                <span>{causeText(cause)}</span>
                <b>{number(count)}</b>
                <svg class="bar1" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                  <rect width={(count / total) * 100} height="4" />
                </svg>
              </div>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

const causeText = (cause: string): string => {
  if (cause === 'other') return t('operator.otherCause')
  return /^\d{3}$/.test(cause) ? t('operator.answers', { status: cause }) : failureText(cause)
}

const STATES = ['failing', 'paused', 'disabled'] as const

function Failing({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const isAll = useSignal(false)
  const state = STATES.find((name) => name === query.state) ?? ''
  const sort = query.sort === 'id' ? 'id' : 'impact'
  const found = useResource((signal) => failingRows(state, sort, signal), [state, sort], REFRESH_MS)
  return (
    <>
      <div class="bar">
        <h2>{t('operator.failing')}</h2>
        <span class="push" />
        <Seg
          label={t('filter.state')}
          options={[
            { value: '' as const, text: t('filter.all') },
            ...STATES.map((value) => ({ value, text: word('state', value) })),
          ]}
          value={state}
          onChange={(value) => changeQuery({ state: value })}
        />
        <Pick
          label={t('operator.sort')}
          options={[
            { value: 'impact', text: t('operator.byImpact') },
            { value: 'id', text: t('operator.byId') },
          ]}
          value={sort}
          onChange={(value) => changeQuery({ sort: value === 'impact' ? '' : value })}
        />
      </div>
      <Loaded resource={found}>
        {(rows) =>
          rows.length === 0 ? (
            <div class="panel">
              <None icon="ok" title={t('operator.none')} />
            </div>
          ) : (
            <FailingTable
              rows={isAll.value ? rows : rows.slice(0, SHOWN)}
              total={rows.length}
              onAll={() => {
                isAll.value = true
              }}
            />
          )
        }
      </Loaded>
    </>
  )
}

interface FailingTableProps {
  readonly rows: readonly FailingRow[]
  readonly total: number
  readonly onAll: () => void
}

function FailingTable({ rows, total, onAll }: FailingTableProps) {
  return (
    <VirtualTable
      label={t('operator.failing')}
      rows={rows}
      idOf={({ id }) => id}
      hrefOf={({ id, account_id }) => formatRoute({ screen: 'webhook', accountId: account_id, id })}
      rowHeight={48}
      cardHeight={130}
      foot={
        <>
          <span>
            {t('list.shown', {
              shown: number(rows.length),
              of: `${number(total)}${total >= MOST_FAILING ? '+' : ''}`,
            })}
          </span>
          {rows.length < total && (
            <button type="button" class="link push" onClick={onAll}>
              {t('operator.showAll')}
            </button>
          )}
        </>
      }
      columns={[
        {
          label: t('column.webhook'),
          width: '18rem',
          class: 'lead',
          cell: ({ name }) => name,
          sub: ({ uri }) => hostOf(uri),
        },
        {
          label: t('column.account'),
          width: '13rem',
          class: 'full',
          cell: ({ account_name, account_id }) => account_name ?? account_id,
        },
        {
          label: t('column.state'),
          width: '11rem',
          class: 'how',
          cell: (row) => <State state={shownState(row)} pill />,
        },
        { label: t('column.reason'), width: '19rem', class: 'full', cell: reasonOf },
        {
          label: t('column.for'),
          width: '9rem',
          class: 'nowrap',
          cardLabel: t('column.forCard'),
          cell: ({ failing_since: since }) => (since === undefined ? '–' : <Since at={since} />),
        },
        {
          label: t('column.waiting'),
          width: '7rem',
          class: 'num',
          cardLabel: t('column.waitingCard'),
          cell: ({ pending, pending_capped }) =>
            pending === 0 ? <span class="faint">0</span> : `${number(pending)}${pending_capped ? '+' : ''}`,
        },
      ]}
    />
  )
}

const hostOf = (uri: string) => (URL.canParse(uri) ? new URL(uri).host : uri)

function reasonOf({ state, disable_reason: reason, cause, last }: FailingRow): string {
  if (state === 'disabled') {
    if (reason === undefined) return t('operator.byOwner')
    return t(reason === 'gone' ? 'operator.gone' : 'operator.tooManyFailures')
  }
  const status = last?.resp_status_code
  if (cause !== undefined) return causeText(cause)
  return status === undefined ? '–' : causeText(status)
}

/** Ends all pauses, or enables what the service disabled, in all accounts: says first how many are concerned. */
function JobButton({ action: name }: { readonly action: 'resume' | 'reenable' }) {
  const isResume = name === 'resume'
  const label = t(isResume ? 'case.resume' : 'operator.reenable')
  const counts = useSignal<WebhookCounts | undefined>(undefined)
  const start = <Data,>(data: object) =>
    request<Data>('PUT', '/system/jobs', { data: { action: name, ...data } })
  const count = useAction(async () => {
    counts.value = await start<WebhookCounts>({ dry_run: true })
  })
  const run = useAction(async () => {
    await start({})
    notify(t(isResume ? 'delivery.resumed' : 'webhooks.reenabled'))
  })
  const isBusy = count.isRunning.value || run.isRunning.value
  return (
    <>
      <Button size="tiny" busy={isBusy ? label : undefined} onClick={() => void count.run()}>
        {label}
      </Button>
      {counts.value && (
        <Confirm
          title={label}
          text={`${t(isResume ? 'operator.resumeText' : 'operator.reenableText')} ${t('operator.counts', {
            webhooks: number(counts.value.webhooks),
            accounts: number(counts.value.accounts),
            deliveries: number(counts.value.deliveries),
          })}`}
          verb={t(isResume ? 'case.resume' : 'operator.reenableVerb')}
          onClose={() => {
            counts.value = undefined
          }}
          onConfirm={() => void run.run()}
        />
      )}
    </>
  )
}
