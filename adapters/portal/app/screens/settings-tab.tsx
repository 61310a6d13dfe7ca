/** The settings of a webhook. A change that somebody else made meanwhile is not overwritten. */
import { HookswitchClientError, type Webhook } from 'hookswitch/client'
import { call, statusOf } from '../api/api.js'
import { Loaded } from '../components/load-state.js'
import { notify } from '../state/announce.js'
import { useResource } from '../state/resource.js'
import { t } from '../state/translate.js'
import { forgetChanges } from '../state/unsaved.js'
import { formValues, patchOf } from '../text/webhook-form.js'
import { WebhookForm } from './webhook-form.js'

const PATH = '/accounts/{account_id}/webhooks/{webhook_id}'

export interface SettingsTabProps {
  readonly accountId: string
  readonly webhookId: string
  readonly onSaved: () => void
}

export function SettingsTab({ accountId, webhookId, onSaved }: SettingsTabProps) {
  // Not refreshed: the form keeps the document that it began with.
  const start = useResource(
    (signal) =>
      call((client) =>
        client.request<Webhook>({ method: 'GET', path: PATH }, { accountId, webhookId }, { signal }),
      ),
    [accountId, webhookId],
  )
  return (
    <Loaded resource={start}>
      {({ data: webhook, revision }) => (
        <WebhookForm
          key={revision ?? ''}
          accountId={accountId}
          initial={formValues(webhook)}
          submitLabel={t('form.save')}
          submitting={t('form.saving')}
          onSubmit={async (settings) => {
            const data = patchOf(webhook, settings)
            try {
              await call((client) =>
                client.request(
                  { method: 'PATCH', path: PATH, headers: { ifMatch: 'If-Match' } },
                  { accountId, webhookId, data, ...(revision === undefined ? {} : { ifMatch: revision }) },
                ),
              )
            } catch (thrown) {
              if (statusOf(thrown) !== 412) throw thrown
              throw new HookswitchClientError('conflict', t('form.changed'), { status: 400 })
            }
            notify(t('form.saved'))
            forgetChanges()
            start.reload()
            onSaved()
          }}
        />
      )}
    </Loaded>
  )
}
