/** One webhook: its health, attempts, deliveries, settings and secret. */
import { useSignal } from '@preact/signals'
import type { Webhook } from 'hookswitch/client'
import { useEffect } from 'preact/hooks'
import { accountRequest, statusOf } from '../api/api.js'
import { webhookRows } from '../api/webhook-rows.js'
import { ConfirmButton } from '../components/dialog.js'
import { FollowWebhook } from '../components/follow-webhook.js'
import { Line } from '../components/hostile-text.js'
import { lazy } from '../components/lazy.js'
import { ActionButton, Empty, Loaded } from '../components/load-state.js'
import { Page } from '../components/page.js'
import { ReplayFailedButton } from '../components/replay.js'
import { isBroken, State } from '../components/state.js'
import { Tabs } from '../components/tabs.js'
import { RelativeTime, Since } from '../components/time.js'
import { useAction } from '../state/action.js'
import { notify } from '../state/announce.js'
import { type Resource, useResource } from '../state/resource.js'
import { navigate } from '../state/router.js'
import { isReadOnly } from '../state/scope.js'
import { t, word } from '../state/translate.js'
import type { LiveItem } from '../text/live-items.js'
import { formatRoute } from '../text/routes.js'

const ActivityTab = lazy(async () => (await import('./activity-tab.js')).ActivityTab)
const HealthTab = lazy(async () => (await import('./health-tab.js')).HealthTab)
/** Most webhooks have none: nothing is in its place before. */
const ReplayJobs = lazy(
  async () => (await import('./replay-jobs.js')).ReplayJobs,
  () => null,
)
const SecretTab = lazy(async () => (await import('./secret-tab.js')).SecretTab)
const SettingsTab = lazy(async () => (await import('./settings-tab.js')).SettingsTab)

const TABS = ['health', 'activity', 'settings', 'secret'] as const

interface WebhookScreenProps {
  readonly accountId: string
  readonly webhookId: string
  readonly tab: string | undefined
  readonly query: Readonly<Record<string, string>>
}

const REFRESH_MS = 10_000

export function WebhookScreen(props: WebhookScreenProps) {
  /** The name of the webhook, if it has been deleted. */
  const deleted = useSignal<string | undefined>(undefined)
  const { accountId, webhookId } = props
  if (deleted.value === undefined)
    return <ExistingWebhook {...props} onDeleted={(name) => (deleted.value = name)} />
  return (
    <Page title={deleted.value} name={`webhook/${webhookId}`}>
      <Empty text={t('webhook.gone')}>
        <a href={formatRoute({ screen: 'webhooks', accountId })}>{t('nav.webhooks')}</a>
      </Empty>
    </Page>
  )
}

type ExistingWebhookProps = WebhookScreenProps & { readonly onDeleted: (name: string) => void }

function ExistingWebhook({ accountId, webhookId, tab, query, onDeleted }: ExistingWebhookProps) {
  const webhook = useResource<Webhook>(
    (signal) => accountRequest('GET', '/webhooks/{webhook_id}', { accountId, webhookId }, signal),
    [accountId, webhookId],
    REFRESH_MS,
  )
  const current = TABS.find((name) => name === tab) ?? 'health'
  const loaded = webhook.data.value
  const onNews = (items: readonly LiveItem[]) => {
    if (items.some(({ news }) => news === 'deleted')) onDeleted(loaded?.name ?? t('webhook.title'))
    else webhook.reload()
  }
  // Without a stream, or behind a gap of it, the next load tells.
  const deletedName = statusOf(webhook.error.value) === 404 ? loaded?.name : undefined
  useEffect(() => {
    if (deletedName !== undefined) onDeleted(deletedName)
  }, [deletedName])
  return (
    <Page
      title={loaded?.name ?? t('webhook.title')}
      name={`webhook/${webhookId}`}
      detail={loaded && <Condition webhook={loaded} />}
      actions={
        loaded && !isReadOnly.value && <Actions {...{ accountId, resource: webhook, webhook: loaded }} />
      }
    >
      {loaded && (
        <p class="muted">
          <Line text={`${loaded.http_verb.toUpperCase()} ${loaded.uri}`} /> · {loaded.hook}
        </p>
      )}
      <ReplayJobs {...{ accountId, webhookId }} />
      <Tabs
        label={t('webhook.sections')}
        current={current}
        tabs={TABS.map((name) => ({
          name,
          label: t(`tab.${name}`),
          href: formatRoute({ screen: 'webhook', accountId, id: webhookId, tab: name }),
        }))}
      />
      <Loaded resource={webhook}>
        {() => {
          const common = { accountId, webhookId }
          switch (current) {
            case 'health':
              return <HealthTab {...common} query={query} />
            case 'activity':
              return <ActivityTab {...common} query={query} />
            case 'settings':
              return <SettingsTab {...common} onSaved={webhook.reload} />
            case 'secret':
              return <SecretTab {...common} />
          }
        }}
      </Loaded>
      <FollowWebhook {...{ accountId, webhookId }} onNews={onNews} />
    </Page>
  )
}

