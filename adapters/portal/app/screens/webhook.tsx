/** One webhook: its overview, activity, settings and secret. */
import { useSignal } from '@preact/signals'
import type { Webhook, WebhookHealth } from 'hookswitch/client'
import { useEffect, useRef } from 'preact/hooks'
import { accountRequest, statusOf } from '../api/api.js'
import { readHealth, type Subject } from '../api/webhook-health.js'
import { LinkButton } from '../components/button.js'
import { Confirm } from '../components/dialog.js'
import { FollowWebhook } from '../components/follow-webhook.js'
import { Line } from '../components/hostile-text.js'
import { lazy } from '../components/lazy.js'
import { Loaded } from '../components/load-state.js'
import { Menu } from '../components/menu.js'
import { Page } from '../components/page.js'
import { None } from '../components/panel.js'
import { ReplayDialog } from '../components/replay.js'
import { State } from '../components/state.js'
import { Tabs } from '../components/tabs.js'
import { useAction } from '../state/action.js'
import { notify } from '../state/announce.js'
import { kindName } from '../state/kinds.js'
import { type Resource, useResource } from '../state/resource.js'
import { navigate } from '../state/router.js'
import { canChange } from '../state/scope.js'
import { t } from '../state/translate.js'
import { forgetChanges } from '../state/unsaved.js'
import type { LiveItem } from '../text/live-items.js'
import { formatRoute } from '../text/routes.js'
import { shownState } from '../text/webhook-views.js'

const ActivityTab = lazy(async () => (await import('./activity-tab.js')).ActivityTab)
const OverviewTab = lazy(async () => (await import('./overview-tab.js')).OverviewTab)
/** Most webhooks have none: nothing is in its place before. */
const ReplayJobs = lazy(
  async () => (await import('./replay-jobs.js')).ReplayJobs,
  () => null,
)
const SecretTab = lazy(async () => (await import('./secret-tab.js')).SecretTab)
const SettingsTab = lazy(async () => (await import('./settings-tab.js')).SettingsTab)

const TABS = ['overview', 'activity', 'settings', 'secret'] as const

interface WebhookScreenProps {
  readonly accountId: string
  readonly webhookId: string
  readonly tab: string | undefined
  readonly query: Readonly<Record<string, string>>
}

const REFRESH_MS = 10_000
/** Least time between two loads because of news: a busy webhook has some all the time. */
const NEWS_MS = 2_000
const LEAST_MS = 100

export function WebhookScreen(props: WebhookScreenProps) {
  /** The name of the webhook, if it has been deleted. */
  const deleted = useSignal<string | undefined>(undefined)
  const { accountId, webhookId } = props
  if (deleted.value === undefined)
    return <ExistingWebhook {...props} onDeleted={(name) => (deleted.value = name)} />
  return (
    <Page title={deleted.value} name={`webhook/${webhookId}`}>
      <None icon="off" title={t('webhook.gone')}>
        <a href={formatRoute({ screen: 'webhooks', accountId })}>{t('nav.webhooks')}</a>
      </None>
    </Page>
  )
}

const crumbOf = (accountId: string) => ({
  text: t('nav.webhooks'),
  href: formatRoute({ screen: 'webhooks', accountId }),
})

type ExistingWebhookProps = WebhookScreenProps & { readonly onDeleted: (name: string) => void }

