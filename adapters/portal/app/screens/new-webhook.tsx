/**
 * A new webhook. Its test is sent before it is switched on: until then the service has it switched off, and without being
 * created it is deleted again.
 */
import type { Webhook } from 'hookswitch/client'
import { useEffect, useRef } from 'preact/hooks'
import { accountRequest, call } from '../api/api.js'
import { testWebhook } from '../api/test-webhook.js'
import { Page } from '../components/page.js'
import { navigate, route } from '../state/router.js'
import { beforeRevoking, session } from '../state/session.js'
import { t } from '../state/translate.js'
import { forgetChanges } from '../state/unsaved.js'
import { hostOf } from '../text/address.js'
import { formatRoute } from '../text/routes.js'
import { type FormValues, formValues, patchOf, type SettingsInput } from '../text/webhook-form.js'
import { takeWantedTest } from './form-state.js'
import { WebhookForm } from './webhook-form.js'

const WEBHOOK = '/accounts/{account_id}/webhooks/{webhook_id}'

/** Chosen at first: what every call has. */
const FIRST_KINDS = ['channel_create', 'channel_answer', 'channel_destroy']

export function NewWebhookScreen({ accountId }: { readonly accountId: string }) {
  const { query } = route.peek()
  const isTestedAtOnce = useRef<boolean | undefined>(undefined)
  isTestedAtOnce.current ??= takeWantedTest(query.uri)
  /** The webhook that was made for the test. */
  const draft = useRef<Webhook | undefined>(undefined)
  /** The last save. The next one waits for it: both buttons may be pressed, and the form left, while it runs. */
  const saving = useRef<Promise<unknown>>(Promise.resolve())
  const save = (settings: SettingsInput, enabled: boolean): Promise<string> => {
    const saved = saving.current.then(async () => {
      const { current } = draft
      const webhook = current
        ? await accountRequest<Webhook>('PATCH', '/webhooks/{webhook_id}', {
            accountId,
            webhookId: current.id,
            data: { ...patchOf(current, settings), enabled },
          })
        : await accountRequest<Webhook>('PUT', '/webhooks', { accountId, data: { ...settings, enabled } })
      draft.current = enabled ? undefined : webhook
      return webhook.id
    })
    saving.current = saved.catch(() => {})
    return saved
  }
  useEffect(() => {
    const discard = async (used = session.peek()) => {
      await saving.current
      const { current } = draft
      draft.current = undefined
      if (!current) return
      const parameters = { accountId, webhookId: current.id }
      await call((client) => client.request({ method: 'DELETE', path: WEBHOOK }, parameters), used)
    }
    const forget = beforeRevoking(discard)
    return () => {
      forget()
      discard().catch(() => {
        // It stays in the list, switched off.
      })
    }
  }, [])
  const list = formatRoute({ screen: 'webhooks', accountId })
  return (
    <Page title={t('form.newTitle')} name="new" crumb={{ text: t('webhooks.title'), href: list }}>
      <WebhookForm
        accountId={accountId}
        initial={initialValues(query)}
        submitLabel={t('form.create')}
        submitting={t('form.creating')}
        cancelHref={list}
        isTestedAtOnce={isTestedAtOnce.current}
        onSubmit={async (settings) => {
          const id = await save(settings, true)
          forgetChanges()
          navigate({ screen: 'webhook', accountId, id, tab: 'secret', query: { created: '1' } })
        }}
        onTest={async (settings, signal) => {
          const webhookId = await save(settings, false)
          return testWebhook({ accountId, webhookId }, signal)
        }}
      />
    </Page>
  )
}

/** `uri`, `name` and `events` of the address of the screen. */
function initialValues({ uri = '', name = '', events }: Readonly<Record<string, string>>): FormValues {
  return {
    ...formValues(),
    uri,
    name: name === '' ? hostOf(uri) : name,
    kinds: events === undefined ? FIRST_KINDS : events.split(',').filter((kind) => kind !== ''),
  }
}