function Condition({ webhook: { health, disable_reason } }: { readonly webhook: Webhook }) {
  return (
    <span class="condition">
      <State state={health.state} />
      {isBroken(health.state) && health.failing_since !== undefined && (
        <span>
          <Since at={health.failing_since} />
        </span>
      )}
      {health.state === 'paused' && health.paused_until !== undefined && (
        <span>
          {t('webhook.probe')} <RelativeTime at={health.paused_until} />
        </span>
      )}
      {health.state === 'disabled' && disable_reason !== undefined && (
        <span>
          <Line text={word('disabled', disable_reason)} />
        </span>
      )}
    </span>
  )
}

interface ActionsProps {
  readonly accountId: string
  readonly webhook: Webhook
  readonly resource: Resource<Webhook>
}

function Actions({ accountId, webhook, resource }: ActionsProps) {
  const address = { accountId, webhookId: webhook.id }
  const resume = useAction(async () => {
    await accountRequest('PUT', '/webhooks/{webhook_id}/resume', { ...address, data: {} })
    notify(t('webhook.resumed'))
    resource.reload()
  })
  const toggle = useAction(async () => {
    const data = { enabled: !webhook.enabled }
    await accountRequest('PATCH', '/webhooks/{webhook_id}', { ...address, data })
    notify(t(webhook.enabled ? 'webhook.disabled' : 'webhook.enabled'))
    resource.reload()
  })
  const test = useAction(async () => {
    const { delivery_id } = await accountRequest<{ readonly delivery_id: string }>(
      'PUT',
      '/webhooks/{webhook_id}/test',
      { ...address, data: {} },
    )
    navigate({ screen: 'delivery', accountId, id: delivery_id })
  })
  const remove = useAction(async () => {
    await accountRequest('DELETE', '/webhooks/{webhook_id}', address)
    notify(t('webhook.deleted'))
    navigate({ screen: 'webhooks', accountId })
  })
  const question = (text: 'webhook.disableText' | 'webhook.deleteText') => (
    <>
      {t(text)} <Waiting {...address} />
    </>
  )
  return (
    <>
      {webhook.health.state === 'paused' && (
        <ActionButton action={resume} class="primary">
          {t('action.resume')}
        </ActionButton>
      )}
      <ActionButton action={test}>{t('action.test')}</ActionButton>
      <ReplayFailedButton {...address} />
      {webhook.enabled ? (
        <ConfirmButton
          action={toggle}
          label={t('action.disable')}
          title={t('webhook.disable', { name: webhook.name })}
          text={question('webhook.disableText')}
          verb={t('action.disable')}
          isDangerous
        />
      ) : (
        <ActionButton action={toggle}>{t('action.enable')}</ActionButton>
      )}
      <ConfirmButton
        action={remove}
        class="danger"
        label={t('action.delete')}
        title={t('webhook.delete', { name: webhook.name })}
        text={question('webhook.deleteText')}
        verb={t('action.delete')}
        isDangerous
      />
    </>
  )
}

/** How many deliveries would be cancelled. */
function Waiting({ accountId, webhookId }: { readonly accountId: string; readonly webhookId: string }) {
  const rows = useResource(
    (signal) => webhookRows(accountId, { state: '', text: webhookId }, undefined, signal),
    [webhookId],
  )
  const row = rows.data.value?.items.find(({ id }) => id === webhookId)
  if (!row) return null
  return <strong>{t('webhook.waiting', { count: row.pending, more: row.pending_capped ? '+' : '' })}</strong>
}