function ExistingWebhook({ accountId, webhookId, tab, query, onDeleted }: ExistingWebhookProps) {
  const subject = useResource<Subject>(
    async (signal) => {
      const address = { accountId, webhookId }
      const [webhook, health] = await Promise.all([
        accountRequest<Webhook>('GET', '/webhooks/{webhook_id}', address, signal),
        readHealth(accountId, webhookId, signal),
      ])
      return { webhook, health }
    },
    [accountId, webhookId],
    REFRESH_MS,
  )
  const current = TABS.find((name) => name === tab) ?? 'overview'
  const loaded = subject.data.value?.webhook
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const reloadSoon = () => {
    timer.current ??= setTimeout(
      () => {
        timer.current = undefined
        // A load that runs is not replaced: with news all the time none would end.
        if (subject.isLoading.peek()) reloadSoon()
        else subject.reload()
      },
      Math.max(LEAST_MS, subject.loadedMs.peek() + NEWS_MS - Date.now()),
    )
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  const onNews = (items: readonly LiveItem[]) => {
    if (items.some(({ news }) => news === 'deleted')) onDeleted(loaded?.name ?? t('webhook.title'))
    else reloadSoon()
  }
  useEffect(() => {
    // While the webhook is requested; a failure is shown where it is needed.
    if (current === 'overview') import('./overview-tab.js').catch(() => {})
  }, [])
  // Without a stream, or behind a gap of it, the next load tells.
  const deletedName = statusOf(subject.error.value) === 404 ? loaded?.name : undefined
  useEffect(() => {
    if (deletedName !== undefined) onDeleted(deletedName)
  }, [deletedName])
  return (
    <Page
      title={loaded?.name ?? t('webhook.title')}
      name={`webhook/${webhookId}`}
      crumb={crumbOf(accountId)}
      detail={loaded && <Condition state={shownState(subject.data.value!.health)} />}
      lead={loaded && <Target webhook={loaded} />}
      actions={loaded && canChange.value && <Actions {...{ accountId, subject, webhook: loaded }} />}
    >
      <Tabs
        label={t('webhook.sections')}
        current={current}
        tabs={TABS.map((name) => ({
          name,
          label: t(`tab.${name}`),
          href: formatRoute({ screen: 'webhook', accountId, id: webhookId, tab: name }),
        }))}
      />
      <ReplayJobs {...{ accountId, webhookId }} />
      <Loaded resource={subject}>
        {(data) => {
          const common = { accountId, webhookId }
          switch (current) {
            case 'overview':
              return <OverviewTab {...common} query={query} subject={data} onChanged={subject.reload} />
            case 'activity':
              return <ActivityTab {...common} query={query} isEnabled={data.webhook.enabled} />
            case 'settings':
              return <SettingsTab {...common} onSaved={subject.reload} />
            case 'secret':
              return <SecretTab {...common} />
          }
        }}
      </Loaded>
      <FollowWebhook {...{ accountId, webhookId }} onNews={onNews} />
    </Page>
  )
}

/** What needs somebody has a tint. */
function Condition({ state }: { readonly state: string }) {
  return <State state={state} pill={state !== 'ok' && state !== 'idle'} />
}

/** Where it sends what. */
function Target({ webhook: { http_verb: verb, uri, hook, only } }: { readonly webhook: Webhook }) {
  return (
    <>
      <span class="mono small">{verb.toUpperCase()}</span> <Line text={uri} /> ·{' '}
      {hook !== 'all' ? (
        <Line text={kindName(hook)} />
      ) : only === undefined ? (
        t('webhook.allKinds')
      ) : (
        t('webhook.kinds', { count: only.length })
      )}
    </>
  )
}

type Question = 'replay' | 'disable' | 'delete'

interface ActionsProps {
  readonly accountId: string
  readonly webhook: Webhook
  readonly subject: Resource<Subject>
}

function Actions({ accountId, webhook, subject }: ActionsProps) {
  const address = { accountId, webhookId: webhook.id }
  const asked = useSignal<Question | undefined>(undefined)
  const question = asked.value
  const isDeletion = question === 'delete'
  const health = subject.data.value?.health
  const ask = (next: Question) => () => {
    asked.value = next
  }
  const close = () => {
    asked.value = undefined
  }
  const toggle = useAction(async () => {
    const data = { enabled: !webhook.enabled }
    await accountRequest('PATCH', '/webhooks/{webhook_id}', { ...address, data })
    notify(t(webhook.enabled ? 'webhook.disabled' : 'webhook.enabled'))
    subject.reload()
  })
  const remove = useAction(async () => {
    await accountRequest('DELETE', '/webhooks/{webhook_id}', address)
    notify(t('webhook.deleted'))
    forgetChanges()
    navigate({ screen: 'webhooks', accountId })
  })
  return (
    <>
      <LinkButton href={formatRoute({ screen: 'webhook', accountId, id: webhook.id, tab: 'settings' })}>
        {t('webhook.edit')}
      </LinkButton>
      <Menu
        label={t('webhook.more')}
        items={[
          // Nothing is replayed to a webhook that is switched off.
          ...(webhook.enabled ? [{ text: t('webhook.replay'), onSelect: ask('replay') }] : []),
          webhook.enabled
            ? { text: t('webhook.switchOff'), onSelect: ask('disable') }
            : { text: t('webhook.switchOn'), onSelect: () => void toggle.run() },
          { text: t('webhook.deleteIt'), onSelect: ask('delete'), isDanger: true },
        ]}
      />
      {question === 'replay' && <ReplayDialog {...address} waiting={health?.pending} onClose={close} />}
      {(question === 'disable' || question === 'delete') && (
        <Confirm
          title={t(isDeletion ? 'webhook.delete' : 'webhook.disable', { name: webhook.name })}
          text={
            <>
              {t(isDeletion ? 'webhook.deleteText' : 'webhook.disableText')} <Waiting health={health} />
            </>
          }
          verb={t(isDeletion ? 'action.delete' : 'webhook.switchOff')}
          isDangerous
          onClose={close}
          onConfirm={() => void (isDeletion ? remove : toggle).run()}
        />
      )}
    </>
  )
}

/** How many events would be cancelled. */
function Waiting({ health }: { readonly health: WebhookHealth | undefined }) {
  if (!health || health.pending === 0) return null
  const { pending: count, pending_capped: isCapped } = health
  return <strong>{t('webhook.waiting', { count, more: isCapped ? '+' : '' })}</strong>
}
